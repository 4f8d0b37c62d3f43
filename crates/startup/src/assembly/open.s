# dlopen from merged code: $ORIGIN is the folder of the caller's own file, and a path that leads
# to a merged library's file, by whatever way, gives the bundle and not a second copy.

.set PATH, 0                    # 4096 bytes
.set PATH_STAT, 4096            # struct stat
.set OTHER_PATH_STAT, 4096 + 144 # another one
.set PATH_FRAME, 4096 + 288

.Ldlmopen:                      # namespace, name, flags
    endbr64
    test rdi, rdi
    jnz 1f
    cmp rdi, [rip + .Ltables + Header_plugin_count]
    je 1f
    mov rdi, rsi
    mov esi, edx
    jmp .Ldlopen
1:  REAL SLOT_dlmopen

.Ldlopen:                       # name, flags
    endbr64
    test rdi, rdi
    jz 1f
    mov r11, rdi
2:  movzx eax, byte ptr [r11]
    inc r11
    test al, al
    jz 1f
    cmp al, 0x2f
    jne 2b
    mov rax, [rsp]
    call .Lfind_module
    jnz 6f
    cmp r10, [rip + .Ltables + Header_plugin_count] # merged code of a plug-in, of which nothing is known here
    je 1f
6:  push rbx
    push r12
    push r13
    sub rsp, PATH_FRAME
    lea rbx, [rip + .Lbegin]
    mov r12, rdi
    mov r13d, esi
    call .Lreplace_origin
    call .Lname_carried
    je 4f
    mov rdi, r12
    lea rsi, [rsp + PATH_STAT]
    mov eax, 4                  # stat
    syscall
    test eax, eax
    jnz 3f
    lea rdx, [rsp + PATH_STAT]
    call .Lname_merged
    lea rdx, [rsp + PATH_STAT]
    call .Lname_plugin
    je 4f
3:  xor ebx, ebx
4:  mov rdi, r12
    mov esi, r13d
    CALL_REAL SLOT_dlopen
    test rax, rax
    jnz 7f
    test rbx, rbx
    jz 7f
    mov r12, rbx                # it is not found there: without /proc, or it was removed
    jmp 3b
7:  add rsp, PATH_FRAME
    pop r13
    pop r12
    pop rbx
    ret
1:  REAL SLOT_dlopen

# Where the path r12 begins with $ORIGIN: with the folder of the module r10 instead, in PATH above
# the return address. Too long a one stays as it is, and all where the caller is not known.
.Lreplace_origin:
    test r10, r10
    jz .Lreturn
    mov rdi, r12
    lea rsi, [rip + .Ltext_origin]
    call .Lskip_text
    je .Lorigin_meant
    mov rdi, r12
    lea rsi, [rip + .Ltext_origin_braced]
    call .Lskip_text
    jne .Lreturn
.Lorigin_meant:
    cmp byte ptr [rdi], 0x2f
    jne .Lreturn
    call .Lfind_folder
    or rcx, -1
.Lmeasure_rest:
    inc rcx
    cmp byte ptr [rdi + rcx], 0
    jne .Lmeasure_rest
    lea rax, [rcx + rdx]
    cmp rax, PATH_STAT - PATH
    jae .Lreturn
    inc rcx                     # with its end
    mov r11, rcx
    mov r10, rdi
    lea rdi, [rsp + 8 + PATH]
    mov r12, rdi
    mov ecx, edx
    rep movsb
    mov rsi, r10
    mov rcx, r11
    rep movsb
    ret

# Where the path r12 is that of a library which the bundle carries: ZF, and r12 is its name, by which the
# loader finds it along the bundle's DT_RPATH; rbx is the path then.
.Lname_carried:
    mov r8, [rip + .Ltables + Header_carried]
    add r8, rbx
    mov r9, [rip + .Ltables + Header_carried_count]
.Lnext_carried:
    sub r9, 1
    jb .Lno_carried
    mov rsi, [r8 + Carried_path]
    add rsi, rbx
    mov rdi, r12
    add r8, Carried_SIZE
    call .Lis_text
    jne .Lnext_carried
    mov rax, r12
    mov r12, [r8 - Carried_SIZE + Carried_name]
    add r12, rbx
    mov rbx, rax
    xor eax, eax                # ZF
    ret
.Lno_carried:
    or eax, -1
    ret

# Where the file at rdx (struct stat) is that of a merged library: r12 is its name, by which the
# loader knows the bundle.
.Lname_merged:
    mov r8, [rip + .Ltables + Header_modules]
    add r8, rbx
    mov r9, [rip + .Ltables + Header_module_count]
.Lnext_merged:
    sub r9, 1
    jb .Lreturn
    mov rcx, [r8 + Module_name]
    add r8, Module_SIZE
    test rcx, rcx
    jz .Lnext_merged
    mov rax, [rdx + STAT_SIZE]
    cmp rax, [r8 - Module_SIZE + Module_size]
    jne .Lnext_merged
    mov rax, [rdx + STAT_MODIFIED]
    cmp rax, [r8 - Module_SIZE + Module_modified_seconds]
    jne .Lnext_merged
    mov rax, [r8 - Module_SIZE + Module_inode]
    test rax, rax
    jz .Lcompare_with_module
    cmp rax, [rdx + STAT_INODE]
    jne .Lnext_merged
    mov rax, [rdx + STAT_MODIFIED + 8]
    cmp rax, [r8 - Module_SIZE + Module_modified_seconds + 8]
    jne .Lnext_merged
.Lmerged_found:
    lea r12, [rbx + rcx]
    ret

# A copy may have any inode: it is the file if the module's own path leads there, too.
.Lcompare_with_module:
    mov r10, rcx
    lea rdi, [rbx + rcx]
    lea rsi, [rdx + OTHER_PATH_STAT - PATH_STAT]
    mov eax, 4                  # stat
    syscall
    mov rcx, r10
    test eax, eax
    jnz .Lnext_merged
    movdqu xmm0, [rdx]          # device and inode
    movdqu xmm1, [rdx + OTHER_PATH_STAT - PATH_STAT]
    pcmpeqb xmm0, xmm1
    pmovmskb eax, xmm0
    cmp eax, 0xffff
    je .Lmerged_found
    jmp .Lnext_merged
