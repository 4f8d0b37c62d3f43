//! Signals that end a program by default: Ctrl-C and SIGTERM, turned into a flag that long work
//! looks at, and those of limits and of files that are cut short.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_: libc::c_int) {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Installs the handlers: SIGINT, SIGTERM and SIGHUP ask the command to stop in good order.
pub fn install() {
    // SAFETY: the handler only stores to an atomic.
    unsafe { handle(&[libc::SIGINT, libc::SIGTERM, libc::SIGHUP], on_signal) };
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
    REQUESTED.load(Ordering::Relaxed)
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
