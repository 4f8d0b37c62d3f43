# Names of merged libraries for glibc's loader, and protection of what only relocation writes.

.set DYNAMIC_DEBUG, 21          # DT_DEBUG: its value is struct r_debug
.set DEBUG_MAP, 8               # r_debug.r_map: the program's struct link_map
.set MAP_DYNAMIC, 16            # l_ld
.set MAP_REAL, 40               # l_real
.set MAP_NAMESPACE, 48          # l_ns
.set MAP_NAMES, 56              # l_libname
.set NAME_NEXT, 8               # libname_list.next
.set MOST_NAMES, 8
.set AUXILIARY_HEADERS, 3       # AT_PHDR
.set AUXILIARY_COUNT, 5         # AT_PHNUM
.set HEADER_ADDRESS, 16         # p_vaddr
.set HEADER_LENGTH, 56
.set HEADER_OF_HEADERS, 6       # PT_PHDR, which a bundle has first
.set HEADER_OF_DYNAMIC, 2       # PT_DYNAMIC

# Appends the bundle's chain of names to the private list of the program's link_map, where that
# looks as it does in glibc 2.20 to 2.42. Those of plug-ins are appended to lists that look alike.
.Ladd_names:
    mov rdx, [r15 + Header_names]
    mov rax, rdx
    or rax, [r15 + Header_plugin_count]
    jz .Lreturn
    lea rax, [rip + .Ltext_loader]
    mov [rbp + SUBJECT], rax
    lea rax, [rip + .Ltext_nothing]
    mov [rbp + CAUSE], rax
    mov rsi, [r15 + Header_dynamic]
    add rsi, rbx
    call .Lpresent_dynamic
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
    test rdx, rdx
    jz .Lreturn
    add rdx, rbx
    mov [rax + NAME_NEXT], rdx
    ret

# The dynamic table that the loader has used, as the program headers tell: rsi, which says where it
# was at first. patchelf moves it. Changes rax, rcx, rdi, r8 and r9.
.Lpresent_dynamic:
    call .Lprogram_headers
    mov r8, rdi
.Lnext_of_headers:
    sub rcx, 1
    jb .Lreturn
    mov eax, [rdi]
    cmp eax, HEADER_OF_HEADERS
    jne .Lnot_of_headers
    mov r9, r8                  # what is added to all addresses
    sub r9, [rdi + HEADER_ADDRESS]
.Lnot_of_headers:
    add rdi, HEADER_LENGTH
    cmp eax, HEADER_OF_DYNAMIC
    jne .Lnext_of_headers
    mov rsi, [rdi + HEADER_ADDRESS - HEADER_LENGTH]
    add rsi, r9
    ret

# The program headers that the kernel has mapped: rdi, and their number: rcx. Changes rax and r8.
.Lprogram_headers:
    mov r8, r14
.Lskip_variables:
    mov rax, [r8]
    add r8, 8
    test rax, rax
    jnz .Lskip_variables
    xor edi, edi
    xor ecx, ecx
.Lfind_headers:
    mov rax, [r8]
    add r8, 16
    cmp rax, AUXILIARY_HEADERS
    cmove rdi, [r8 - 8]
    cmp rax, AUXILIARY_COUNT
    cmove rcx, [r8 - 8]
    test rax, rax
    jnz .Lfind_headers
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
    mov r8, [r15 + Header_relro]
    add r8, rbx
    mov r9, [r15 + Header_relro_count]
    mov edx, 1                  # PROT_READ
.Lnext_range:
    test r9, r9
    jz .Lreturn
    mov rdi, [r8 + Range_offset]
    add rdi, rbx
    mov rsi, [r8 + Range_length]
    mov eax, 10                 # mprotect
    syscall
    test eax, eax
    jnz .Lunprotected
    add r8, Range_SIZE
    dec r9
    jmp .Lnext_range
.Lunprotected:
    lea rax, [rip + .Ltext_memory]
    mov [rbp + SUBJECT], rax
    lea rax, [rip + .Ltext_nothing]
    mov [rbp + CAUSE], rax
    jmp .Lstale
