# Reads the bundle ahead, where it is not in memory.
#
# The loader calls .Lahead as the resolver of a local IFUNC symbol, in the first relocation of the
# bundle: before it has touched the pages that relocation, initialization and the program touch. No
# code of the program runs before that. Nothing is known here of arguments and environment, and the
# bundle is not relocated yet: packed relocations (RELR), which the loader would apply sooner, are
# applied here.
#
# Whatever fails, the start goes on. No descriptor stays open, and there is no other thread or process.
# Registers, from .Lahead on: rbx start of the preamble, rbp frame, r14 struct Ahead, r15 struct Header.

.set ASKED, 144                 # behind struct stat: what mincore says of a page
.set LOOK, 152                  # struct iovec of one byte
.set AHEAD_FRAME, 168           # with 6 registers and the return address: a multiple of 16
# The kernel cuts longer requests, silently, to the larger of read-ahead and the longest request.
.set CHUNK, 0x20000
.set READ_QUIETLY, 0x80900      # O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK

.Lahead:
    endbr64
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    sub rsp, AHEAD_FRAME
    mov rbp, rsp
    lea rbx, [rip + .Lbegin]
    lea r15, [rip + .Ltables]
    mov r14, [r15 + Header_ahead]
    test r14, r14
    jz .Lahead_done
    add r14, rbx
    call .Lis_cold
    jne .Lahead_done
    call .Lread_own
    call .Lread_files
.Lahead_done:
    call .Lrelocate
    mov rax, rbx                # for a word that nobody reads
    add rsp, AHEAD_FRAME
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret

# Whether one of the sampled pages is not in memory: ZF.
.Lis_cold:
    mov r12, [r14 + Ahead_samples]
    add r12, r14
    mov r13, [r14 + Ahead_sample_count]
.Lnext_sample:
    sub r13, 1
    jb .Lnone_absent
    mov rdi, [r12 + Sample_offset]
    add rdi, rbx
    add r12, Sample_SIZE
    mov esi, 4096
    lea rdx, [rbp + ASKED]
    mov eax, 27                 # mincore
    syscall
    test eax, eax
    jnz .Lnext_sample
    test byte ptr [rbp + ASKED], 1
    jnz .Lnext_sample
    xor eax, eax
    ret

# To strangers mincore says that all is there. They can ask for a byte that needs no reading.
.Lnone_absent:
    mov eax, 107                # geteuid
    syscall
    cmp rax, [r14 + Ahead_owner]
    je .Lis_warm
    lea rdi, [rip + .Ltext_own_file]
    mov esi, READ_QUIETLY
    mov eax, 2                  # open
    syscall
    test eax, eax
    js .Lis_warm
    mov edi, eax
    lea rax, [rbp + ASKED]
    mov [rbp + LOOK], rax
    mov qword ptr [rbp + LOOK + 8], 1
    mov r12, [r14 + Ahead_samples]
    add r12, r14
    mov r13, [r14 + Ahead_sample_count]
.Lnext_look:
    xor eax, eax
    sub r13, 1
    jb .Llooked
    lea rsi, [rbp + LOOK]
    mov edx, 1
    mov r10, [r12 + Sample_file_offset]
    add r12, Sample_SIZE
    xor r8d, r8d
    mov r9d, 8                  # RWF_NOWAIT
    mov eax, 327                # preadv2
    syscall
    cmp eax, -11                # EAGAIN
    jne .Lnext_look
.Llooked:
    mov r12d, eax
    mov eax, 3                  # close
    syscall
    cmp r12d, -11
    ret
.Lis_warm:
    or eax, -1                  # clears ZF
    ret

# The bundle itself, by its file: what is mapped from several places of it side by side is one request
# then.
.Lread_own:
    lea rdi, [rip + .Ltext_own_file]
    mov esi, READ_QUIETLY
    mov eax, 2                  # open
    syscall
    test eax, eax
    js .Lreturn
    mov edi, eax
    mov r10, [r14 + Ahead_ranges]
    add r10, r14
    mov rdx, [r14 + Ahead_range_count]
    call .Lread_of_file
    mov eax, 3                  # close
    syscall
    ret

# Of r9 bytes from r8 the first chunk: rsi is its length, r8 and r9 are the rest; ZF where nothing was
# left.
.Ltake_chunk:
    mov esi, CHUNK
    cmp r9, rsi
    cmovb rsi, r9
    add r8, rsi
    sub r9, rsi
    test rsi, rsi
    ret

# Other files that a launch reads, where they are the recorded ones.
.Lread_files:
    mov r12, [r14 + Ahead_files]
    add r12, r14
    mov r13, [r14 + Ahead_file_count]
.Lnext_file:
    sub r13, 1
    jb .Lreturn
    mov edi, NO_FOLDER
    mov rsi, [r12 + File_path]
    add rsi, r14
    mov rdx, rbp
    xor r10d, r10d
    mov eax, 262                # newfstatat
    syscall
    test eax, eax
    jnz .Lfile_done
    mov rax, [rbp + STAT_INODE]
    cmp rax, [r12 + File_inode]
    jne .Lfile_done
    mov rax, [rbp + STAT_SIZE]
    cmp rax, [r12 + File_size]
    jne .Lfile_done
    mov rax, [rbp + STAT_MODIFIED]
    cmp rax, [r12 + File_modified_seconds]
    jne .Lfile_done
    mov rax, [rbp + STAT_MODIFIED + 8]
    cmp rax, [r12 + File_modified_nanoseconds]
    jne .Lfile_done
    mov rdi, [r12 + File_path]
    add rdi, r14
    mov esi, READ_QUIETLY
    mov eax, 2                  # open
    syscall
    test eax, eax
    js .Lfile_done
    mov edi, eax
    mov r10, [r12 + File_ranges]
    add r10, r14
    mov rdx, [r12 + File_range_count]
    call .Lread_of_file
    mov eax, 3                  # close
    syscall
.Lfile_done:
    add r12, File_SIZE
    jmp .Lnext_file

# The rdx ranges at r10 of the file edi.
.Lread_of_file:
    push r12
    push r13
    mov r12, r10
    mov r13, rdx
.Lnext_of_file:
    sub r13, 1
    jb .Lfile_read
    mov r8, [r12 + Range_offset]
    mov r9, [r12 + Range_length]
    add r12, Range_SIZE
.Lnext_file_chunk:
    mov r10, r8
    call .Ltake_chunk
    jz .Lnext_of_file
    mov rdx, rsi
    mov rsi, r10
    mov eax, 187                # readahead
    syscall
    jmp .Lnext_file_chunk
.Lfile_read:
    pop r13
    pop r12
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
