# The folder of a merged module's own file: $ORIGIN, and dlinfo with RTLD_DI_ORIGIN, for which the
# loader keeps nothing of a program (l_origin) and would copy from nowhere.

.set REQUEST_NAMESPACE, 1       # RTLD_DI_LMID
.set REQUEST_ORIGIN, 6          # RTLD_DI_ORIGIN

# Of the bundle merged code is told its own folder; all else is the real function's business.
.Ldlinfo:                       # handle, request, answer
    endbr64
    cmp esi, REQUEST_ORIGIN
    jne 1f
    mov rax, [rip + .Ltables + Header_names]
    test rax, rax
    jz 2f
    lea rax, [rip + .Lbegin]
    add rax, [rip + .Ltables + Header_dynamic]
    cmp [rdi + MAP_DYNAMIC], rax
    jne 2f
    mov rax, [rsp]
    call .Lfind_module
    jz 1f
    push rbx
    push r12
    push r13
    sub rsp, 16
    lea rbx, [rip + .Lbegin]
3:  mov r12, r10
    mov r13, rdx
    mov esi, REQUEST_NAMESPACE  # dlerror is to know of no error
    mov rdx, rsp
    CALL_REAL SLOT_dlinfo
    mov r10, r12
    call .Lfind_folder
    cmp edx, 1
    adc edx, 0                  # the root's slash stays
    mov ecx, edx
    mov rdi, r13
    rep movsb
    mov byte ptr [rdi], 0
    xor eax, eax
4:  add rsp, 16
    pop r13
    pop r12
    pop rbx
    ret
2:  mov rax, [rip + .Ltables + Header_plugin_count]
    test rax, rax
    jz 1f
    push rbx
    push r12
    push r13
    sub rsp, 16
    call .Lplugin_of_map
    jnz 3b
    mov esi, REQUEST_ORIGIN
    CALL_REAL SLOT_dlinfo
    jmp 4b
1:  REAL SLOT_dlinfo

# The file of the module r10: rsi, and how much of that is its folder: edx. rbx is the preamble's
# start. Changes rax and rcx too.
.Lfind_folder:
    mov rsi, [r10 + Module_name]
    test rsi, rsi
    jnz .Lfile_known
    mov rsi, [rip + .Ltables + Header_file]
.Lfile_known:
    add rsi, rbx
    xor ecx, ecx
    xor edx, edx
.Lmeasure_folder:
    movzx eax, byte ptr [rsi + rcx]
    cmp al, 0x2f
    cmove edx, ecx
    inc ecx
    test al, al
    jnz .Lmeasure_folder
    ret
