# The table of functions outside is filled where no other library can have a say in what they are: the loader would
# find each one by its name when it is first called.

.set FILL_BASES, STAT           # where the two libraries begin
.set FILL_FIRST, STAT + 16      # the first struct link_map

# What an entry is to be: an address of a library, from where it begins. The highest bit says that this is a
# resolver, which is asked, and the next one which library it is.
.set FILL_SELECTS, 63
.set FILL_SECOND, 62
.set FILL_LENGTH, 8

.Lfill_table:
    cmp qword ptr [r15 + Header_fill_count], 0
    je .Lreturn
    mov r11, r14
.Lnext_setting:                 # who audits sees each function when it is first called
    mov rdi, [r11]
    add r11, 8
    test rdi, rdi
    jz .Lnot_audited
    lea rsi, [rip + .Ltext_audit]
    call .Lskip_text
    jne .Lnext_setting
    cmp byte ptr [rdi], 0
    je .Lnext_setting
    ret
.Lnot_audited:
    mov rsi, [r15 + Header_dynamic]
    add rsi, rbx
    call .Lpresent_dynamic
    call .Lfind_debug
    test rax, rax
    jz .Lreturn
    mov r11, [rax + DEBUG_MAP]
    mov [rbp + FILL_FIRST], r11
    mov r8, [r15 + Header_fill_libraries]
    add r8, rbx
    mov r10, [r15 + Header_fill_library_count]
    lea r12, [rbp + FILL_BASES]
.Lnext_fill_library:
    mov r11, [rbp + FILL_FIRST]
    call .Lfind_loaded
    jne .Lnot_filled
    mov rax, [r9 + MAP_ADDRESS]
    mov [r12], rax
    call .Lis_build
    jne .Lnot_filled
    add r12, 8
    add r8, Build_SIZE
    sub r10, 1
    jnz .Lnext_fill_library
    mov r8, [rbp + FILL_FIRST]
    mov r10, [r15 + Header_fill_library_count]
.Lnext_map:                     # as many others are loaded, besides what the kernel brings
    mov r8, [r8 + MAP_NEXT]
    test r8, r8
    jz .Lmaps_end
    mov rdi, [r8 + MAP_NAME]
    lea rsi, [rip + .Ltext_vdso]
    call .Lis_text
    je .Lnext_map
    sub r10, 1
    jmp .Lnext_map
.Lmaps_end:
    test r10, r10
    jnz .Lnot_filled
    call .Lfill_plain
    call .Lfill_selected
    mov rdi, [r15 + Header_table_pages]
    add rdi, rbx
    mov rsi, [r15 + Header_table_bytes]
    mov edx, 1                  # PROT_READ
    mov eax, 10                 # mprotect
    syscall
    mov r12, [r13 - 8]          # argc
    test eax, eax
    jnz .Lunprotected
    ret
.Lnot_filled:
    mov r12, [r13 - 8]
    ret

# Functions that are where they are.
.Lfill_plain:
    call .Lfill_lists
.Lnext_plain:
    mov rax, [rsi]
    bt rax, FILL_SELECTS
    jc .Lplain_done
    call .Lfill_address
    mov [rdi], rax
.Lplain_done:
    add rsi, FILL_LENGTH
    add rdi, 8
    dec rcx
    jnz .Lnext_plain
    ret

# Functions that a resolver selects, which may call those.
.Lfill_selected:
    call .Lfill_lists
.Lnext_selected:
    mov rax, [rsi]
    bt rax, FILL_SELECTS
    jnc .Lselected_done
    call .Lfill_address
    push rcx
    push rsi
    push rdi
    push rax                    # the stack is a multiple of 16 then
    call rax
    pop rdi
    pop rdi
    pop rsi
    pop rcx
    mov [rdi], rax
.Lselected_done:
    add rsi, FILL_LENGTH
    add rdi, 8
    dec rcx
    jnz .Lnext_selected
    ret

# The list: rsi, the table: rdi, and their length: rcx.
.Lfill_lists:
    mov rsi, [r15 + Header_fills]
    add rsi, rbx
    mov rdi, [r15 + Header_stub_table]
    add rdi, rbx
    mov rcx, [r15 + Header_fill_count]
    ret

# The address that rax means: rax. Changes rdx.
.Lfill_address:
    xor edx, edx
    bt rax, FILL_SECOND
    adc edx, 0
    shl rax, 2
    shr rax, 2
    add rax, [rbp + FILL_BASES + 8 * rdx]
    ret
