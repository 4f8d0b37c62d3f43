//! Ctrl-C and SIGTERM, turned into a flag that long work looks at.

use std::sync::atomic::{AtomicBool, Ordering};

static REQUESTED: AtomicBool = AtomicBool::new(false);

extern "C" fn on_signal(_: libc::c_int) {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Installs the handlers: SIGINT, SIGTERM and SIGHUP ask the command to stop in good order.
pub fn install() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores to an atomic; without SA_RESTART blocking calls return.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as extern "C" fn(libc::c_int) as usize;
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
    // SAFETY: the handler does nothing; a zeroed sigaction is a valid one without flags.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = do_nothing as extern "C" fn(libc::c_int) as usize;
        libc::sigaction(libc::SIGXFSZ, &action, std::ptr::null_mut());
    }
}
