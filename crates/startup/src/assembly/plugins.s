# Plug-ins that are merged with the libraries that only plug-ins need, in files beside the bundle: dlopen of one
# opens that file instead, where all is as it was when the bundle was made.

.set OPEN_WITHOUT_LOAD, 4       # RTLD_NOLOAD
.set OPEN_OWN_FIRST, 8          # RTLD_DEEPBIND
.set NODE_LENGTH, 24            # struct libname_list

# Where the file at rdx (struct stat) is that of a plug-in or of a library merged with one: ZF, r12 is what is
# opened in place of the path, which is in rbx then. r13d: flags of dlopen.
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
    call .Lask_loader
    test eax, eax
    jz .Lno_plugin
    mov r8, [r14 + Plugin_file]
    add r8, rbx
    cmp eax, NOTHING_LOADED
    mov rax, [r14 + Plugin_alias]
    je .Lfile_absent
    test rax, rax               # a library that is merged with a plug-in has a name there
    jnz .Lplugin_named
.Lplugin_by_path:
    mov rax, [r8 + PluginFile_path]
.Lplugin_named:
    add rax, rbx
    mov rbx, r12
    mov r12, rax
    xor ecx, ecx                # ZF
    jmp .Lplugin_answered
.Lfile_absent:
    test rax, rax
    jnz .Lno_plugin
    test r13d, OPEN_WITHOUT_LOAD | OPEN_OWN_FIRST
    jnz .Lno_plugin
    call .Lis_folder_told
    jne .Lno_plugin
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

# Whether the path r12 leads through the folder in which the plug-in r14 was found, where that counts: ZF. rbp is the
# frame. Changes all but rbx, r12 to r15 and rbp.
.Lis_folder_told:
    mov rdi, [r14 + Plugin_folder]
    test rdi, rdi
    jz .Lreturn
    add rdi, rbx
    lea rsi, [rbp + STAT]
    mov eax, 4                  # stat
    syscall
    test eax, eax
    jnz .Lreturn
    xor ecx, ecx
    xor edx, edx                # bytes up to the last slash
.Lnext_of_path:
    movzx eax, byte ptr [r12 + rcx]
    inc rcx
    cmp al, 0x2f
    cmove rdx, rcx
    test al, al
    jnz .Lnext_of_path
    cmp rdx, LONGEST_TARGET - 1
    ja .Lreturn                 # ZF is clear
    sub rsp, LONGEST_TARGET
    mov rdi, rsp
    mov rsi, r12
    mov ecx, edx
    rep movsb
    mov byte ptr [rdi], cl
    mov rdi, rsp
    lea rsi, [rbp + OTHER_STAT]
    mov eax, 4
    syscall
    add rsp, LONGEST_TARGET
    test eax, eax
    jnz .Lreturn
    movdqu xmm0, [rbp + STAT]   # device and inode
    movdqu xmm1, [rbp + OTHER_STAT]
    pcmpeqb xmm0, xmm1
    pmovmskb eax, xmm0
    cmp eax, 0xffff
    ret

# A merged file is loaded at rdx, and none of its constructors has run: the loader gets to know the names of what is
# in it, so that what is loaded later does not bring a second copy. The loader is locked, as for all initializers.
.Lname_loaded:
    push rbx
    lea rbx, [rip + .Lbegin]
    call .Lfirst_map
    jz .Lloaded_named
.Lnext_of_opened:
    mov rdi, [rdi + MAP_NEXT]
    test rdi, rdi
    jz .Lloaded_named
    cmp rdx, [rdi + MAP_ADDRESS]
    jne .Lnext_of_opened
    mov rcx, [rdi + MAP_NAME]
    call .Lfile_of_name
    jz .Lloaded_named
    mov rcx, [r8 + PluginFile_chain_count]
    test rcx, rcx
    jz .Lloaded_named
    mov rdx, [r8 + PluginFile_chain]
    add rdx, [rip + .Ltables + Header_plugin_chains]
    add rdx, rbx
    mov rax, [rdi + MAP_NAMES]
    test rax, rax
    jz .Lloaded_named
.Lnext_node:
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
.Lloaded_named:
    pop rbx
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

# The first initializer of a merged file of plug-ins: what only relocation writes becomes read-only, and the bundle
# names what is in the file. Its preamble is the same code, and is where its function for dlopen is.
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
    mov rdx, [rip + .Ltables + Header_image]
    add rdx, rbx
    mov rax, [rip + .Ltables + Header_SIZE + 8 * SLOT_dlopen]
    mov rax, [rbx + rax]
    lea rcx, [rip + .Ldlopen]
    sub rax, rcx
    lea rcx, [rip + .Lname_loaded]
    add rax, rcx
    call rax
    pop rbx
    ret
