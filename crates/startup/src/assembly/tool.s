# A tool of a toolchain: the names by which it is started, and what of a launch chooses another one.

.set FOLDER_ROOM, 4096          # a folder of LD_LIBRARY_PATH
.set SEARCH_ROOM, 4096 + 512    # with a name in it, and a word
.set SEARCHED_END, SEARCH_ROOM - 16

# The original that is meant where the bundle was executed by the path r8: rax, rcx and rdx (path, length and
# name), which stay where its last part is none of the names; and OWN_NAME. Changes rdi, rsi, r9, r10 and r11.
.Lfind_named:
    mov r9, [rbp + OWN_NAME]
    mov r10, [r15 + Header_named]
    add r10, rbx
    mov r11, [r15 + Header_named_count]
.Lnext_named:
    sub r11, 1
    jb .Lno_name
    mov rsi, [r10 + Named_name]
    add rsi, rbx
    mov [rbp + OWN_NAME], rsi
    mov rdi, r8
    push rax
    call .Lis_own_name
    pop rax
    je .Lnamed
    add r10, Named_SIZE
    jmp .Lnext_named
.Lno_name:
    mov [rbp + OWN_NAME], r9
    ret
.Lnamed:
    mov rax, [r10 + Named_path]
    mov rcx, [r10 + Named_length]
    mov rdx, [r10 + Named_base]
    ret

# Where LD_LIBRARY_PATH may have any value: in none of its folders may the loader find another library than the
# one that was merged. All occurrences are looked at.
.Lcheck_library_path:
    cmp qword ptr [r15 + Header_searched_count], 0
    je .Lreturn
    lea rax, [rip + .Ltext_library_path]
    mov [rbp + SUBJECT], rax
    lea rax, [rip + .Ltext_leads]
    mov [rbp + CAUSE], rax
    sub rsp, SEARCH_ROOM
    mov rax, [r15 + Header_searched_count]
    imul rax, rax, Searched_SIZE
    add rax, [r15 + Header_searched]
    add rax, rbx
    mov [rsp + SEARCHED_END], rax
    mov r8, r14
.Lnext_library_path:
    mov rdi, [r8]
    add r8, 8
    test rdi, rdi
    jz .Llibrary_paths_end
    lea rsi, [rip + .Ltext_library_path]
    call .Lskip_text
    jne .Lnext_library_path
    cmp byte ptr [rdi], 0x3d    # =
    jne .Lnext_library_path
    lea r9, [rdi + 1]
    cmp byte ptr [r9], 0
    je .Lnext_library_path      # as if it were not set
.Lnext_search_folder:
    mov rdi, rsp
    lea rcx, [rsp + FOLDER_ROOM - 1]
.Lcopy_search_folder:
    movzx eax, byte ptr [r9]
    test al, al
    jz .Lsearch_folder_ends
    cmp al, 0x3a                # :
    je .Lsearch_folder_ends
    cmp al, 0x3b                # ; separates, too
    je .Lstale
    cmp al, 0x24                # $ begins what the loader replaces
    je .Lstale
    cmp rdi, rcx
    jae .Lstale
    stosb
    inc r9
    jmp .Lcopy_search_folder
.Lsearch_folder_ends:
    cmp rdi, rsp
    je .Lsearch_folder          # the working folder
    mov al, 0x2f
    stosb
.Lsearch_folder:
    mov r10, rdi
    mov rdx, [r15 + Header_searched]
    add rdx, rbx
.Lnext_searched:
    mov rdi, r10
    mov rsi, [rdx + Searched_name]
    add rsi, rbx
    call .Lcopy_text
    mov rdi, rsp
    lea rsi, [rbp + STAT]
    mov eax, 4                  # stat
    syscall
    test eax, eax
    jnz .Lsearched              # what cannot be found cannot be opened
    mov rax, [rbp + STAT + STAT_SIZE]
    cmp rax, [rdx + Searched_size]
    jne .Lstale
    mov rax, [rbp + STAT + STAT_MODIFIED]
    cmp rax, [rdx + Searched_modified_seconds]
    jne .Lstale
    mov rcx, [rdx + Searched_inode]
    test rcx, rcx
    jz .Lsearched
    cmp rcx, [rbp + STAT + STAT_INODE]
    jne .Lstale
    mov rax, [rbp + STAT + STAT_MODIFIED + 8]
    cmp rax, [rdx + Searched_modified_nanoseconds]
    jne .Lstale
.Lsearched:
    add rdx, Searched_SIZE
    cmp rdx, [rsp + SEARCHED_END]
    jb .Lnext_searched
    cmp byte ptr [r9], 0
    je .Lnext_library_path
    inc r9
    jmp .Lnext_search_folder
.Llibrary_paths_end:
    add rsp, SEARCH_ROOM
    ret

# rustup's +toolchain.
.Lcheck_argument:
    cmp qword ptr [r15 + Header_chosen_by_argument], 0
    je .Lreturn
    cmp r12d, 2
    jb .Lreturn
    mov rax, [r13 + 8]
    cmp byte ptr [rax], 0x2b    # +
    jne .Lreturn
    lea rax, [rip + .Ltext_argument]
    mov [rbp + SUBJECT], rax
    lea rax, [rip + .Ltext_not_given]
    mov [rbp + CAUSE], rax
    jmp .Lstale
