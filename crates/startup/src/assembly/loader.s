# Options of the loader, where a user has named it (`ld.so --preload x run`): a bundle does not
# follow what they bring in. So the loader is started once more, with the same options, and with the
# original in the bundle's place.

.set AUXILIARY_BASE, 7          # AT_BASE: 0 where the loader was executed itself
.set TEXT_LENGTH, 0x800000      # more than the kernel passes on
.set WORDS_LENGTH, 0x1000000    # with a pointer to each word behind the text

.Lcheck_loader:
    xor eax, eax
    mov [rbp + LOADER_WORDS], rax
    mov r8, r14
.Lpass_variables:
    mov rdi, [r8]
    add r8, 8
    test rdi, rdi
    jnz .Lpass_variables
.Lfind_base:
    mov rax, [r8]
    test rax, rax
    jz .Lreturn
    add r8, 16
    cmp rax, AUXILIARY_BASE
    jne .Lfind_base
    cmp qword ptr [r8 - 8], 0
    jne .Lreturn
    lea rdi, [rip + .Ltext_command]
    mov esi, 0x80000            # O_RDONLY | O_CLOEXEC
    xor edx, edx
    mov eax, 2                  # open
    syscall
    test eax, eax
    js .Lreturn
    mov [rbp + NUMBER], rax
    xor edi, edi
    mov esi, WORDS_LENGTH
    mov edx, 3                  # PROT_READ | PROT_WRITE
    mov r10d, 0x4022            # MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    or r8, -1
    xor r9d, r9d
    mov eax, 9                  # mmap
    syscall
    cmp rax, -4096
    ja .Lclose_command
    mov r8, rax
    mov rsi, rax
.Lread_command:
    mov edi, [rbp + NUMBER]
    lea rdx, [r8 + TEXT_LENGTH - 1]
    sub rdx, rsi
    xor eax, eax                # read
    syscall
    test rax, rax
    jle .Lcommand_read
    add rsi, rax
    jmp .Lread_command
.Lcommand_read:
    call .Lclose_command
    lea r9, [r8 + TEXT_LENGTH]
    mov r10, r9
    mov rdi, r8
.Lnext_word:
    cmp rdi, rsi
    jae .Lwords_end
    mov [r10], rdi
    add r10, 8
.Lnext_of_word:
    inc rdi
    cmp byte ptr [rdi - 1], 0
    jne .Lnext_of_word
    jmp .Lnext_word
.Lwords_end:                    # the loader's name, its options, and as many as the program has
    mov rax, r10
    sub rax, r9
    shr rax, 3
    mov ecx, r12d
    sub rax, rcx
    cmp rax, 1
    jle .Lforget_words
    mov rdx, [rbp + STARTED]
    mov [r9 + 8 * rax], rdx
    mov [rbp + LOADER_WORDS], r9
    lea rax, [rip + .Ltext_options]
    mov [rbp + SUBJECT], rax
    lea rax, [rip + .Ltext_not_given]
    mov [rbp + CAUSE], rax
    jmp .Lstale
.Lforget_words:
    mov rdi, r8
    mov esi, WORDS_LENGTH
    mov eax, 11                 # munmap
    syscall
    ret

.Lclose_command:
    mov edi, [rbp + NUMBER]
    mov eax, 3                  # close
    syscall
    ret
