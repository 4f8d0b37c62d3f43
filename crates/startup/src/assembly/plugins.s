# Plug-ins that are merged with the libraries that only plug-ins need, in files beside the bundle: dlopen of one
# opens that file instead, where all is as it was when the bundle was made.

.set MAP_ADDRESS, 0             # l_addr
.set MAP_NAME, 8                # l_name
.set MAP_NEXT, 24               # l_next
.set MAP_MOST, 1024             # within struct link_map
.set OPEN_WITHOUT_LOAD, 4       # RTLD_NOLOAD
.set OPEN_OWN_FIRST, 8          # RTLD_DEEPBIND
.set FILE_HEADER_LENGTH, 64
.set NODE_LENGTH, 24            # struct libname_list

# Where the file at rdx (struct stat) is that of a plug-in or of a library merged with one: ZF, r12 is what is
# opened in place of the path, which is in rbx then, and rax is the plug-in. r13d: flags of dlopen.
.Lname_plugin:
    push r14
    push r15
    push rbp
    sub rsp, FRAME
    mov rbp, rsp
    lea r15, [rip + .Ltables]
    mov r14, [r15 + Header_plugins]
    add r14, rbx
    mov r9, [r15 + Header_plugin_count]
.Lnext_plugin:
    sub r9, 1
    jb .Lno_plugin
    add r14, Plugin_SIZE
    mov rax, [rdx + STAT_INODE]
    cmp rax, [r14 - Plugin_SIZE + Plugin_inode]
    jne .Lnext_plugin
    mov rax, [rdx + STAT_SIZE]
    cmp rax, [r14 - Plugin_SIZE + Plugin_size]
    jne .Lnext_plugin
    mov rax, [rdx + STAT_MODIFIED]
    cmp rax, [r14 - Plugin_SIZE + Plugin_modified_seconds]
    jne .Lnext_plugin
    mov rax, [rdx + STAT_MODIFIED + 8]
    cmp rax, [r14 - Plugin_SIZE + Plugin_modified_nanoseconds]
    jne .Lnext_plugin
    sub r14, Plugin_SIZE
    call .Lfirst_map
    jz .Lno_plugin
    mov r8, [r14 + Plugin_file]
    add r8, rbx
    call .Lfind_plugin_file
    mov rax, [r14 + Plugin_alias]
    jz .Lfile_absent
    test rax, rax               # a library that is merged with a plug-in has a name there
    jnz .Lplugin_named
.Lplugin_by_path:
    mov rax, [r8 + PluginFile_path]
.Lplugin_named:
    add rax, rbx
    mov rbx, r12
    mov r12, rax
    mov rax, r14
    xor ecx, ecx                # ZF
    jmp .Lplugin_answered
.Lfile_absent:
    test rax, rax
    jnz .Lno_plugin
    test r13d, OPEN_WITHOUT_LOAD | OPEN_OWN_FIRST
    jnz .Lno_plugin
    call .Lfirst_map
    call .Lis_scope_as_made
    jne .Lno_plugin
    call .Lis_any_loaded
    je .Lno_plugin
    mov dword ptr [rbp + FOLDER], NO_FOLDER
    lea rdx, [r14 + Plugin_records]
    call .Lcompare
    jne .Lno_plugin
    mov r8, [r14 + Plugin_file]
    add r8, rbx
    jmp .Lplugin_by_path
.Lno_plugin:
    or ecx, -1                  # clears ZF
.Lplugin_answered:
    lea rsp, [rsp + FRAME]
    pop rbp
    pop r15
    pop r14
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

# The plug-in r12 is open: the loader gets to know the names of what was merged with it, so that what is loaded
# later does not bring a second copy. Keeps rax; changes rbx, r12 and r13 too.
.Lname_opened:
    push rax
    push r14
    push r15
    lea rbx, [rip + .Lbegin]
    lea r15, [rip + .Ltables]
    mov r14, r12
    mov r12, [r14 + Plugin_needs]
    add r12, rbx
    mov r13, [r14 + Plugin_need_count]
.Lnext_opened:
    sub r13, 1
    jb .Lopened_named
    mov r8, [r12]
    add r8, rbx
    add r12, 8
    call .Lfirst_map
    jz .Lopened_named
    call .Lfind_plugin_file
    jz .Lnext_opened
    mov rcx, [r8 + PluginFile_chain_count]
    test rcx, rcx
    jz .Lnext_opened
    mov rdx, [r8 + PluginFile_chain]
    add rdx, [r15 + Header_plugin_chains]
    add rdx, rbx
    mov rax, [rdi + MAP_NAMES]
    test rax, rax
    jz .Lnext_opened
.Lnext_node:
    cmp rax, rdx                # it has them already
    je .Lnext_opened
    mov rsi, rax
    mov rax, [rax + NAME_NEXT]
    test rax, rax
    jnz .Lnext_node
    mov rdi, rdx                # a former load may have added to their end
.Llink_node:
    lea rax, [rdi + NODE_LENGTH]
    sub rcx, 1
    cmovz rax, rcx
    mov [rdi + NAME_NEXT], rax
    lea rdi, [rdi + NODE_LENGTH]
    jnz .Llink_node
    mov [rsi + NAME_NEXT], rdx
    jmp .Lnext_opened
.Lopened_named:
    pop r15
    pop r14
    pop rax
    ret

# The merged file of the name at rcx: r8; ZF where it is none. Changes rax, r9, r10, r11 and rsi.
.Lfile_of_name:
    push rdi
    push rcx
    mov rdi, rsp
    sub rdi, MAP_NAME           # as if it were a map
    call .Lbase_name
    lea rdi, [rip + .Lbegin]
    mov r8, [rip + .Ltables + Header_plugin_files]
    add r8, rdi
    mov r9, [rip + .Ltables + Header_plugin_file_count]
.Lnext_file:
    sub r9, 1
    jb .Lno_file
    mov rsi, [r8 + PluginFile_base]
    add rsi, rdi
    call .Lis_same_text
    je .Lfile_found
    add r8, PluginFile_SIZE
    jmp .Lnext_file
.Lno_file:
    xor eax, eax
    jmp .Lfile_answered
.Lfile_found:
    or rax, -1                  # clears ZF
.Lfile_answered:
    pop rcx
    pop rdi
    ret

# Where the C library has answered (eax) at r12 what is at the address r13, and that is in a merged file of
# plug-ins: the answer is that of the plug-in or library there. Keeps rax, rbx, r12 and r13.
.Ltell_plugin:
    test eax, eax
    jz .Lreturn
    xor ecx, ecx
    cmp rcx, [rip + .Ltables + Header_plugin_count]
    je .Lreturn
    push rax
    push rbx
    mov rcx, [r12 + INFO_FILE]
    test rcx, rcx
    jz .Lplugin_told
    call .Lfile_of_name
    jz .Lplugin_told
    mov rbx, [r12 + INFO_BASE]
    add rbx, [r8 + PluginFile_preamble]
    call .Ltables_there
    mov r10, [rax + Header_modules]
    add r10, rbx
    mov rcx, [rax + Header_module_count]
    mov rdi, r13
    sub rdi, rbx
.Lnext_merged_there:
    sub rcx, 1
    jb .Lplugin_told
    cmp rdi, [r10 + Module_start]
    jl .Lnot_there
    cmp rdi, [r10 + Module_end]
    jl .Lthere
.Lnot_there:
    add r10, Module_SIZE
    jmp .Lnext_merged_there
.Lthere:
    mov rdi, r13
    mov rsi, r12
    call .Ldescribe_there
.Lplugin_told:
    pop rbx
    pop rax
    ret

# The tables of the preamble at rbx: rax. Changes rcx.
.Ltables_there:
    lea rax, [rip + .Ltables]
    lea rcx, [rip + .Lbegin]
    sub rax, rcx
    add rax, rbx
    ret

# Of a merged file of plug-ins dlinfo tells the folder of the plug-in: r10 is that module, and rbx the preamble
# there, where the map rdi is that of one; else ZF. Changes rax, rcx, rsi, r8, r9 and r11, and rbx.
.Lplugin_of_map:
    mov rcx, [rdi + MAP_NAME]
    test rcx, rcx
    jz .Lreturn
    call .Lfile_of_name
    jz .Lreturn
    mov rbx, [rdi + MAP_ADDRESS]
    add rbx, [r8 + PluginFile_preamble]
    call .Ltables_there
    mov r10, [rax + Header_modules]
    add r10, rbx
    ret

# The first initializer of a merged file of plug-ins: what only relocation writes becomes read-only.
.Lplugin_entry:
    endbr64
    push rbx
    lea rbx, [rip + .Lbegin]
    mov r8, [rip + .Ltables + Header_relro]
    add r8, rbx
    mov r9, [rip + .Ltables + Header_relro_count]
    mov edx, 1                  # PROT_READ
.Lnext_of_plugin:
    sub r9, 1
    jb .Lplugin_protected
    mov rdi, [r8 + Range_offset]
    add rdi, rbx
    mov rsi, [r8 + Range_length]
    mov eax, 10                 # mprotect
    syscall
    add r8, Range_SIZE
    jmp .Lnext_of_plugin
.Lplugin_protected:
    pop rbx
    ret
