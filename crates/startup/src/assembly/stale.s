# What was merged is no longer what is on disk: the original takes the bundle's place.

.set IMAGE, STAT                # struct Elf64_Ehdr
.set IMAGE_ENTRY, 24
.set IMAGE_HEADERS, 32
.set IMAGE_COUNT, 56
.set IMAGE_LENGTH, 64
.set PART, OTHER_STAT           # struct Elf64_Phdr
.set PARTS_LEFT, OTHER_STAT + 64
.set HEADER_OFFSET, 8
.set MARK_LENGTH, 14

# SUBJECT and CAUSE say why. Jumped to with any stack; never returns.
.Lstale:
    mov rsp, rbp
    call .Lanswer_if_stale
    cmp qword ptr [rbp + IS_OWN], 0
    jne .Lcount_start           # argv[0] is what the program wants it to be
    mov rdi, [r13]
    test rdi, rdi
    jz .Lcount_start
    call .Lis_own_name
    jne .Lcount_start
    mov rax, [rbp + GIVEN]
    mov [r13], rax

.Lcount_start:
    call .Lfind_counter
    test r9, r9
    jz .Lcompare_with_self
    lea rdx, [rip + .Ltext_forbidden]
    call .Lis_count
    jne .Lgive_up

.Lcompare_with_self:
    lea rdi, [rip + .Ltext_own_file]
    lea rsi, [rbp + OTHER_STAT]
    mov eax, 4                  # stat
    syscall
    test eax, eax
    jnz .Llook_at_original
    mov rdi, [rbp + STARTED]
    lea rsi, [rbp + STAT]
    mov eax, 4
    syscall
    test eax, eax
    jnz .Llook_at_original
    movdqu xmm0, [rbp + STAT]   # device and inode
    movdqu xmm1, [rbp + OTHER_STAT]
    pcmpeqb xmm0, xmm1
    pmovmskb eax, xmm0
    lea rdx, [rip + .Ltext_itself]
    cmp eax, 0xffff
    je .Lgive_up

# A program at the original's place may start the bundle again as often as it likes: it knows what
# it does. A script or another bundle there may do nothing else, for ever. Such starts, each within
# the last one, are counted in a variable of the environment.
.Llook_at_original:
    call .Lis_program
    je .Lexecute
    test r9, r9
    jz .Ladd_counter
    lea rdx, [rip + .Ltext_loop]
    cmp byte ptr [r9], 0x35     # 500
    jae .Lgive_up
    lea rdi, [r9 + 3]
.Lcount_on:
    dec rdi
    inc byte ptr [rdi]
    cmp byte ptr [rdi], 0x39
    jbe .Lexecute
    mov byte ptr [rdi], 0x30
    jmp .Lcount_on
.Ladd_counter:                  # a new array: the variable, then the old array with its end
    mov rcx, r8
    sub rcx, r14
    lea rax, [rcx + 8 + 15]
    and rax, -16
    sub rsp, rax
    mov rsi, r14
    mov r14, rsp
    lea rdi, [rsp + 8]
    lea rax, [rip + .Ltext_counter_one]
    mov [rsp], rax
    shr rcx, 3
    rep movsq

.Lexecute:
    call .Ltrace_stale
    mov rdi, [rbp + STARTED]
    mov rsi, [rbp + LOADER_WORDS]
    test rsi, rsi
    jz .Lexecute_itself
    lea rdi, [rip + .Ltext_own_file]
    jmp .Lexecute_file
.Lexecute_itself:
    mov rsi, r13
.Lexecute_file:
    mov rdx, r14
    mov eax, 59                 # execve
    syscall
    neg eax
    lea rdx, [rip + .Ltext_denied]
    cmp eax, 13                 # EACCES
    je .Lgive_up
    lea rdx, [rip + .Ltext_format]
    cmp eax, 8                  # ENOEXEC
    je .Lgive_up
    cmp eax, 2                  # ENOENT: of it, or of what starts it
    jne .Lother_error
    lea rsi, [rbp + STAT]
    mov eax, 4                  # stat
    syscall
    lea rdx, [rip + .Ltext_missing]
    test eax, eax
    jnz .Lgive_up
    lea rdx, [rip + .Ltext_interpreter]
    jmp .Lgive_up
.Lother_error:
    lea rdx, [rip + .Ltext_refused]
    lea rdi, [rbp + NUMBER + 8]
    mov byte ptr [rdi], 0
    mov ecx, 10
    mov r8, rdx                 # the division needs rdx
.Lnext_decimal:
    xor edx, edx
    div ecx
    add dl, 0x30
    dec rdi
    mov [rdi], dl
    test eax, eax
    jnz .Lnext_decimal
    mov rdx, r8
    mov r9, rdi
    lea r10, [rip + .Ltext_refused_end]
    jmp .Lsay

# The value of the counter in the environment: r9, or 0; r8 is behind the environment's end then.
# Changes rax, rsi and rdi too.
.Lfind_counter:
    mov r8, r14
    xor r9d, r9d
.Lnext_counter:
    mov rdi, [r8]
    add r8, 8
    test rdi, rdi
    jz .Lreturn
    lea rsi, [rip + .Ltext_counter]
    call .Lskip_text
    jne .Lnext_counter
    mov r9, rdi
    ret

# Whether the text at r9 is a count, of three digits: ZF. Else whoever has set it wants no original
# to be started. Changes rax and rcx too.
.Lis_count:
    xor ecx, ecx
.Lnext_of_count:
    movzx eax, byte ptr [r9 + rcx]
    sub eax, 0x30
    cmp eax, 9
    ja .Lcount_ends
    inc ecx
    jmp .Lnext_of_count
.Lcount_ends:
    cmp ecx, 3
    jne .Lreturn
    cmp byte ptr [r9 + 3], 0
    ret

# Whether the original is neither a script nor a bundle: ZF. One that cannot be read is taken for
# a program. r8 and r9 stay.
.Lis_program:
    mov rdi, [rbp + STARTED]
    mov esi, 0x80000            # O_RDONLY | O_CLOEXEC
    xor edx, edx
    mov eax, 2                  # open
    syscall
    mov edi, eax
    test eax, eax
    js .Lis_taken
    lea rsi, [rbp + IMAGE]
    mov edx, IMAGE_LENGTH
    xor r10d, r10d
    call .Lread_original
    jne .Lclose_original        # shorter, as some scripts are
    cmp dword ptr [rbp + IMAGE], 0x464c457f
    jne .Lclose_original
    call .Lis_bundle
    cmp eax, 1                  # ZF where it is none
.Lclose_original:
    pushfq
    mov eax, 3                  # close
    syscall
    popfq
    ret
.Lis_taken:
    xor eax, eax                # ZF
    ret

# Whether the image whose header was read, open as edi, begins where the preamble would begin: eax
# is 0, else 1. Changes rcx, rdx, rsi, r10 and r11 too.
.Lis_bundle:
    movzx r11d, word ptr [rbp + IMAGE + IMAGE_COUNT]
    mov [rbp + PARTS_LEFT], r11
    mov r10, [rbp + IMAGE + IMAGE_HEADERS]
.Lnext_header_of_file:
    sub qword ptr [rbp + PARTS_LEFT], 1
    jb .Lis_none
    lea rsi, [rbp + PART]
    mov edx, HEADER_LENGTH
    call .Lread_original
    jne .Lis_none
    add r10, HEADER_LENGTH
    cmp dword ptr [rbp + PART], HEADER_OF_LOAD
    jne .Lnext_header_of_file
    mov rax, [rbp + IMAGE + IMAGE_ENTRY]
    sub rax, [rbp + PART + HEADER_ADDRESS]
    cmp rax, [rbp + PART + HEADER_FILE_SIZE]
    jae .Lnext_header_of_file
    mov r10, [rbp + PART + HEADER_OFFSET]
    lea r10, [r10 + rax - MARK_LENGTH]
    lea rsi, [rbp + PART]
    mov edx, MARK_LENGTH
    call .Lread_original
    jne .Lis_none
    push rdi
    lea rsi, [rip + .Lmark]
    lea rdi, [rbp + PART]
    mov ecx, MARK_LENGTH
    repe cmpsb
    pop rdi
    mov eax, 0
    je .Lreturn
.Lis_none:
    mov eax, 1
    ret

# Reads rdx bytes at r10 of the file edi to rsi: ZF where there are so many. Changes rax, rcx and
# r11 too.
.Lread_original:
    mov eax, 17                 # pread64
    syscall
    cmp rax, rdx
    ret

# One line on standard error, which ends in the text at rdx; exit status 127.
.Lgive_up:
    lea r9, [rip + .Ltext_nothing]
    mov r10, r9
.Lsay:
    lea rdi, [rbp + PIECES]
    lea rsi, [rip + .Ltext_headstart]
    call .Ladd_piece
    mov rsi, [rbp + STARTED]
    call .Ladd_piece
    lea rsi, [rip + .Ltext_colon]
    call .Ladd_piece
    mov rsi, [rbp + SUBJECT]
    call .Ladd_piece
    mov rsi, [rbp + CAUSE]
    call .Ladd_piece
    mov rsi, rdx
    call .Ladd_piece
    mov rsi, r9
    call .Ladd_piece
    mov rsi, r10
    call .Ladd_piece
    lea rsi, [rbp + PIECES]
    mov edx, 8
    mov edi, 2
    mov eax, 20                 # writev
    syscall
    mov edi, 127
    mov eax, 231                # exit_group
    syscall
    ud2

# The text at rsi as the next piece at rdi. Changes rax too.
.Ladd_piece:
    mov [rdi], rsi
    or rax, -1
.Lnext_letter:
    inc rax
    cmp byte ptr [rsi + rax], 0
    jne .Lnext_letter
    mov [rdi + 8], rax
    add rdi, 16
    ret
