//! The seccomp filter that stops tracees at a few system calls and lets the others run freely.
//!
//! Classic BPF over `struct seccomp_data` (seccomp(2)): nr at 0, arch at 4, args from 16.

use super::{arch, waits};
use libc::sock_filter;

/// Why a filter stopped a tracee: the value that PTRACE_GETEVENTMSG gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Reason {
    /// The thread pointer is set: glibc's loader has mapped every library, musl's none yet.
    ThreadPointer = 1,
    /// execve or execveat.
    Execute = 2,
    /// A library's writable segment is mapped.
    MapLibrary = 3,
    /// A call on the file system.
    File = 4,
    /// A call that may wait.
    Wait = 5,
    /// Code of a file is mapped.
    MapCode = 6,
    /// The action of SIGTRAP is read or replaced.
    TrapAction = 7,
    /// Which signals are blocked changes.
    Mask = 8,
    /// The process takes its memory from its tracer.
    Undumpable = 9,
    /// Memory is made executable.
    ProtectCode = 10,
    /// A clone that may ask for a child without a tracer.
    Clone = 11,
    /// The program calls ptrace itself.
    Trace = 12,
    /// The program waits for what it may trace.
    AwaitTracee = 13,
    /// Memory gets another address.
    MoveMemory = 14,
}

/// Added to a reason: filters of the program's own hardly have messages like these.
const MARK: u16 = 0x4800;

impl Reason {
    /// The reason behind an event message.
    pub fn from_message(message: u64) -> Option<Self> {
        use Reason::{AwaitTracee, Clone, MoveMemory, ProtectCode, Trace, Undumpable, Wait};
        use Reason::{Execute, File, MapCode, MapLibrary, Mask, ThreadPointer, TrapAction};
        let ours = [MapCode, TrapAction, Mask, Undumpable, ProtectCode, Clone, Trace, AwaitTracee];
        let all = [ThreadPointer, Execute, MapLibrary, File, Wait, MoveMemory];
        let mut all = all.into_iter().chain(ours);
        all.find(|&reason| u64::from(reason.message()) == message)
    }

    fn message(self) -> u16 {
        MARK | self as u16
    }
}

/// Which stops a launch needs.
pub struct Wanted {
    /// Address of the path in the launcher's own execve, which passes without a stop: nobody is
    /// there to handle it.
    pub own_exec: u64,
    /// Stop where a library's writable segment is mapped (for musl's loader).
    pub map_library: bool,
    /// Stop at calls on the file system.
    pub files: bool,
    /// Stop at calls that may wait; not together with `files`.
    pub waits: bool,
}

/// System calls on the file system that take a path; getdents64 stands for its folder.
const FILE_CALLS: [i64; 13] = [
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
];

const NR: u32 = 0;
const ARCH: u32 = 4;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

/// A system call at which tracees stop, and its instructions of the filter.
pub struct FilteredCall {
    number: i64,
    body: Vec<sock_filter>,
}

impl FilteredCall {
    /// Every call of this number.
    pub fn any(number: i64, reason: Reason) -> Self {
        FilteredCall { number, body: vec![stop(reason)] }
    }

    /// mmap of a file, executable.
    pub fn map_code() -> Self {
        let body = vec![
            load(low(2)),
            jump(libc::BPF_JSET, libc::PROT_EXEC as u32, 0, 3),
            load(low(4)),
            jump(libc::BPF_JEQ, u32::MAX, 1, 0),
            stop(Reason::MapCode),
        ];
        FilteredCall { number: libc::SYS_mmap, body }
    }

    /// mprotect that makes memory executable.
    pub fn protect_code() -> Self {
        let body = vec![
            load(low(2)),
            jump(libc::BPF_JSET, libc::PROT_EXEC as u32, 0, 1),
            stop(Reason::ProtectCode),
        ];
        FilteredCall { number: libc::SYS_mprotect, body }
    }

    /// rt_sigaction of this signal.
    pub fn action_of(signal: i32) -> Self {
        let body =
            vec![load(low(0)), jump(libc::BPF_JEQ, signal as u32, 0, 1), stop(Reason::TrapAction)];
        FilteredCall { number: libc::SYS_rt_sigaction, body }
    }

    /// rt_sigprocmask with a set; without one it only asks.
    pub fn set_mask() -> Self {
        let body = vec![
            load(low(1)),
            jump(libc::BPF_JEQ, 0, 0, 2),
            load(low(1) + 4),
            jump(libc::BPF_JEQ, 0, 1, 0),
            stop(Reason::Mask),
        ];
        FilteredCall { number: libc::SYS_rt_sigprocmask, body }
    }

    /// clone with CLONE_UNTRACED.
    pub fn untraced_clone() -> Self {
        let flag = libc::CLONE_UNTRACED as u32;
        let body = vec![load(low(0)), jump(libc::BPF_JSET, flag, 0, 1), stop(Reason::Clone)];
        FilteredCall { number: libc::SYS_clone, body }
    }

    /// wait4 for children of all kinds, as tracers call it.
    pub fn wait_for_all_kinds() -> Self {
        let flag = libc::__WALL as u32;
        let body = vec![load(low(2)), jump(libc::BPF_JSET, flag, 0, 1), stop(Reason::AwaitTracee)];
        FilteredCall { number: libc::SYS_wait4, body }
    }

    /// prctl(PR_SET_DUMPABLE, 0).
    pub fn undumpable() -> Self {
        let body = vec![
            load(low(0)),
            jump(libc::BPF_JEQ, libc::PR_SET_DUMPABLE as u32, 0, 3),
            load(low(1)),
            jump(libc::BPF_JEQ, 0, 0, 1),
            stop(Reason::Undumpable),
        ];
        FilteredCall { number: libc::SYS_prctl, body }
    }
}

/// Builds a filter that stops at these calls and at execve.
pub fn build_of(own_exec: u64, calls: Vec<FilteredCall>) -> Vec<sock_filter> {
    let mut code = beginning();
    rule(&mut code, libc::SYS_execve, &execve(own_exec));
    rule(&mut code, libc::SYS_execveat, &[stop(Reason::Execute)]);
    for call in calls {
        rule(&mut code, call.number, &call.body);
    }
    code.push(ret(ALLOW));
    code
}

/// Other processors' calls pass; then the number is looked at. The numbers of x32 equal none of
/// these.
fn beginning() -> Vec<sock_filter> {
    let is_ours = jump(libc::BPF_JEQ, arch::AUDIT_ARCH, 1, 0);
    vec![load(ARCH), is_ours, ret(ALLOW), load(NR)]
}

/// Builds the filter.
pub fn build(wanted: &Wanted) -> Vec<sock_filter> {
    // The kernel runs the filter once for every call number when it is installed: short is
    // fast.
    let mut code = beginning();
    let thread_pointer = [
        load(low(0)),
        jump(libc::BPF_JEQ, arch::SET_THREAD_POINTER, 0, 1),
        stop(Reason::ThreadPointer),
    ];
    rule(&mut code, libc::SYS_arch_prctl, &thread_pointer);
    rule(&mut code, libc::SYS_execve, &execve(wanted.own_exec));
    rule(&mut code, libc::SYS_execveat, &[stop(Reason::Execute)]);
    if wanted.map_library {
        rule(&mut code, libc::SYS_mmap, &map_library());
    }
    if wanted.files {
        for call in FILE_CALLS {
            rule(&mut code, call, &file_call(call));
        }
    }
    if wanted.waits {
        for call in waits::CALLS {
            rule(&mut code, call.number, &wait_call(call.number));
        }
    }
    code.push(ret(ALLOW));
    code
}

fn execve(own_exec: u64) -> Vec<sock_filter> {
    vec![
        load(low(0)),
        jump(libc::BPF_JEQ, own_exec as u32, 0, 2),
        load(low(0) + 4),
        jump(libc::BPF_JEQ, (own_exec >> 32) as u32, 1, 0),
        stop(Reason::Execute),
    ]
}

/// mmap of a file at a fixed address, writable: the last segment of a library.
fn map_library() -> Vec<sock_filter> {
    vec![
        load(low(2)),
        jump(libc::BPF_JSET, libc::PROT_WRITE as u32, 0, 5),
        load(low(3)),
        jump(libc::BPF_JSET, libc::MAP_FIXED as u32, 0, 3),
        load(low(4)),
        jump(libc::BPF_JEQ, u32::MAX, 1, 0),
        stop(Reason::MapLibrary),
    ]
}

/// AT_EMPTY_PATH makes a stat the fstat of an open file, which looks nothing up.
fn file_call(call: i64) -> Vec<sock_filter> {
    let flags = match call {
        libc::SYS_newfstatat => low(3),
        libc::SYS_statx => low(2),
        _ => return vec![stop(Reason::File)],
    };
    vec![load(flags), jump(libc::BPF_JSET, libc::AT_EMPTY_PATH as u32, 1, 0), stop(Reason::File)]
}

/// futex that wakes others does not wait itself, and fcntl waits for locks only.
fn wait_call(call: i64) -> Vec<sock_filter> {
    const FUTEX_COMMAND: u32 = !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) as u32;
    let wait = stop(Reason::Wait);
    match call {
        libc::SYS_futex => vec![
            load(low(1)),
            statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, FUTEX_COMMAND),
            jump(libc::BPF_JEQ, libc::FUTEX_WAKE as u32, 2, 0),
            jump(libc::BPF_JEQ, libc::FUTEX_WAKE_OP as u32, 1, 0),
            wait,
        ],
        libc::SYS_fcntl => vec![
            load(low(1)),
            jump(libc::BPF_JEQ, libc::F_SETLKW as u32, 1, 0),
            jump(libc::BPF_JEQ, libc::F_OFD_SETLKW as u32, 0, 1),
            wait,
        ],
        _ => vec![wait],
    }
}

/// Appends "if the call is `nr`: `body`, otherwise allow".
fn rule(code: &mut Vec<sock_filter>, nr: i64, body: &[sock_filter]) {
    code.push(jump(libc::BPF_JEQ, nr as u32, 0, body.len() as u8 + 1));
    code.extend_from_slice(body);
    code.push(ret(ALLOW));
}

/// Offset of the low half of an argument (little endian).
fn low(argument: u32) -> u32 {
    16 + 8 * argument
}

fn load(offset: u32) -> sock_filter {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset)
}

fn ret(value: u32) -> sock_filter {
    statement(libc::BPF_RET | libc::BPF_K, value)
}

fn stop(reason: Reason) -> sock_filter {
    ret(libc::SECCOMP_RET_TRACE | u32::from(reason.message()))
}

fn statement(code: u32, k: u32) -> sock_filter {
    sock_filter { code: code as u16, jt: 0, jf: 0, k }
}

fn jump(operation: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: (libc::BPF_JMP | operation | libc::BPF_K) as u16, jt, jf, k }
}
