# Reads the bundle ahead, where it is not in memory.
#
# The first parts are asked for here, the others by a process of its own, so that the program runs
# meanwhile. That process is no child of the program and has none of its descriptors.
#
# Whatever fails, the start goes on. No descriptor stays open.
# Registers, from .Lahead on: rbx start of the preamble, rbp frame, r14 struct Ahead, r15 struct Header.

.set ASKED, 144                 # behind struct stat: what mincore says of a page, or any byte
.set LOOK, 152                  # struct iovec of one byte
.set IS_READER, 168             # 1 in the process of its own
.set WINDOW_AT, 172             # offset of the oldest in:
.set BLOCKS_READ, 176           # blocks read from storage before the first look
.set WINDOW, 192                # requests under way: file, and offset of the last byte or -1 to close
.set WINDOW_SIZE, 32 * 16       # a power of 2
.set AHEAD_FRAME, WINDOW + WINDOW_SIZE
# The kernel cuts longer requests, silently, to the larger of read-ahead and the longest request.
.set CHUNK, 0x20000
.set READ_QUIETLY, 0x80900      # O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK
.set READER_SECONDS, 60         # a disk that takes longer does not answer
.set STAT_END, 144              # size of struct stat and of struct rusage
.set RU_INBLOCK, 88
.set FIRST_NAMESPACE_LENGTH, 16

# r14 is struct Ahead. Changes all registers but rbx and r15.
.Lahead:
    sub rsp, AHEAD_FRAME
    mov rbp, rsp
    call .Lis_cold
    jne .Lahead_done
    call .Lread
.Lahead_done:
    add rsp, AHEAD_FRAME
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

# To everybody but its present owner mincore says that all of the file is there. Others can ask for a byte that needs
# no reading. Where the file system does not answer that, they cannot know.
.Lnone_absent:
    call .Lblocks_read
    mov [rbp + BLOCKS_READ], rax
    lea rdi, [rip + .Ltext_own_file]
    mov rsi, rbp
    mov eax, 4                  # stat
    syscall
    test eax, eax
    jnz .Lis_stranger
    mov eax, 107                # geteuid
    syscall
    cmp eax, [rbp + STAT_OWNER]
    je .Lare_others_cold
.Lis_stranger:
    call .Lopen_own
    test eax, eax
    js .Lare_others_cold
    mov edi, eax
    mov r12, [r14 + Ahead_samples]
    add r12, r14
    mov r13, [r14 + Ahead_sample_count]
.Lnext_look:
    xor eax, eax
    sub r13, 1
    jb .Llooked
    mov r10, [r12 + Sample_file_offset]
    add r12, Sample_SIZE
    call .Llook
    je .Llooked
    cmp eax, -95                # EOPNOTSUPP
    jne .Lnext_look
    mov eax, -11                # EAGAIN
.Llooked:
    call .Lclose_looked
    je .Lreturn

# Whether one of the other files that are looked at is not in memory: ZF.
.Lare_others_cold:
    mov r12, [r14 + Ahead_looks]
    add r12, r14
    mov r13, [r14 + Ahead_look_count]
.Lnext_other:
    sub r13, 1
    jb .Lis_warm
    call .Lopen_part
    mov r10, [r12 + Look_file_offset]
    add r12, Look_SIZE
    test eax, eax
    js .Lnext_other
    mov edi, eax
    call .Llook
    call .Lclose_looked
    jne .Lnext_other
    ret
# Looking at a page that is not in memory makes the kernel read it, and may then find it in memory. So ZF is also
# set if anything has been read.
.Lis_warm:
    call .Lblocks_read
    cmp rax, [rbp + BLOCKS_READ]
    sete al
    test al, al
    ret

# rax: blocks that were read from storage for this thread, by system calls or page faults.
.Lblocks_read:
    mov edi, 1                  # RUSAGE_THREAD
    mov rsi, rbp
    mov eax, 98                 # getrusage
    syscall
    mov rax, [rbp + RU_INBLOCK]
    ret

# Whether the byte at r10 of the file edi is not in memory: ZF, and eax is EAGAIN.
.Llook:
    lea rsi, [rbp + LOOK]
    lea rax, [rbp + ASKED]
    mov [rsi], rax
    mov edx, 1
    mov [rsi + 8], rdx
    xor r8d, r8d
    mov r9d, 8                  # RWF_NOWAIT
    mov eax, 327                # preadv2
    syscall
    cmp eax, -11                # EAGAIN
    ret

# Closes the file edi, and tells what was told of it: ZF where eax is EAGAIN.
.Lclose_looked:
    push rax
    mov eax, 3                  # close
    syscall
    pop rax
    cmp eax, -11
    ret

# Everything: the first parts here, and the others, too, where nobody else can do it.
.Lread:
    mov dword ptr [rbp + IS_READER], 0
    mov r12, [r14 + Ahead_parts]
    add r12, r14
    mov r13, [r14 + Ahead_before_count]
    call .Lread_parts
    mov r13, [r14 + Ahead_part_count]
    sub r13, [r14 + Ahead_before_count]
    jz .Lreturn
    call .Lstart_reader
    jnz .Lread_parts
    ret

# Starts the process that reads the r13 parts at r12; ZF where it runs. A subreaper would inherit it, and
# in a container the first process, which may not wait for it: there is none then.
.Lstart_reader:
    lea rdi, [rip + .Ltext_namespace]
    mov rsi, rbp
    mov edx, STAT_END
    mov eax, 89                 # readlink
    syscall
    cmp eax, FIRST_NAMESPACE_LENGTH
    jne .Lno_reader
    lea rsi, [rip + .Ltext_first_namespace]
    mov rdi, rbp
    mov ecx, eax
    repe cmpsb
    jne .Lno_reader
    mov edi, 37                 # PR_GET_CHILD_SUBREAPER
    lea rsi, [rbp + ASKED]
    mov dword ptr [rbp + ASKED], 1
    mov eax, 157                # prctl
    syscall
    cmp dword ptr [rbp + ASKED], 0
    jne .Lno_reader
    mov edi, 0x4100             # CLONE_VM | CLONE_VFORK, and no signal at its end
    xor esi, esi
    xor edx, edx
    xor r10d, r10d
    xor r8d, r8d
    mov eax, 56                 # clone
    syscall
    test eax, eax
    js .Lno_reader
    jz .Lbetween
    mov edi, eax
    lea rsi, [rbp + ASKED]
    mov edx, 0x40000000         # __WALL
    xor r10d, r10d
.Lawait_between:
    mov eax, 61                 # wait4
    syscall
    cmp eax, -4                 # EINTR
    je .Lawait_between
    cmp dword ptr [rbp + ASKED], 0
    ret
.Lno_reader:
    or eax, -1                  # clears ZF
    ret

# A process between, whose end makes the reader nobody's child. It has the caller's memory, which it
# does not change.
.Lbetween:
    xor edi, edi
    mov eax, 56                 # clone, of the memory, too; the other arguments are as before
    syscall
    test eax, eax
    jz .Lreader
    shr eax, 31                 # 1 where that has failed
    mov edi, eax
    mov eax, 231                # exit_group
    syscall
    hlt

# Gives up the caller's session, folder and descriptors, and does not live long.
.Lreader:
    mov eax, 112                # setsid
    syscall
    lea rdi, [rip + .Ltext_root]
    mov eax, 80                 # chdir
    syscall
    xor edi, edi
    mov esi, -1
    xor edx, edx
    mov eax, 436                # close_range
    syscall
    test eax, eax
    jz .Lclosed
    mov edi, 1024               # Linux before 5.9; more are rarely there
.Lclose_next:
    sub edi, 1
    js .Lclosed
    mov eax, 3                  # close
    syscall
    jmp .Lclose_next
.Lclosed:
    pxor xmm0, xmm0             # no handler, no flags, an empty set
    movups [rbp], xmm0
    movups [rbp + 16], xmm0
    mov edi, 14                 # SIGALRM
    mov rsi, rbp
    xor edx, edx
    mov r10d, 8
    mov eax, 13                 # rt_sigaction
    syscall
    mov edi, 2                  # SIG_SETMASK
    mov rsi, rbp
    xor edx, edx
    mov eax, 14                 # rt_sigprocmask
    syscall
    mov edi, READER_SECONDS
    mov eax, 37                 # alarm
    syscall
    mov dword ptr [rbp + IS_READER], 1
    mov dword ptr [rbp + WINDOW_AT], 0
    mov ecx, WINDOW_SIZE / 8
    lea rdi, [rbp + WINDOW]
    or rax, -1
    rep stosq
    call .Lread_parts
    xor edi, edi
    mov eax, 231                # exit_group
    syscall
    hlt

# The r13 parts at r12, each of a file that is still the recorded one; the next part is at r12 then.
.Lread_parts:
    sub r13, 1
    jb .Lreturn
    call .Lopen_part
    test eax, eax
    js .Lpart_read
    mov edi, eax
    call .Lread_of_file
.Lpart_read:
    add r12, Part_SIZE
    jmp .Lread_parts

# Opens the file of the part at r12, if it is still the recorded one: eax, which is negative otherwise.
.Lopen_part:
    cmp qword ptr [r12 + Part_path], 0
    je .Lopen_own
    mov edi, NO_FOLDER
    mov rsi, [r12 + Part_path]
    add rsi, r14
    mov rdx, rbp
    xor r10d, r10d
    mov eax, 262                # newfstatat
    syscall
    test eax, eax
    jnz .Lother_file
    mov rax, [rbp + STAT_INODE]
    cmp rax, [r12 + Part_inode]
    jne .Lother_file
    mov rax, [rbp + STAT_SIZE]
    cmp rax, [r12 + Part_size]
    jne .Lother_file
    mov rax, [rbp + STAT_MODIFIED]
    cmp rax, [r12 + Part_modified_seconds]
    jne .Lother_file
    mov rax, [rbp + STAT_MODIFIED + 8]
    cmp rax, [r12 + Part_modified_nanoseconds]
    jne .Lother_file
    mov rdi, [r12 + Part_path]
    add rdi, r14
    jmp .Lopen_quietly
.Lopen_own:
    lea rdi, [rip + .Ltext_own_file]
.Lopen_quietly:
    mov esi, READ_QUIETLY
    mov eax, 2                  # open
    syscall
    ret
.Lother_file:
    or eax, -1
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

# The ranges of the part at r12, of the file edi, which is closed.
.Lread_of_file:
    push r12
    push r13
    mov r13, [r12 + Part_range_count]
    mov r12, [r12 + Part_ranges]
    add r12, r14
    cmp dword ptr [rbp + IS_READER], 0
    je .Lnext_of_file
    xor esi, esi
    xor edx, edx
    mov r10d, 1                 # POSIX_FADV_RANDOM: what is awaited reads nothing else
    mov eax, 221                # fadvise64
    syscall
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
    lea rsi, [r8 - 1]
    cmp dword ptr [rbp + IS_READER], 0
    je .Lnext_file_chunk
    call .Lawait_oldest
    jmp .Lnext_file_chunk
.Lfile_read:
    pop r13
    pop r12
    mov rsi, -1
    cmp dword ptr [rbp + IS_READER], 0
    jne .Lawait_oldest
.Lclose_file:
    mov eax, 3                  # close
    syscall
    ret

# Puts the file edi, and the offset rsi of a byte that is read ahead or -1, in the place of the oldest
# request, which is awaited: the program's own reads would wait behind many. rdi, r8 and r9 are kept.
.Lawait_oldest:
    mov ecx, [rbp + WINDOW_AT]
    lea rdx, [rbp + rcx + WINDOW]
    add ecx, 16
    and ecx, WINDOW_SIZE - 1
    mov [rbp + WINDOW_AT], ecx
    push rdi
    xchg rdi, [rdx]
    xchg rsi, [rdx + 8]
    test rsi, rsi
    js .Lclose_oldest
    mov r10, rsi
    lea rsi, [rbp + ASKED]
    mov edx, 1
    mov eax, 17                 # pread64
    syscall
    pop rdi
    ret
.Lclose_oldest:
    call .Lclose_file
    pop rdi
    ret
