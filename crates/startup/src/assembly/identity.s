# The process believes to be the original: argv[0], the loader's name of the program's file
# (AT_EXECFN), the name of the process that ps and killall know, and its command line.
#
# Programs write to these texts, titles above all: they take the arguments and the variables of
# the environment to stand one behind the other, as the kernel has placed them, and the kernel to
# show what stands there. So it stays: where a text has room for the original's path, that goes
# to its end, with slashes before it, and the kernel is told that the arguments begin behind the
# slashes. Where there is no room all texts move to memory of their own, in the same order, and
# the kernel is told of that.

.set AUXILIARY_FILE, 31         # AT_EXECFN

.Ltell:
    xor r9d, r9d                # where AT_EXECFN has its value, if that is to change
    xor r10d, r10d              # argv[0], if that is to change
    mov r8, r14
.Lskip_environment:
    mov rdi, [r8]
    add r8, 8
    test rdi, rdi
    jnz .Lskip_environment
.Lfind_file:
    mov rax, [r8]
    test rax, rax
    jz .Ltell_argument
    add r8, 16
    cmp rax, AUXILIARY_FILE
    jne .Lfind_file
    cmp qword ptr [rbp + IS_OWN], 0
    jne .Ltell_name
    mov rdi, [r8 - 8]
    call .Lis_own_name
    jne .Ltell_argument
.Ltell_name:
    lea r9, [r8 - 8]
    mov rsi, [rbp + GIVEN_BASE]
    mov edi, 15                 # PR_SET_NAME
    mov eax, 157                # prctl
    syscall
.Ltell_argument:
    cmp qword ptr [rbp + IS_OWN], 0
    jne .Lput_file              # what the program wants it to be
    mov rdi, [r13]
    test rdi, rdi
    jz .Lput_file
    call .Lis_own_name
    cmove r10, [r13]
.Lput_file:
    mov r8, r10                 # argv[0] as it was
    test r9, r9
    jz .Lput_argument
    mov rdi, [r9]
    cmp rdi, r10
    je .Lput_argument           # one text, where the user has named the loader
    call .Lput_original
    jb .Lput_argument
    mov [r9], rax
    xor r9d, r9d
.Lput_argument:
    test r10, r10
    jz .Lmove_texts
    mov rdi, r10
    call .Lput_original
    jb .Lmove_texts
    mov [r13], rax
    test r9, r9
    jz .Largument_put
    cmp [r9], r10
    jne .Largument_put
    mov [r9], rax
    xor r9d, r9d
.Largument_put:
    xor r10d, r10d

# What has no room: memory of its own. Where there is none, texts stay as they are.
.Lmove_texts:
    mov [rbp + OLD_ARGUMENT], r8
    mov [rbp + OLD_FILE], r9
    mov [rbp + OLD_MOVES], r10
    mov rax, r9
    or rax, r10
    jz .Ltell_kernel
    xor esi, esi
    test r9, r9
    jz .Lmeasure_arguments
    mov rsi, [rbp + GIVEN_LENGTH]
    inc rsi
.Lmeasure_arguments:
    test r10, r10
    jz .Lmap_texts
    add rsi, [rbp + GIVEN_LENGTH]
    inc rsi
    lea rdx, [r13 + 8]
    call .Lmeasure_texts
    mov rdx, r14
    call .Lmeasure_texts
.Lmap_texts:
    xor edi, edi
    mov edx, 3                  # PROT_READ | PROT_WRITE
    mov r10d, 0x22              # MAP_PRIVATE | MAP_ANONYMOUS
    or r8, -1
    xor r9d, r9d
    mov eax, 9                  # mmap
    syscall
    cmp rax, -4096
    ja .Lreturn
    mov rdi, rax
    cmp qword ptr [rbp + OLD_MOVES], 0
    je .Lmove_file
    mov [r13], rdi
    call .Lcopy_original
    lea rdx, [r13 + 8]
    call .Lcopy_texts
    mov rdx, r14
    call .Lcopy_texts
.Lmove_file:
    mov rcx, [rbp + OLD_FILE]
    test rcx, rcx
    jz .Ltell_kernel
    mov [rcx], rdi
    call .Lcopy_original

# The kernel shows what stands between four addresses (/proc/PID/cmdline and environ).
.Ltell_kernel:
    mov r8, [rbp + OLD_ARGUMENT]
    test r8, r8
    jz .Lreturn
    cmp r8, [r13]
    je .Lreturn                 # the same length
    call .Lfill_map
    jne .Lkernel_refuses
    mov edi, 35                 # PR_SET_MM
    mov esi, 14                 # PR_SET_MM_MAP, which needs no privilege
    lea rdx, [rbp + MAP]
    mov r10d, MAP_LENGTH
    xor r8d, r8d
    mov eax, 157                # prctl
    syscall
    test eax, eax
    jz .Lreturn
# It goes on to show what stood there at first: at least the program's name, where that has room.
.Lkernel_refuses:
    mov rdi, [rbp + OLD_ARGUMENT]
    mov rsi, [rbp + GIVEN_BASE]
    cmp qword ptr [rbp + OLD_MOVES], 0
    jne .Lput_text
    ret

# Adds the lengths of the texts of the array at rdx to rsi. Changes rdx and rdi too.
.Lmeasure_texts:
    mov rdi, [rdx]
    add rdx, 8
    test rdi, rdi
    jz .Lreturn
.Lmeasure_letter:
    inc rsi
    inc rdi
    cmp byte ptr [rdi - 1], 0
    jne .Lmeasure_letter
    jmp .Lmeasure_texts

# Copies the texts of the array at rdx to rdi, and the array names the copies. Changes rax, rdx
# and rsi too.
.Lcopy_texts:
    mov rsi, [rdx]
    test rsi, rsi
    jz .Lreturn
    mov [rdx], rdi
    add rdx, 8
    call .Lcopy_text
    jmp .Lcopy_texts

.Lcopy_original:
    mov rsi, [rbp + GIVEN]
.Lcopy_text:
    lodsb
    stosb
    test al, al
    jnz .Lcopy_text
    ret

# Writes the original's path over the text at rdi, where it has room: rax is the path; else CF.
# The end stays where it is; slashes before a path do not change its meaning. Changes rcx, rdx,
# rsi and rdi.
.Lput_original:
    mov rsi, [rbp + GIVEN]
# The same with the text at rsi.
.Lput_text:
    or rax, -1
.Lnext_character:
    inc rax
    cmp byte ptr [rdi + rax], 0
    jne .Lnext_character
    or rcx, -1
.Lnext_of_put:
    inc rcx
    cmp byte ptr [rsi + rcx], 0
    jne .Lnext_of_put
    sub rax, rcx
    jb .Lreturn
    xchg rcx, rax
    mov edx, eax
    mov al, 0x2f
    rep stosb
    mov ecx, edx
    mov rax, rdi
    rep movsb                   # CF is still clear
    ret

# Whether the last part of the path at rdi is the name by which the bundle was started: ZF. Changes rax,
# rsi and rdi.
.Lis_own_name:
    mov rsi, rdi
.Lfind_slash:
    movzx eax, byte ptr [rsi]
    inc rsi
    cmp al, 0x2f
    cmove rdi, rsi
    test al, al
    jnz .Lfind_slash
    mov rsi, [rbp + OWN_NAME]
    call .Lskip_text
    jne .Lreturn
    cmp byte ptr [rdi], 0
    ret

# The program looks for the loader's records (struct r_debug) in its own dynamic table, which the
# loader does not know.
.Ltell_debugger:
    mov rdx, [r15 + Header_debug_copy]
    test rdx, rdx
    jz .Lreturn
    mov rsi, [r15 + Header_debug]
    add rsi, rbx
    call .Lpresent_dynamic
    call .Lfind_debug
    mov [rbx + rdx], rax
    ret
