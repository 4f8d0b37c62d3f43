# What is done before the loader relocates the bundle: it is read ahead, pages that relocation writes to
# are copied, many at once, pages that a recorded launch used are mapped, and packed relocations (RELR) are
# applied, of which the loader is not told.
#
# The loader calls .Learly as the resolver of a local IFUNC symbol, in the first relocation of the
# bundle that is not relative: before it has touched the pages that relocation, initialization and the
# program touch. No code of the program runs before that. Nothing is known here of arguments and
# environment.
#
# The kernel copies a page of the file when it is first written to, one at a time, and each costs more
# than what is written to it. Whatever fails here is left to it.
# Registers, from .Learly on: rbx start of the preamble, r15 struct Header.

.set LARGE_PAGE, 0x200000
.set RUSAGE_LENGTH, 144         # struct rusage
.set RUSAGE_FAULTS, 64          # ru_minflt
.set RANGES_AT_ONCE, 128
.set PIDFD_SELF_THREAD, -10000

.Learly:
    endbr64
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    sub rsp, 8                  # a multiple of 16 then
    lea rbx, [rip + .Lbegin]
    lea r15, [rip + .Ltables]
    mov r14, [r15 + Header_ahead]
    test r14, r14
    jz .Lcopy_early
    add r14, rbx
    call .Lahead
.Lcopy_early:
    call .Lcopy_written
    call .Lmap_recorded
    call .Lrelocate
    mov rax, rbx                # for a word that nobody reads
    add rsp, 8
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret

# Copies the pages of the list. Of the first ranges each is a large page.
.Lcopy_written:
    mov r12, [r15 + Header_written]
    add r12, rbx
    mov r13, [r15 + Header_written_count]
    mov rbp, [r15 + Header_written_large_count]
.Lnext_written:
    sub r13, 1
    jb .Lreturn
    mov r14, [r12 + Range_offset]
    add r14, rbx
    test rbp, rbp
    jnz .Lwritten_large
.Lwritten_small:
    mov rdi, r14
    mov rsi, [r12 + Range_length]
    mov edx, 23                 # MADV_POPULATE_WRITE
    mov eax, 28                 # madvise
    syscall
    jmp .Lwritten_done
.Lwritten_large:
    dec rbp
    test r14d, LARGE_PAGE - 1   # older kernels place a bundle at any page
    jnz .Lwritten_small
    call .Lcopy_large
    jnz .Lwritten_small
.Lwritten_done:
    add r12, Range_SIZE
    jmp .Lnext_written

# Maps the pages that a recorded launch used, many with each call. Kernels before Linux 6.15 do not do that.
.Lmap_recorded:
    mov r12, [r15 + Header_recorded]
    add r12, rbx
    mov r13, [r15 + Header_recorded_read_count]
    mov ebp, 22                 # MADV_POPULATE_READ
    call .Lmap_ranges
    mov r13, [r15 + Header_recorded_written_count]
    mov ebp, 23                 # MADV_POPULATE_WRITE
.Lmap_ranges:
    sub rsp, RANGES_AT_ONCE * Range_SIZE # struct iovec has the fields of Range
.Lmap_more:
    xor edx, edx                # how many
.Lput_range:
    test r13, r13
    jz .Lmap_vector
    dec r13
    mov rax, [r12 + Range_offset]
    add rax, rbx
    mov rcx, [r12 + Range_length]
    add r12, Range_SIZE
    mov rdi, rdx
    shl rdi, 4
    mov [rsp + rdi], rax
    mov [rsp + rdi + 8], rcx
    inc edx
    cmp edx, RANGES_AT_ONCE
    jb .Lput_range
.Lmap_vector:
    test edx, edx
    jz .Lmapped
    mov rdi, PIDFD_SELF_THREAD
    mov rsi, rsp
    mov r10d, ebp
    xor r8d, r8d
    mov eax, 440                # process_madvise
    syscall
    test rax, rax
    jns .Lmap_more
.Lmapped:
    add rsp, RANGES_AT_ONCE * Range_SIZE
    ret

# Copies LARGE_PAGE bytes at r14 into a large page, which takes their place; ZF where that was done. If
# there is no large page, nothing is changed, and no more are asked for: rbp is 0 then.
.Lcopy_large:
    xor edi, edi
    mov esi, 2 * LARGE_PAGE
    mov edx, 3                  # PROT_READ | PROT_WRITE
    mov r10d, 0x4022            # MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
    or r8, -1
    xor r9d, r9d
    mov eax, 9                  # mmap
    syscall
    cmp rax, -4096
    ja .Lno_room
    mov r9, rax                 # the mapping
    lea r8, [rax + LARGE_PAGE - 1]
    and r8, -LARGE_PAGE         # the copy in it
    mov rdi, r8
    mov esi, LARGE_PAGE
    mov edx, 14                 # MADV_HUGEPAGE
    mov eax, 28                 # madvise
    syscall
    test eax, eax
    jnz .Lno_large_page
    mov byte ptr [r8], 0        # brings in a page: where that is a large one, its end is there, too
    call .Lcount_faults
    jnz .Lno_large_page
    mov rdx, rcx
    mov byte ptr [r8 + LARGE_PAGE - 1], 0
    call .Lcount_faults
    jnz .Lno_large_page
    cmp rdx, rcx
    jne .Lno_large_page
    mov rdi, r8
    mov rsi, r14
    mov ecx, LARGE_PAGE / 8
    rep movsq
    # What is around the copy goes while it is there: another thread may map something where the copy was.
    mov rdi, r9
    mov rsi, r8
    sub rsi, r9
    jz .Lnothing_before
    mov eax, 11                 # munmap
    syscall
.Lnothing_before:
    lea rdi, [r8 + LARGE_PAGE]
    lea rsi, [r9 + 2 * LARGE_PAGE]
    sub rsi, rdi
    jz .Lnothing_behind
    mov eax, 11                 # munmap
    syscall
.Lnothing_behind:
    mov rdi, r8
    mov esi, LARGE_PAGE
    mov edx, LARGE_PAGE
    mov r10d, 3                 # MREMAP_MAYMOVE | MREMAP_FIXED
    mov r8, r14
    mov eax, 25                 # mremap
    syscall
    cmp rax, r14
    je .Lreturn
    # What was in the place may be gone: the copy takes it in another way.
    push rdi
    mov rdi, r14
    mov esi, LARGE_PAGE
    mov edx, 3                  # PROT_READ | PROT_WRITE
    mov r10d, 0x32              # MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
    or r8, -1
    xor r9d, r9d
    mov eax, 9                  # mmap
    syscall
    pop rsi
    cmp rax, r14
    jne .Llost
    push rsi
    mov rdi, r14
    mov ecx, LARGE_PAGE / 8
    rep movsq
    pop rdi
    mov esi, LARGE_PAGE
    mov eax, 11                 # munmap
    syscall
    xor ebp, ebp
    ret
.Llost:
    hlt
.Lno_large_page:
    mov rdi, r9
    mov esi, 2 * LARGE_PAGE
    mov eax, 11                 # munmap
    syscall
.Lno_room:
    xor ebp, ebp
    or eax, -1                  # clears ZF
    ret

# How many page faults this thread has had: rcx, and ZF. Changes rax, rsi, rdi and r11.
.Lcount_faults:
    sub rsp, RUSAGE_LENGTH
    mov edi, 1                  # RUSAGE_THREAD
    mov rsi, rsp
    mov eax, 98                 # getrusage
    syscall
    mov rcx, [rsp + RUSAGE_FAULTS]
    add rsp, RUSAGE_LENGTH
    test eax, eax
    ret

# What the loader does for DT_RELR: words hold addresses, or bits for the 63 words behind the last.
.Lrelocate:
    mov rsi, [r15 + Header_packed]
    add rsi, rbx
    mov rcx, [r15 + Header_packed_count]
    mov rdx, rbx
    sub rdx, [r15 + Header_own_address] # what is added
.Lnext_packed:
    sub rcx, 1
    jb .Lreturn
    mov rax, [rsi]
    add rsi, 8
    shr rax, 1
    jc .Lrelocate_bits
    lea rdi, [rdx + 2 * rax]
    add [rdi], rdx
    add rdi, 8
    jmp .Lnext_packed
.Lrelocate_bits:
    jz .Lbits_done
.Lnext_bit:
    bsf r8, rax
    add [rdi + 8 * r8], rdx
    lea r9, [rax - 1]
    and rax, r9
    jnz .Lnext_bit
.Lbits_done:
    add rdi, 8 * 63
    jmp .Lnext_packed
