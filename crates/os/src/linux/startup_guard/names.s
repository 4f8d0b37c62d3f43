# Names of merged libraries for glibc's loader, and protection of what only relocation writes.

.set DYNAMIC_DEBUG, 21          # DT_DEBUG: its value is struct r_debug
.set DEBUG_MAP, 8               # r_debug.r_map: the program's struct link_map
.set MAP_DYNAMIC, 16            # l_ld
.set MAP_REAL, 40               # l_real
.set MAP_NAMESPACE, 48          # l_ns
.set MAP_NAMES, 56              # l_libname
.set NAME_NEXT, 8               # libname_list.next
.set MOST_NAMES, 8

# Appends the bundle's chain of names to the private list of the program's link_map, where that
# looks as it does in glibc 2.20 to 2.42.
.Ladd_names:
    mov rdx, [r15 + TABLE_NAMES]
    test rdx, rdx
    jz .Lreturn
    lea rax, [rip + .Ltext_loader]
    mov [rbp + SUBJECT], rax
    lea rax, [rip + .Ltext_nothing]
    mov [rbp + CAUSE], rax
    add rdx, rbx
    mov rsi, [r15 + TABLE_DYNAMIC]
    add rsi, rbx
    call .Lfind_debug
    test rax, rax
    jz .Lstale
    mov rax, [rax + DEBUG_MAP]
    test rax, rax
    jz .Lstale
    cmp [rax + MAP_DYNAMIC], rsi
    jne .Lstale
    cmp [rax + MAP_REAL], rax
    jne .Lstale
    cmp qword ptr [rax + MAP_NAMESPACE], 0
    jne .Lstale
    mov rax, [rax + MAP_NAMES]
    test rax, rax
    jz .Lstale
    mov rcx, [rax]
    test rcx, rcx
    jz .Lstale
    cmp byte ptr [rcx], 0       # the program has an empty name there
    jne .Lstale
    mov ecx, MOST_NAMES
.Lnext_name:
    mov rsi, [rax + NAME_NEXT]
    test rsi, rsi
    jz .Llast_name
    mov rax, rsi
    dec ecx
    jnz .Lnext_name
    jmp .Lstale
.Llast_name:
    mov [rax + NAME_NEXT], rdx
    ret

# The value of DT_DEBUG in the dynamic table at rsi: rax, or 0. Changes rcx too.
.Lfind_debug:
    mov rax, rsi
.Lnext_tag:
    mov rcx, [rax]
    add rax, 16
    cmp rcx, DYNAMIC_DEBUG
    je .Ldebug_found
    test rcx, rcx
    jnz .Lnext_tag
    xor eax, eax
    ret
.Ldebug_found:
    mov rax, [rax - 8]
    ret

# Read-only from here on. A refusal is a reason to start the original: no constructor has run.
.Lprotect:
    mov r8, [r15 + TABLE_RELRO]
    add r8, rbx
    mov r9, [r15 + TABLE_RELRO_COUNT]
    mov edx, 1                  # PROT_READ
.Lnext_range:
    test r9, r9
    jz .Lreturn
    mov rdi, [r8]
    add rdi, rbx
    mov rsi, [r8 + 8]
    mov eax, 10                 # mprotect
    syscall
    test eax, eax
    jnz .Lunprotected
    add r8, 16
    dec r9
    jmp .Lnext_range
.Lunprotected:
    lea rax, [rip + .Ltext_memory]
    mov [rbp + SUBJECT], rax
    lea rax, [rip + .Ltext_nothing]
    mov [rbp + CAUSE], rax
    jmp .Lstale
