# What is loaded of merged plug-ins and of what they need.

.set MAP_ADDRESS, 0             # l_addr
.set MAP_NAME, 8                # l_name
.set MAP_NEXT, 24               # l_next
.set MAP_MOST, 1024             # within struct link_map
.set FILE_HEADER_LENGTH, 64
.set FILE_LOADED, 1             # the plug-in's merged file is loaded
.set NOTHING_LOADED, 2          # neither that, nor what it needs as files of their own, and the scope is as made

# What of the plug-in r14 is loaded, whose file is that at rdx (struct stat): eax is FILE_LOADED, NOTHING_LOADED or 0. Other threads may open and close
# libraries: while dl_iterate_phdr calls a function, the loader has its list locked. That function is in the C
# library, which is loaded at start, so that the list up to there always stays. Changes all but rbx, r12 to r15 and
# rbp.
.Lask_loader:
    call .Lfirst_map
    jz .Lnot_asked
.Lnext_of_start:
    mov rdi, [rdi + MAP_NEXT]
    test rdi, rdi
    jz .Lnot_asked
    call .Lbase_name
    lea rsi, [rip + .Ltext_c_library]
    call .Lis_same_text
    jne .Lnext_of_start
    mov rax, [r15 + Header_iterate]
    test rax, rax
    jz .Lnot_asked
    add rax, [rdi + MAP_ADDRESS]
    push rbp
    mov rbp, rsp
    push rdx
    push r15
    push r14
    push rbx
    push 0                      # the answer
    mov rsi, rsp
    and rsp, -16
    lea rdi, [rip + .Lask_locked]
    call rax
    mov eax, [rbp - 40]
    mov rsp, rbp
    pop rbp
    ret
.Lnot_asked:
    xor eax, eax
    ret

# Called with the loader's list locked; the third argument is what .Lask_loader has pushed. It ends the iteration.
.Lask_locked:
    endbr64
    push rbx
    push r14
    push r15
    push rdx
    mov rbx, [rdx + 8]
    mov r14, [rdx + 16]
    mov r15, [rdx + 24]
    call .Lfirst_map
    mov r8, [r14 + Plugin_file]
    add r8, rbx
    call .Lfind_plugin_file
    mov eax, FILE_LOADED
    jnz .Lloader_asked
    call .Lfirst_map
    call .Lis_scope_as_made
    mov eax, 0
    jne .Lloader_asked
    call .Lis_any_loaded
    mov eax, 0
    je .Lloader_asked
    call .Lfirst_map
    mov rdx, [rsp]
    mov rdx, [rdx + 32]
    call .Lis_file_loaded
    mov eax, 0
    je .Lloader_asked
    mov eax, NOTHING_LOADED
.Lloader_asked:
    pop rdx
    mov [rdx], rax
    mov eax, 1
    pop r15
    pop r14
    pop rbx
    ret

# The program's struct link_map: rdi; ZF where that is not known. rbx: start of the preamble. Changes rax, rcx
# and rsi.
.Lfirst_map:
    lea rsi, [rip + .Lbegin]
    add rsi, [rip + .Ltables + Header_dynamic]
    call .Lfind_debug
    xor edi, edi
    test rax, rax
    jz .Lreturn
    mov rdi, [rax + DEBUG_MAP]
    test rdi, rdi
    ret

# The map behind rdi of the merged file r8: rdi; ZF where it is not loaded. Changes rax, rcx, rsi, r10 and r11.
.Lfind_plugin_file:
    mov rdi, [rdi + MAP_NEXT]
    test rdi, rdi
    jz .Lreturn
    call .Lbase_name
    mov rsi, [r8 + PluginFile_base]
    add rsi, rbx
    call .Lis_same_text
    jne .Lfind_plugin_file
    or rcx, -1                  # clears ZF
    ret

# The name of the file of the map rdi, without its folder: r10. Changes rax and rcx.
.Lbase_name:
    mov rcx, [rdi + MAP_NAME]
    mov r10, rcx
.Lnext_of_base:
    movzx eax, byte ptr [rcx]
    inc rcx
    cmp al, 0x2f
    cmove r10, rcx
    test al, al
    jnz .Lnext_of_base
    ret

# Whether the text at rsi is that at r10: ZF. Changes rax, rsi and r11.
.Lis_same_text:
    mov r11, r10
.Lnext_of_same:
    movzx eax, byte ptr [rsi]
    cmp al, [r11]
    jne .Lreturn
    inc rsi
    inc r11
    test al, al
    jnz .Lnext_of_same
    ret

# Whether the global scope has as many modules as a start gives it: ZF. With RTLD_GLOBAL others come into it.
# rdi: the program's map, in which what the scope is stands behind where its program headers, entry and their
# number are (l_phdr, l_searchlist), as in all versions of glibc; its other fields differ.
.Lis_scope_as_made:
    mov rdx, [r15 + Header_image]
    lea rdx, [rbx + rdx + FILE_HEADER_LENGTH]
    mov ecx, MAP_NAMES
.Lnext_of_map:
    add ecx, 8
    cmp ecx, MAP_MOST
    jae .Lno_scope
    cmp [rdi + rcx], rdx
    jne .Lnext_of_map
    mov rdx, [rdi + rcx + 24]
    test rdx, rdx
    jz .Lno_scope
    cmp [rdx], rdi
    jne .Lreturn
    mov eax, [rdi + rcx + 32]
    cmp rax, [r15 + Header_scope]
    ret
.Lno_scope:
    or ecx, -1
    ret

# Whether any library that the plug-in r14 needs beside the program's is loaded as a file of its own: ZF. rdi:
# the program's map. Changes all but rbx, r12 to r15 and rbp.
.Lis_any_loaded:
    mov rdi, [rdi + MAP_NEXT]
    test rdi, rdi
    jz .Lnone_loaded
    call .Lbase_name
    mov r8, [r14 + Plugin_needs]
    add r8, rbx
    mov r9, [r14 + Plugin_need_count]
.Lnext_need:
    sub r9, 1
    jb .Lis_any_loaded
    mov rdx, [r8]
    add rdx, rbx
    add r8, 8
    mov rcx, [rdx + PluginFile_loaded_count]
    mov rdx, [rdx + PluginFile_loaded]
    add rdx, rbx
.Lnext_of_need:
    sub rcx, 1
    jb .Lnext_need
    mov rsi, [rdx]
    add rsi, rbx
    add rdx, 8
    call .Lis_same_text
    jne .Lnext_of_need
    ret
.Lnone_loaded:
    or ecx, -1
    ret

# Whether the file at rdx (struct stat) is loaded by whatever name: ZF. rdi: the program's map. Device and inode stand
# one after the other in the map of a file (l_file_id); a loader that has them behind MAP_MOST is not understood.
# Changes rcx, rdi, r10 and r11.
.Lis_file_loaded:
    mov r10, [rdx]
    mov r11, [rdx + STAT_INODE]
.Lnext_loaded_file:
    mov rdi, [rdi + MAP_NEXT]
    test rdi, rdi
    jz .Lnone_loaded
    mov ecx, MAP_NAMES
.Lnext_of_loaded:
    add ecx, 8
    cmp ecx, MAP_MOST - 8
    jae .Lnext_loaded_file
    cmp [rdi + rcx], r10
    jne .Lnext_of_loaded
    cmp [rdi + rcx + 8], r11
    jne .Lnext_of_loaded
    ret
