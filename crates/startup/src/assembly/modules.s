# The merged modules by their addresses, for code that asks where it is: dladdr.

# As Elf64_Sym.
.set SYMBOL_NAME, 0
.set SYMBOL_INFO, 4
.set SYMBOL_OTHER, 5
.set SYMBOL_SECTION, 6
.set SYMBOL_VALUE, 8
.set SYMBOL_SIZE, 16
.set SYMBOL_LENGTH, 24
.set SECTION_ABSOLUTE, 0xfff1
.set TYPE_THREAD, 6             # STT_TLS
.set TYPE_INDIRECT, 10          # STT_GNU_IFUNC

# As Dl_info.
.set INFO_FILE, 0
.set INFO_BASE, 8
.set INFO_SYMBOL, 16
.set INFO_ADDRESS, 24

# Of a stub they tell what they would of its function, but for the address at which that begins.

.Ldladdr:                       # address, answer
    endbr64
    mov rax, [rip + .Ltables + Header_stub_count]
    or rax, [rip + .Ltables + Header_plugin_count]
    jnz 2f
    mov rax, rdi
    call .Lfind_library
    jz 1f
    call .Ldescribe
    mov eax, 1
    ret
1:  REAL SLOT_dladdr
2:  push rbx
    push r12
    push r13
    mov rbx, rdi
    mov r12, rsi
    call .Lfollow_stub
    mov r13, rdi
    mov rax, rdi
    call .Lfind_library
    jz 1f
    call .Ldescribe
    mov eax, 1
    jmp .Ldladdr_answered
1:  CALL_REAL SLOT_dladdr
    call .Ltell_plugin
.Ldladdr_answered:
    test eax, eax
    jz 1f
    cmp [r12 + INFO_ADDRESS], r13
    jne 1f
    mov [r12 + INFO_ADDRESS], rbx
1:  pop r13
    pop r12
    pop rbx
    ret

.Ldladdr1:                      # address, answer, more of the answer, what more
    endbr64
    mov rax, rdi
    call .Lfind_library
    jnz 2f
    mov rax, [rip + .Ltables + Header_stub_count]
    or rax, [rip + .Ltables + Header_plugin_count]
    jnz 2f
    REAL SLOT_dladdr1
2:  push rbx
    push r12
    push r13
    mov rbx, rdi
    mov r12, rsi
    call .Lfollow_stub
    mov r13, rdi
    CALL_REAL SLOT_dladdr1
    call .Ltell_plugin
    push rax
    mov rax, r13
    call .Lfind_library
    pop rax
    jz .Ldladdr_answered
    mov rdi, r13
    mov rsi, r12
    call .Ldescribe
    mov eax, 1
    jmp .Ldladdr_answered

# Where rdi is the address of a stub: that of its function. Changes rax, r10 and r11 only.
.Lfollow_stub:
    lea r11, [rip + .Lbegin]
    mov rax, rdi
    sub rax, r11
    sub rax, [rip + .Ltables + Header_stubs]
    mov r10, [rip + .Ltables + Header_stub_count]
    shl r10, 5
    cmp rax, r10
    jae .Lreturn
    shr rax, 5
    add r11, [rip + .Ltables + Header_stub_table]
    mov rdi, [r11 + 8 * rax]
    ret

# The address of the stub of the function at rax, if it has one: rax. Changes rcx, r10 and r11 too.
.Lname_stub:
    test rax, rax
    jz .Lreturn
    lea r11, [rip + .Lbegin]
    mov r10, [rip + .Ltables + Header_stub_table]
    add r10, r11
    mov rcx, [rip + .Ltables + Header_stub_count]
.Lnext_stub:
    sub rcx, 1
    jb .Lreturn
    cmp [r10 + 8 * rcx], rax
    jne .Lnext_stub
    shl rcx, 5
    add rcx, [rip + .Ltables + Header_stubs]
    lea rax, [r11 + rcx]
    ret

# The merged library whose memory holds the address in rax: r10; ZF where there is none. Of the
# program the C library itself knows. Changes rax, r10 and r11 only.
.Lfind_library:
    call .Lfind_module
    jz .Lreturn
    cmp qword ptr [r10 + Module_name], 0
    ret

# As .Lfind_library, but the program is found too.
.Lfind_module:
    push rcx
    push rdx
    push rsi
    lea rsi, [rip + .Lbegin]
    sub rax, rsi
    mov r11, [rip + .Ltables + Header_modules]
    add r11, rsi
    xor ecx, ecx
    mov rdx, [rip + .Ltables + Header_module_count]
.Lhalve:                        # it is one from rcx on and before rdx
    xor r10d, r10d
    cmp rcx, rdx
    jae .Lmodule_answered
    lea rsi, [rcx + rdx]
    shr rsi, 1
    imul r10, rsi, Module_SIZE
    add r10, r11
    cmp rax, [r10 + Module_start]
    jl .Llower_half
    cmp rax, [r10 + Module_end]
    jl .Lmodule_answered
    lea rcx, [rsi + 1]
    jmp .Lhalve
.Llower_half:
    mov rdx, rsi
    jmp .Lhalve
.Lmodule_answered:
    test r10, r10
    pop rsi
    pop rdx
    pop rcx
    ret

# Answers at rsi what the library r10 has at the address rdi: its file, where that begins, and of
# the symbols that span the address the one that begins last, as glibc does for a file of its own.
.Ldescribe:
    push rbx
    lea rbx, [rip + .Lbegin]
    call .Ldescribe_there
    pop rbx
    ret

# The same for a library of the preamble at rbx.
.Ldescribe_there:
    mov rax, [r10 + Module_name]
    add rax, rbx
    mov [rsi + INFO_FILE], rax
    mov rax, [r10 + Module_start]
    add rax, rbx
    mov [rsi + INFO_BASE], rax
    sub rdi, rbx
    sub rdi, [r10 + Module_base]
    mov r8, [r10 + Module_symbols]
    add r8, rbx
    mov r9, [r10 + Module_symbol_count]
    xor edx, edx                # the best so far
.Lnext_spanning:
    add r8, SYMBOL_LENGTH       # the first symbol is none
    sub r9, 1
    jbe .Lspanning_found
    mov rax, [r8 + SYMBOL_VALUE]
    cmp rax, rdi
    ja .Lnext_spanning
    movzx ecx, byte ptr [r8 + SYMBOL_INFO]
    cmp ecx, 16
    jb .Lnext_spanning          # STB_LOCAL
    and ecx, 15
    cmp ecx, TYPE_THREAD
    je .Lnext_spanning
    movzx ecx, word ptr [r8 + SYMBOL_SECTION]
    cmp ecx, SECTION_ABSOLUTE
    je .Lnext_spanning
    or rcx, rax
    jz .Lnext_spanning          # undefined
    cmp rax, rdi
    je .Lspans
    add rax, [r8 + SYMBOL_SIZE]
    cmp rdi, rax
    jae .Lnext_spanning
.Lspans:
    test rdx, rdx
    jz .Lspans_best
    mov rax, [rdx + SYMBOL_VALUE]
    cmp rax, [r8 + SYMBOL_VALUE]
    jae .Lnext_spanning
.Lspans_best:
    mov rdx, r8
    jmp .Lnext_spanning
.Lspanning_found:
    xor eax, eax
    xor ecx, ecx
    test rdx, rdx
    jz .Ldescribed
    mov eax, [rdx + SYMBOL_NAME]
    add rax, [r10 + Module_strings]
    add rax, rbx
    mov rcx, [rdx + SYMBOL_VALUE]
    add rcx, [r10 + Module_base]
    add rcx, rbx
.Ldescribed:
    mov [rsi + INFO_SYMBOL], rax
    mov [rsi + INFO_ADDRESS], rcx
    ret
