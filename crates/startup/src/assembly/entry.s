# The preamble's texts, and the function that the loader calls.
#
# Nothing here needs relocation. shared.rs gives the offsets of the structs' fields (Header_must)
# and the directory in front of the texts. Registers, from .Lentry on:
#   rbx  start of the preamble    r12d argc     r13 argv     r14 envp
#   r15  struct Header            rbp  frame, whose fields are named below
# A system call of Linux changes rax, rcx and r11 only.

.set STAT, 0                    # struct stat
.set OTHER_STAT, 144            # another one
.set CAUSE, 288                 # text after the subject of a message
.set SUBJECT, 296               # what has changed: a text
.set PIECES, 304                # struct iovec of a message, eight at most
.set NUMBER, 432                # digits of an error number
.set FOLDER, 448                # open folder of the records, AT_FDCWD, or its error
.set LOADER_WORDS, 456          # words with which to start the loader once more, or 0
.set GIVEN, 464                 # path of the original that was given, and what belongs to it
.set GIVEN_LENGTH, 472
.set GIVEN_BASE, 480
.set IS_OWN, 488                # 1 where the program has executed itself
.set STARTED, 496               # path of what is started where the bundle is stale
.set TRACE, 504                 # whether somebody asks, and how
.set CACHE, 512                 # the loader's cache in memory, its bytes, and its entries
.set CACHE_SIZE, 520
.set CACHE_ENTRIES, 528
.set OWN_NAME, 536              # the name by which the bundle was started: a text
.set FRAME, 552                 # with 6 registers and the return address: 608 bytes

.set STAT_INODE, 8
.set STAT_MODE, 24
.set STAT_OWNER, 28
.set PRIVILEGED, 06000          # S_ISUID | S_ISGID
.set STAT_SIZE, 48
.set STAT_MODIFIED, 88
.set STAT_CHANGED, 104

.Ltext_proc:        .asciz "/proc/"
.Ltext_self:        .asciz "self/exe"
.Ltext_thread:      .asciz "thread-self/exe"
.Ltext_exe:         .asciz "/exe"
.Ltext_own_file:    .asciz "/proc/self/exe"
# Of the same meaning, as nobody else writes it.
.Ltext_executed:    .asciz "/proc//self/exe"
.Ltext_executed_file: .asciz "/proc/self//exe"
.Ltext_root:        .asciz "/"
.Ltext_capability:  .asciz "security.capability"
.Ltext_namespace:   .asciz "/proc/self/ns/pid_for_children"
.Ltext_first_namespace: .asciz "pid:[4026531836]" # PROC_PID_INIT_INO of the kernel
.Ltext_origin:      .asciz "$ORIGIN"
.Ltext_origin_braced: .asciz "${{ORIGIN}}"
.Ltext_trace:       .asciz "HEADSTART_TRACE="
.Ltext_answer:      .asciz "verify"
.Ltext_used:        .asciz "used"
.Ltext_stale:       .asciz "stale"
.Ltext_instead:     .asciz "; starting the original: "
.Ltext_line:        .asciz "\n"
.Ltext_audit:       .asciz "LD_AUDIT="
.Ltext_vdso:        .asciz "linux-vdso.so.1"
.Ltext_cache:       .asciz "/etc/ld.so.cache"
.Ltext_cache_magic: .asciz "glibc-ld.so.cache1.1"
.Ltext_cached:      .asciz " is not what it was in the loader's cache, /etc/ld.so.cache, when the bundle was made"
.Ltext_build:       .asciz " is not the build (build-id) with which the bundle was made"
.Ltext_counter:     .asciz "HEADSTART_STALE="
.Ltext_counter_one: .asciz "HEADSTART_STALE=001"
.Ltext_headstart:   .asciz "headstart: "
.Ltext_colon:       .asciz ": "
.Ltext_changed:     .asciz " is not what it was when the bundle was made"
.Ltext_command:     .asciz "/proc/self/cmdline"
.Ltext_options:     .asciz "an option of the loader"
.Ltext_not_given:   .asciz " was not given when the bundle was made"
.Ltext_c_library:   .asciz "libc.so.6"
.Ltext_loader:      .asciz "the loader keeps other records than the bundle knows"
.Ltext_memory:      .asciz "the kernel refuses to protect the bundle's constants"
.Ltext_library_path: .asciz "LD_LIBRARY_PATH"
.Ltext_leads:       .asciz " leads to other libraries than when the bundle was made"
.Ltext_argument:    .asciz "a first argument that begins with + and chooses another program"
.Ltext_nothing:     .asciz ""
.Ltext_missing:     .asciz ", and the original program is missing: install it again, or remove the bundle\n"
.Ltext_interpreter: .asciz ", and the interpreter of the original program is missing: install it, or remove the bundle\n"
.Ltext_denied:      .asciz ", and the original program may not be executed: permit it (chmod +x; a file system may be mounted with noexec), or remove the bundle\n"
.Ltext_format:      .asciz ", and what is in the original program's place is not a program: put the original back, or remove the bundle\n"
.Ltext_refused:     .asciz ", and the original program cannot be started (error "
.Ltext_refused_end: .asciz "): fix that, or make the bundle again\n"
.Ltext_itself:      .asciz ", and the bundle itself stands in the original program's place: put the original back and make the bundle elsewhere\n"
.Ltext_loop:        .asciz ", and what is in the original program's place has started the bundle again 500 times: put the original back, or make the bundle again\n"
.Ltext_forbidden:   .asciz ", and HEADSTART_STALE is set to something other than a number, which forbids starting the original program: unset it, or make the bundle again\n"

.balign 16
.Lcode:

# int argc, char **argv, char **envp, as every function of DT_PREINIT_ARRAY.
.Lentry:
    endbr64
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    sub rsp, FRAME
    mov rbp, rsp
    lea rbx, [rip + .Lbegin]
    lea r15, [rip + .Ltables]
    mov r12d, edi
    mov r13, rsi
    mov r14, rdx
    call .Lfind_given
    call .Lfind_trace
    call .Lcheck_loader
    call .Lcheck_environment
    call .Lcheck_library_path
    call .Lcheck_argument
    call .Lcheck_records
    call .Lcheck_builds
    call .Lfill_table
    call .Ladd_names
    call .Ltell
    call .Ltell_debugger
    call .Lprotect
    call .Ltrace_used
    add rsp, FRAME
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret

# Every occurrence of every variable of the list must have the expected value.
.Lcheck_environment:
    lea rax, [rip + .Ltext_changed]
    mov [rbp + CAUSE], rax
    mov r8, [r15 + Header_variables]
    add r8, rbx
    mov r9, [r15 + Header_variable_count]
.Lnext_variable:
    sub r9, 1
    jb .Lreturn
    mov rdx, [r8 + Variable_name_with_equals_sign]
    add rdx, rbx
    mov r10, [r8 + Variable_is_expected] # 1 while a value is expected and not yet found
    mov r11, r14
    movzx ecx, byte ptr [rdx]
.Lnext_entry:
    mov rdi, [r11]
    add r11, 8
    test rdi, rdi
    jz .Lentries_end
    cmp [rdi], cl
    jne .Lnext_entry
    mov rsi, rdx
    call .Lskip_text
    jne .Lnext_entry
    mov rsi, [r8 + Variable_expected] # empty for a variable that must be unset
    add rsi, rbx
    call .Lskip_text
    jne .Lstale_variable
    cmp byte ptr [rdi], 0
    jne .Lstale_variable
    xor r10d, r10d
    jmp .Lnext_entry
.Lentries_end:
    test r10, r10
    jnz .Lstale_variable
    add r8, Variable_SIZE
    jmp .Lnext_variable
.Lstale_variable:
    mov rax, [r8 + Variable_name]
    add rax, rbx
    mov [rbp + SUBJECT], rax
    jmp .Lstale
.Lreturn:
    ret

# Whether the text at rdi begins with the one at rsi: ZF, and rdi stands behind it.
# Changes rax and rsi too.
.Lskip_text:
    movzx eax, byte ptr [rsi]
    test al, al
    jz .Lreturn
    cmp al, [rdi]
    jne .Lreturn
    inc rsi
    inc rdi
    jmp .Lskip_text
