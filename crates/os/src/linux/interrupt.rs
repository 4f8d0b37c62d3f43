//! Signals that end a program by default: Ctrl-C and SIGTERM, turned into a flag that long work
//! looks at, and those of limits and of files that are cut short.

use rustix::process::Signal;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The first signal that asked to stop; 0 before that.
static REQUESTED: AtomicI32 = AtomicI32::new(0);
/// Whether the terminal sent it: then every process in the foreground has got it.
static BY_TERMINAL: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes valid information to handlers with SA_SIGINFO.
    let by_kernel = unsafe { (*info).si_code } == libc::SI_KERNEL;
    BY_TERMINAL.store(by_kernel, Ordering::Relaxed);
    REQUESTED.store(signal, Ordering::Relaxed);
}

/// Installs the handlers: SIGINT, SIGTERM and SIGHUP ask the command to stop in good order.
pub fn install() {
    let handler = on_signal as extern "C" fn(_, _, _);
    // SAFETY: the handler only stores to atomics; a zeroed sigaction is a valid one, and outlives
    // the calls.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO;
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Has `handler` called for each of `signals`, upon which blocking calls return.
///
/// # Safety
/// The handler makes only calls that a handler may make (signal-safety(7)).
pub(crate) unsafe fn handle(signals: &[libc::c_int], handler: extern "C" fn(libc::c_int)) {
    // SAFETY: a zeroed sigaction is a valid one without flags, and outlives the calls.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        for &signal in signals {
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Whether the user has asked to stop.
pub fn requested() -> bool {
    signal().is_some()
}

/// The signal by which the user has asked to stop.
pub fn signal() -> Option<i32> {
    Some(REQUESTED.load(Ordering::Relaxed)).filter(|&signal| signal != 0)
}

/// The signal to pass on to a program in the foreground, unless the terminal has done that.
pub(crate) fn signal_to_pass_on() -> Option<Signal> {
    match signal() {
        Some(_) if BY_TERMINAL.load(Ordering::Relaxed) => None,
        Some(libc::SIGINT) => Some(Signal::INT),
        Some(libc::SIGHUP) => Some(Signal::HUP),
        Some(_) => Some(Signal::TERM),
        None => None,
    }
}

extern "C" fn do_nothing(_: libc::c_int) {}

/// A file that outgrows `ulimit -f` becomes an error of the write, which names the file, instead of
/// SIGXFSZ and a sudden end that leaves temporary files behind. Programs that are launched get the
/// default back: a handler does not survive execve.
pub fn survive_file_size_limit() {
    // SAFETY: the handler does nothing.
    unsafe { handle(&[libc::SIGXFSZ], do_nothing) };
}

/// The exit code where a file is cut short.
static CUT_SHORT: AtomicI32 = AtomicI32::new(libc::EXIT_FAILURE);

extern "C" fn on_cut_file(_: libc::c_int) {
    const WORDS: &[u8] = b"headstart: a file could not be read to its end: it was truncated while \
        headstart read it, or its disk failed; run the command again when no other program writes \
        to the file (if it made a new folder, remove that first)\n";
    // SAFETY: both calls may be made by a handler (signal-safety(7)); the text is static.
    unsafe {
        libc::write(libc::STDERR_FILENO, WORDS.as_ptr().cast(), WORDS.len());
        libc::_exit(CUT_SHORT.load(Ordering::Relaxed));
    }
}

/// Files are mapped, and one that somebody truncates meanwhile has no bytes there any more: SIGBUS.
/// It ends headstart with these words and this exit code, as kill -9 would: temporary files stay.
pub fn tell_of_cut_files(code: u8) {
    CUT_SHORT.store(code.into(), Ordering::Relaxed);
    // SAFETY: the handler calls only what a handler may. It runs on the thread's usual stack: SIGBUS
    // does not come from a stack that overflows on Linux.
    unsafe { handle(&[libc::SIGBUS], on_cut_file) };
}
