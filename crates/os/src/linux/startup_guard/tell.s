# The process believes to be the original: argv[0], the loader's name of the program's file
# (AT_EXECFN), and the name of the process that ps and killall know.

.set AUXILIARY_FILE, 31         # AT_EXECFN

.Ltell:
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
    mov rdi, [r8 - 8]
    call .Lis_own_name
    jne .Ltell_argument
    mov rsi, [r15 + TABLE_ORIGINAL_BASE]
    add rsi, rbx
    mov edi, 15                 # PR_SET_NAME
    mov eax, 157                # prctl
    syscall
    mov rdi, [r8 - 8]
    mov r9, rdi
    call .Lput_original
    mov [r8 - 8], rax
    cmp r9, [r13]               # one text, where the user has named the loader
    je .Lput_argument

.Ltell_argument:
    mov rdi, [r13]
    test rdi, rdi
    jz .Lreturn
    call .Lis_own_name
    jne .Lreturn
    mov rdi, [r13]
    call .Lput_original
.Lput_argument:
    mov [r13], rax
    mov rdx, [r15 + TABLE_ORIGINAL]
    add rdx, rbx
    cmp rax, rdx
    je .Lmove_arguments
    ret

# Writes the original's path over the text at rdi, where it has room: rax is the path, else the
# blob's own text. Where there is room for the path's last part only, that shows in
# /proc/self/cmdline, from which programs take their name. Changes rcx, rdx, rsi and rdi.
.Lput_original:
    mov rsi, [r15 + TABLE_ORIGINAL]
    add rsi, rbx
    call .Lput_text
    jae .Lreturn
    mov rsi, [r15 + TABLE_ORIGINAL_BASE]
    add rsi, rbx
    call .Lput_text
    mov rax, [r15 + TABLE_ORIGINAL]
    add rax, rbx
    ret

# Writes the text at rsi over the one at rdi: rax; CF where there is no room. The end stays where
# it is, as programs that write a title over their arguments take them to stand one behind the
# other; slashes before a path do not change its meaning. Changes rcx too, else rdx, rsi and rdi.
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

# No room for the path: all arguments move to memory of their own, again one behind the other.
# Where there is none, argv[0] stays the blob's text, which cannot be written to.
.Lmove_arguments:
    mov rsi, [r15 + TABLE_ORIGINAL_LENGTH]
    mov ecx, r12d
    add rsi, rcx
    mov ecx, 1
.Lmeasure_argument:
    mov rdi, [r13 + 8 * rcx]
    inc rcx
    test rdi, rdi
    jz .Lmap_arguments
.Lmeasure_letter:
    cmp byte ptr [rdi], 0
    je .Lmeasure_argument
    inc rdi
    inc rsi
    jmp .Lmeasure_letter
.Lmap_arguments:
    xor edi, edi
    mov edx, 3                  # PROT_READ | PROT_WRITE
    mov r10d, 0x22              # MAP_PRIVATE | MAP_ANONYMOUS
    or r8, -1
    xor r9d, r9d
    mov eax, 9                  # mmap
    syscall
    cmp rax, -4096
    ja .Lreturn
    xor ecx, ecx
.Lmove_argument:
    mov rsi, [r13 + 8 * rcx]
    test rsi, rsi
    jz .Lreturn
    mov [r13 + 8 * rcx], rax
    inc rcx
.Lmove_letter:
    mov dl, [rsi]
    inc rsi
    mov [rax], dl
    inc rax
    test dl, dl
    jnz .Lmove_letter
    jmp .Lmove_argument

# Whether the last part of the path at rdi is the name of the bundle's file: ZF. Changes rax,
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
    mov rsi, [r15 + TABLE_OWN_NAME]
    add rsi, rbx
    call .Lskip_text
    jne .Lreturn
    cmp byte ptr [rdi], 0
    ret

# The program looks for the loader's records (struct r_debug) in its own dynamic table, which the
# loader does not know.
.Ltell_debugger:
    mov rdx, [r15 + TABLE_DEBUG_COPY]
    test rdx, rdx
    jz .Lreturn
    mov rsi, [r15 + TABLE_DEBUG]
    add rsi, rbx
    call .Lpresent_dynamic
    call .Lfind_debug
    mov [rbx + rdx], rax
    ret
