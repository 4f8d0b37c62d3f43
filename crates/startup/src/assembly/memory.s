# What the kernel knows of the process's memory (struct prctl_mm_map), with other places for the
# arguments and the environment. It takes all or nothing, so all that it has is filled in as its
# own loader does (load_elf_binary), without a look at /proc, which would take several times as
# long as all else.

.set MAP, STAT                  # struct prctl_mm_map, where struct stat was
.set MAP_START_CODE, MAP
.set MAP_END_CODE, MAP + 8
.set MAP_START_DATA, MAP + 16
.set MAP_END_DATA, MAP + 24
.set MAP_START_BREAK, MAP + 32
.set MAP_BREAK, MAP + 40
.set MAP_START_STACK, MAP + 48
.set MAP_START_ARGUMENTS, MAP + 56
.set MAP_END_ARGUMENTS, MAP + 64
.set MAP_START_ENVIRONMENT, MAP + 72
.set MAP_END_ENVIRONMENT, MAP + 80
.set MAP_AUXILIARY, MAP + 88    # none: it stays
.set MAP_FILE, MAP + 100        # -1: it stays
.set MAP_LENGTH, 104
.set OLD_ARGUMENT, OTHER_STAT   # argv[0] as it was, or 0
.set OLD_FILE, OTHER_STAT + 8   # where AT_EXECFN has its value, or 0
.set OLD_MOVES, OTHER_STAT + 16 # 0 where the arguments stay in their place

.set HEADER_OF_LOAD, 1          # PT_LOAD
.set HEADER_FLAGS, 4
.set HEADER_FILE_SIZE, 32
.set FLAG_EXECUTABLE, 1

# ZF where the map makes sense.
.Lfill_map:
    call .Lfill_code
    xor edi, edi
    mov eax, 12                 # brk
    syscall
    # Nothing has been taken from the heap yet, or little, which can stay where it is.
    mov [rbp + MAP_START_BREAK], rax
    mov [rbp + MAP_BREAK], rax
    lea rax, [r13 - 8]          # where argc is
    mov [rbp + MAP_START_STACK], rax
    xor eax, eax
    mov [rbp + MAP_AUXILIARY], rax
    mov [rbp + MAP_AUXILIARY + 8], eax
    dec eax
    mov [rbp + MAP_FILE], eax
    mov rdi, [r13]
    mov [rbp + MAP_START_ARGUMENTS], rdi
    mov eax, r12d
    mov rdi, [r13 + 8 * rax - 8]
    call .Lskip_to_end
    mov [rbp + MAP_END_ARGUMENTS], rdi
    cmp rdi, [rbp + MAP_START_ARGUMENTS]
    jb .Lno_sense
    mov rax, r14
    mov rdx, [rax]
    test rdx, rdx
    cmovz rdx, rdi
    mov [rbp + MAP_START_ENVIRONMENT], rdx
    cmp rdx, rdi
    jb .Lno_sense
.Lfind_last_variable:
    mov rcx, [rax]
    add rax, 8
    test rcx, rcx
    jz .Llast_variable
    mov rdi, rcx
    jmp .Lfind_last_variable
.Llast_variable:
    cmp rdi, rdx
    jb .Lno_sense
    lea rcx, [r14 + 8]
    cmp rax, rcx
    je .Lno_variable
    call .Lskip_to_end
.Lno_variable:
    mov [rbp + MAP_END_ENVIRONMENT], rdi
    xor eax, eax
    ret
.Lno_sense:
    or eax, -1                  # clears ZF
    ret

# Behind the text at rdi and its end: rdi.
.Lskip_to_end:
    inc rdi
    cmp byte ptr [rdi - 1], 0
    jne .Lskip_to_end
    ret

# Where code and data are. Changes rax, rcx, rdx, rsi, rdi, r8, r9, r10 and r11.
.Lfill_code:
    call .Lprogram_headers
    or rsi, -1                  # start of the code
    xor edx, edx                # its end
    xor r10d, r10d              # start of the data: of the last part
    xor r11d, r11d              # its end
    mov r8, rdi
    xor r9d, r9d                # what is added to all addresses
.Lnext_part:
    sub rcx, 1
    jb .Lparts_end
    mov eax, [rdi]
    cmp eax, HEADER_OF_HEADERS
    jne .Lpart_moved
    mov r9, r8
    sub r9, [rdi + HEADER_ADDRESS]
.Lpart_moved:
    cmp eax, HEADER_OF_LOAD
    jne .Lpart_done
    mov rax, [rdi + HEADER_ADDRESS]
    add rax, r9
    cmp rax, r10
    cmova r10, rax
    test byte ptr [rdi + HEADER_FLAGS], FLAG_EXECUTABLE
    jz .Lno_code
    cmp rax, rsi
    cmovb rsi, rax
    add rax, [rdi + HEADER_FILE_SIZE]
    cmp rax, rdx
    cmova rdx, rax
    jmp .Lpart_measured
.Lno_code:
    add rax, [rdi + HEADER_FILE_SIZE]
.Lpart_measured:
    cmp rax, r11
    cmova r11, rax
.Lpart_done:
    add rdi, HEADER_LENGTH
    jmp .Lnext_part
.Lparts_end:
    mov [rbp + MAP_START_CODE], rsi
    mov [rbp + MAP_END_CODE], rdx
    mov [rbp + MAP_START_DATA], r10
    mov [rbp + MAP_END_DATA], r11
    ret
