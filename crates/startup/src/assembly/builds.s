# Libraries outside of which the build is checked: the C library and the loader, where files may have been
# copied and their times say little. Their notes are in memory (NT_GNU_BUILD_ID).

.set MAP_ADDRESS, 0             # of struct link_map: l_addr, where the ELF header is
.set MAP_NAME, 8                # l_name
.set MAP_NEXT, 24               # l_next
.set HEADERS_OFFSET, 32         # e_phoff
.set HEADERS_COUNT, 56          # e_phnum
.set HEADER_OF_NOTE, 4          # PT_NOTE
.set HEADER_SIZE, 40            # p_memsz
.set HEADER_ALIGNMENT, 48       # p_align
.set NOTE_LENGTH, 12            # of its three words
.set NOTE_BUILD, 3              # NT_GNU_BUILD_ID
.set NOTE_OWNER, 0x554e47       # "GNU" with its end

.Lcheck_builds:
    mov r8, [r15 + Header_builds]
    add r8, rbx
    mov r10, [r15 + Header_build_count]
    test r10, r10
    jz .Lreturn
    lea rax, [rip + .Ltext_build]
    mov [rbp + CAUSE], rax
    push r8
    mov rsi, [r15 + Header_dynamic]
    add rsi, rbx
    call .Lpresent_dynamic
    call .Lfind_debug
    pop r8
    test rax, rax
    jz .Lother_build
    mov r11, [rax + DEBUG_MAP]
.Lnext_build:
    call .Lfind_loaded
    jne .Lother_build
    call .Lis_build
    jne .Lother_build
    add r8, Build_SIZE
    sub r10, 1
    jnz .Lnext_build
    ret
.Lother_build:
    mov rax, [r8 + Build_name]
    add rax, rbx
    mov [rbp + SUBJECT], rax
    jmp .Lstale

# The loaded module whose file has the name of the build r8: its struct link_map in r9, and ZF. r11 is the
# first one. Changes rax, rdx, rsi and rdi.
.Lfind_loaded:
    mov r9, r11
.Lnext_loaded:
    test r9, r9
    jz .Lnot_loaded
    mov rdi, [r9 + MAP_NAME]
    mov rdx, rdi
.Lfind_file_name:
    movzx eax, byte ptr [rdx]
    inc rdx
    cmp al, 0x2f
    cmove rdi, rdx
    test al, al
    jnz .Lfind_file_name
    mov rsi, [r8 + Build_name]
    add rsi, rbx
    call .Lis_text
    je .Lreturn
    mov r9, [r9 + MAP_NEXT]
    jmp .Lnext_loaded
.Lnot_loaded:
    or eax, -1                  # clears ZF
    ret

# Whether the module r9 has the build-id of r8: ZF. Changes all but rbx, rbp, r8, and r10 to r15.
.Lis_build:
    mov r9, [r9 + MAP_ADDRESS]
    mov rdx, [r9 + HEADERS_OFFSET]
    add rdx, r9
    movzx ecx, word ptr [r9 + HEADERS_COUNT]
.Lnext_note_header:
    sub ecx, 1
    jb .Lnot_loaded
    mov eax, [rdx]
    add rdx, HEADER_LENGTH
    cmp eax, HEADER_OF_NOTE
    jne .Lnext_note_header
    push rcx
    push rdx
    call .Lis_build_in
    pop rdx
    pop rcx
    jne .Lnext_note_header
    ret

# The same of the notes whose program header ends at rdx.
.Lis_build_in:
    mov rsi, [rdx + HEADER_ADDRESS - HEADER_LENGTH]
    add rsi, r9
    mov rdi, [rdx + HEADER_SIZE - HEADER_LENGTH]
    add rdi, rsi                # the end
    mov rax, [rdx + HEADER_ALIGNMENT - HEADER_LENGTH]
    cmp rax, 8
    mov ecx, 4
    cmove ecx, eax
    dec ecx                     # 3 or 7
.Lnext_note:
    lea rax, [rsi + NOTE_LENGTH]
    cmp rax, rdi
    jae .Lnot_loaded
    cmp dword ptr [rsi], 4
    jne .Lskip_note
    cmp dword ptr [rsi + 8], NOTE_BUILD
    jne .Lskip_note
    cmp dword ptr [rsi + NOTE_LENGTH], NOTE_OWNER
    jne .Lskip_note
    mov eax, [rsi + 4]
    cmp rax, [r8 + Build_length]
    jne .Lreturn
    mov rdi, [r8 + Build_id]
    add rdi, rbx
    lea rsi, [rsi + NOTE_LENGTH + 4]
    mov ecx, eax
    cmp eax, eax                # ZF for a build-id without bytes
    repe cmpsb
    ret
.Lskip_note:
    mov eax, [rsi]
    add eax, NOTE_LENGTH
    add eax, ecx
    mov edx, ecx
    not edx
    and eax, edx
    add eax, [rsi + 4]
    add eax, ecx
    and eax, edx
    add rsi, rax
    jmp .Lnext_note
