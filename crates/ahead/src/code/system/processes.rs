//! Processes: their children, their signals and limits, and what they become.

use super::{ask, call, plain, stat};

pub const EINTR: isize = -4;
const SIGALRM: usize = 14;
/// Bytes of a set of signals.
const SIGNAL_SET: usize = 8;
const POLL: usize = 7;
const ALARM: usize = 37;
const GETPID: usize = 39;
const CLONE: usize = 56;
const EXECVE: usize = 59;
const EXIT: usize = 60;
const WAIT4: usize = 61;
const CHDIR: usize = 80;
const SETSID: usize = 112;
const GETRUSAGE: usize = 98;
const GETEUID: usize = 107;
const PRLIMIT64: usize = 302;
const PIPE2: usize = 293;
const PRCTL: usize = 157;
const KILL: usize = 62;
const RT_SIGACTION: usize = 13;
const RT_SIGPROCMASK: usize = 14;
/// clone(2): children that share the descriptors.
pub const CLONE_FILES: usize = 0x400;
/// wait4(2): children that end without a signal, too.
const WALL: usize = 0x4000_0000;
const RLIMIT_NOFILE: usize = 7;

pub fn exit(code: u8) -> ! {
    loop {
        plain(EXIT, [code.into(), 0, 0]);
    }
}

/// The user for whom files are opened.
pub fn own_user() -> u32 {
    plain(GETEUID, [0, 0, 0]) as u32
}

pub fn process_id() -> isize {
    plain(GETPID, [0, 0, 0])
}

/// A copy of this process, with which it shares what `flags` say and no memory; its end is told by no
/// signal. 0 in the copy.
pub fn clone(flags: usize) -> isize {
    // SAFETY: without a stack of its own the copy goes on with its copy of this one.
    unsafe { call(CLONE, [flags, 0, 0, 0, 0, 0]) }
}

/// Waits for a child, or for any with -1. Whether one has ended.
pub fn wait_for(child: isize) -> bool {
    loop {
        // SAFETY: no status is wanted.
        match unsafe { call(WAIT4, [child.cast_unsigned(), 0, WALL, 0, 0, 0]) } {
            EINTR => {}
            result => return result >= 0,
        }
    }
}

/// A pipe that is closed on exec: where it is read, and where it is written.
pub fn pipe() -> Option<(i32, i32)> {
    let mut ends = [0_i32; 2];
    // SAFETY: two descriptors have room.
    let result = unsafe { call(PIPE2, [(&raw mut ends) as usize, 0o2_000_000, 0, 0, 0, 0]) };
    (result == 0).then_some((ends[0], ends[1]))
}

/// Waits until there is something to read, or the other end is closed. Whether it came to that.
pub fn wait_readable(descriptor: i32, most_ms: usize) -> bool {
    let mut watched = [u64::from(descriptor.cast_unsigned()) | 1 << 32];
    // SAFETY: one `struct pollfd`, which has eight bytes.
    unsafe { call(POLL, [(&raw mut watched) as usize, 1, most_ms, 0, 0, 0]) > 0 }
}

/// Leaves the caller's session and folder.
pub fn leave() {
    plain(SETSID, [0, 0, 0]);
    // SAFETY: the path ends with NUL.
    unsafe { call(CHDIR, [c"/".as_ptr() as usize, 0, 0, 0, 0, 0]) };
}

/// Whether children of this process's children become its own.
pub fn is_subreaper() -> bool {
    const PR_GET_CHILD_SUBREAPER: usize = 37;
    let mut answer = 0_i32;
    // SAFETY: one number has room.
    let result =
        unsafe { call(PRCTL, [PR_GET_CHILD_SUBREAPER, (&raw mut answer) as usize, 0, 0, 0, 0]) };
    result == 0 && answer != 0
}

/// Whether a child would be the first process of a namespace, which would end with it.
pub fn would_found_namespace() -> bool {
    stat(b"/proc/self/ns/pid_for_children\0").is_none() && stat(b"/proc/self\0").is_some()
}

/// Ends all processes of a group by force.
pub fn end_group(group: isize) {
    const SIGKILL: usize = 9;
    plain(KILL, [group.wrapping_neg().cast_unsigned(), SIGKILL, 0]);
}

/// Ends this process in so many seconds, whatever the caller has done with that signal.
pub fn alarm(seconds: usize) {
    let (action, none) = ([0_u64; 4], 0_u64);
    // SAFETY: an action without a handler, and an empty set.
    unsafe {
        call(RT_SIGACTION, [SIGALRM, (&raw const action) as usize, 0, SIGNAL_SET, 0, 0]);
        call(RT_SIGPROCMASK, [2, (&raw const none) as usize, 0, SIGNAL_SET, 0, 0]);
    }
    plain(ALARM, [seconds, 0, 0]);
}

/// Blocks that were read from storage for this thread, by system calls or page faults (getrusage(2), `ru_inblock`).
pub fn blocks_read() -> u64 {
    const RUSAGE_THREAD: usize = 1;
    const IN_BLOCKS: usize = 11;
    let mut usage = [0; 18];
    // SAFETY: the argument is a number, and the structure is `struct rusage`.
    unsafe { ask(GETRUSAGE, RUSAGE_THREAD, &mut usage) };
    usage[IN_BLOCKS]
}

/// As many open files as are permitted.
pub fn raise_open_files() {
    let mut now = [0_u64; 2];
    let at = (&raw mut now) as usize;
    // SAFETY: the structure has two words.
    if unsafe { call(PRLIMIT64, [0, RLIMIT_NOFILE, 0, at, 0, 0]) } == 0 {
        let most = [now[1], now[1]];
        // SAFETY: as above.
        unsafe { call(PRLIMIT64, [0, RLIMIT_NOFILE, (&raw const most) as usize, 0, 0, 0]) };
    }
}

/// # Safety
/// The path ends with NUL, both lists with a null, and all their strings with NUL.
pub unsafe fn execve(path: *const u8, words: *const usize, environment: *const usize) -> isize {
    // SAFETY: the caller's.
    unsafe { call(EXECVE, [path as usize, words as usize, environment as usize, 0, 0, 0]) }
}
