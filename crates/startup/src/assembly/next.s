# dlsym and dlvsym with RTLD_NEXT from merged code: the next definition behind the caller's
# module in the order in which the loader would have searched, by the symbol tables that the
# modules have brought along. Of a function that has a stub, the stub is the address for all merged code.
#
# Registers, from .Lfind_next on:
#   rbx  start of the preamble   r12  module   r13  name   r14  version, or 0
#   r15  end of the modules  ebp  hash of the name

.set VERSION_HIDDEN, 0x8000
.set VERSION_NUMBER, 0x7fff

# As Elf64_Verdef; the first word of an Elf64_Verdaux is a name.
.set DEFINITION_FLAGS, 2
.set DEFINITION_INDEX, 4
.set DEFINITION_NAMES, 12
.set DEFINITION_NEXT, 16

.Ldlsym:                        # handle, name
    endbr64
    cmp rdi, -1                 # RTLD_NEXT
    jne 1f
    mov rax, [rsp]
    call .Lfind_module
    jz 2f
    push rdx
    xor edx, edx
    call .Lfind_next
    pop rdx
    test rax, rax
    jnz .Lname_stub
1:  call .Lmust_see_caller
    jz 2f
    push rax                    # the stack is a multiple of 16 then
    CALL_REAL SLOT_dlsym
    pop rcx
    jmp .Lname_stub
2:  REAL SLOT_dlsym

.Ldlvsym:                       # handle, name, version
    endbr64
    cmp rdi, -1
    jne 1f
    mov rax, [rsp]
    call .Lfind_module
    jz 2f
    test rdx, rdx
    jz 1f
    push rdx
    call .Lfind_next
    pop rdx
    test rax, rax
    jnz .Lname_stub
1:  call .Lmust_see_caller
    jz 2f
    push rax                    # the stack is a multiple of 16 then
    CALL_REAL SLOT_dlvsym
    pop rcx
    jmp .Lname_stub
2:  REAL SLOT_dlvsym

# Whether the C library has to see who has called the wrapper: ZF. Where no function has a stub, nothing keeps it from
# that; a plug-in that is not in this file has a scope of its own for RTLD_DEFAULT. Changes rax, r10 and r11 only.
.Lmust_see_caller:
    mov rax, [rip + .Ltables + Header_stub_count]
    test rax, rax
    jz .Lreturn
    test rdi, rdi               # RTLD_DEFAULT
    jnz .Lreturn
    mov rax, [rsp + 8]
    jmp .Lfind_module

# Asks the real function for the name with the handle in rdi.
.macro ASK_REAL
    mov rsi, r13
    mov rdx, r14
    mov rax, [rip + .Ltables + Header_SIZE + 8 * SLOT_dlsym]
    mov r10, [rip + .Ltables + Header_SIZE + 8 * SLOT_dlvsym]
    test r14, r14
    cmovz r10, rax
    call [rbx + r10]
.endm

# Address of what is called rsi, with the version rdx or none, behind the module r10; 0 where the
# real function is to answer. rdi and rsi stay.
.Lfind_next:
    push rdi
    push rsi
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    sub rsp, 24                 # the first word: whether the modules outside were asked
    mov qword ptr [rsp], 0
    lea rbx, [rip + .Lbegin]
    mov r12, r10
    mov r13, rsi
    mov r14, rdx
    imul r15, [rip + .Ltables + Header_module_count], Module_SIZE
    add r15, [rip + .Ltables + Header_modules]
    add r15, rbx
    mov ebp, 5381
.Lhash_letter:
    movzx eax, byte ptr [rsi]
    inc rsi
    test al, al
    jz .Lnext_module
    imul ebp, ebp, 33
    add ebp, eax
    jmp .Lhash_letter
.Lnext_module:
    xor eax, eax
    add r12, Module_SIZE
    cmp r12, r15
    jae .Lnext_answered
    cmp [r12 + Module_behind_outside], rax
    je .Lsearch_module
    cmp [rsp], rax
    jne .Lsearch_module
    mov qword ptr [rsp], 1
    or rdi, -1                  # RTLD_NEXT from here: all that are outside
    ASK_REAL
    test rax, rax
    jnz .Lnext_answered
.Lsearch_module:
    call .Lfind_definition
    test rax, rax
    jz .Lnext_module
    movzx ecx, byte ptr [rax + SYMBOL_INFO]
    and ecx, 15
    movzx edx, word ptr [rax + SYMBOL_SECTION]
    mov rax, [rax + SYMBOL_VALUE]
    cmp edx, SECTION_ABSOLUTE
    je .Laddress_known
    cmp ecx, TYPE_THREAD
    je .Lof_thread
    add rax, [r12 + Module_base]
    add rax, rbx
    cmp ecx, TYPE_INDIRECT
    jne .Laddress_known
    call rax
    jmp .Laddress_known
.Lof_thread:                    # the block of a file of plug-ins may be anywhere
    mov rcx, [rip + .Ltables + Header_program]
    test rcx, rcx
    jz .Lnext_module
    add rax, [r12 + Module_thread]
    xor ecx, ecx
    add rax, fs:[rcx]
.Laddress_known:                # dlerror is to know of no error: RTLD_DEFAULT finds the name
    mov r12, rax
    xor edi, edi
    ASK_REAL
    mov rax, r12
.Lnext_answered:
    add rsp, 24
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    pop rsi
    pop rdi
    ret

# The symbol by which the module r12 defines the name: rax, or 0. r8 is the last one of a default
# version, r9d the number of such.
.Lfind_definition:
    xor r8d, r8d
    xor r9d, r9d
    xor eax, eax
    mov rsi, [r12 + Module_hash]
    test rsi, rsi
    jz .Lnext_symbol
    add rsi, rbx
    cmp [rsi], eax
    je .Lreturn                 # no buckets
    mov ecx, [rsi + 8]          # words of the Bloom filter, a power of two
    dec ecx
    mov eax, ebp
    shr eax, 6
    and eax, ecx
    mov rdi, [rsi + 8 * rax + 16]
    mov ecx, [rsi + 12]
    mov eax, ebp
    shr eax, cl
    bt rdi, rax
    jnc .Lnot_defined
    mov eax, ebp
    bt rdi, rax
    jnc .Lnot_defined
    xor edx, edx
    div dword ptr [rsi]
    mov ecx, [rsi + 8]
    lea rdi, [rsi + 8 * rcx + 16]
    mov eax, [rdi + 4 * rdx]
    test eax, eax
    jz .Lreturn
    mov ecx, [rsi]
    mov edx, [rsi + 4]          # the first symbol with a hash
    sub rcx, rdx
    lea rdi, [rdi + 4 * rcx]
.Lnext_of_chain:
    mov ecx, [rdi + 4 * rax]
    xor ecx, ebp
    shr ecx, 1
    jnz .Lother_hash
    call .Lis_meant
    je .Ldefined
.Lother_hash:
    mov ecx, [rdi + 4 * rax]
    inc eax
    test cl, 1
    jz .Lnext_of_chain
    jmp .Lby_default
.Lnext_symbol:                  # an old module: one after the other
    inc eax
    cmp rax, [r12 + Module_symbol_count]
    jae .Lby_default
    call .Lis_meant
    jne .Lnext_symbol
.Ldefined:
    mov rax, r10
    ret
.Lby_default:
    xor eax, eax
    cmp r9d, 1
    cmove rax, r8
    ret
.Lnot_defined:
    xor eax, eax
    ret

# Whether symbol number rax of the module defines the name for all: ZF, and r10 is the symbol.
# One of a version that is not asked for is only noted. Changes rcx, rdx, rsi and r11.
.Lis_meant:
    lea r10, [rax + 2 * rax]
    shl r10, 3
    add r10, [r12 + Module_symbols]
    add r10, rbx
    movzx ecx, byte ptr [r10 + SYMBOL_INFO]
    cmp ecx, 16
    jb .Lis_not_meant           # STB_LOCAL
    and ecx, 15
    mov edx, 0x467              # no type, data, code, common, thread-local, indirect
    bt edx, ecx
    jnc .Lis_not_meant
    mov dl, [r10 + SYMBOL_OTHER]
    and dl, 3
    dec dl
    cmp dl, 2
    jb .Lis_not_meant           # STV_INTERNAL, STV_HIDDEN
    cmp qword ptr [r10 + SYMBOL_VALUE], 0
    jne .Lhas_value
    cmp word ptr [r10 + SYMBOL_SECTION], SECTION_ABSOLUTE
    je .Lhas_value
    cmp word ptr [r10 + SYMBOL_SECTION], 0
    je .Lis_not_meant
    cmp ecx, TYPE_THREAD
    jne .Lis_not_meant
.Lhas_value:
    mov esi, [r10 + SYMBOL_NAME]
    mov r11, r13
    call .Lis_string
    jne .Lreturn
    mov rcx, [r12 + Module_versions]
    test rcx, rcx
    jz .Lreturn
    add rcx, rbx
    movzx edx, word ptr [rcx + 2 * rax]
    mov ecx, edx
    and edx, VERSION_NUMBER
    test r14, r14
    jnz .Lis_of_version
    cmp edx, 2
    jb .Lis_meant_indeed
    test ecx, VERSION_HIDDEN
    jnz .Lreturn
    inc r9d
    mov r8, r10
.Lis_not_meant:
    or ecx, -1
    ret
.Lis_meant_indeed:
    xor ecx, ecx
    ret
.Lis_of_version:                # rdx: number of the symbol's version
    mov rcx, [r12 + Module_definitions]
    test rcx, rcx
    jz .Lis_not_meant
    add rcx, rbx
.Lnext_version:
    cmp [rcx + DEFINITION_INDEX], dx
    je .Lversion_found
    mov esi, [rcx + DEFINITION_NEXT]
    test esi, esi
    jz .Lis_not_meant
    add rcx, rsi
    jmp .Lnext_version
.Lversion_found:
    test byte ptr [rcx + DEFINITION_FLAGS], 1
    jnz .Lreturn                # the name of the file, which is no version
    mov esi, [rcx + DEFINITION_NAMES]
    mov esi, [rcx + rsi]
    mov r11, r14

# Whether the string rsi of the module is the text at r11: ZF. Changes rcx, rsi and r11.
.Lis_string:
    add rsi, [r12 + Module_strings]
    add rsi, rbx
.Lnext_of_string:
    movzx ecx, byte ptr [rsi]
    cmp cl, [r11]
    jne .Lreturn
    inc rsi
    inc r11
    test cl, cl
    jnz .Lnext_of_string
    ret
