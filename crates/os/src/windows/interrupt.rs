//! What ends a program by default: Ctrl-C, which is turned into a flag that long work looks at, and
//! files that cannot be read to their end.

use std::io::Write;
use std::os::windows::io::{AsRawHandle, OwnedHandle, RawHandle};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;
use windows_sys::Win32::Foundation::EXCEPTION_IN_PAGE_ERROR;
use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::Win32::System::Diagnostics::Debug::{
    EXCEPTION_CONTINUE_SEARCH, EXCEPTION_POINTERS, SetUnhandledExceptionFilter,
};
use windows_sys::Win32::System::Threading::SetEvent;
use windows_sys::core::BOOL;

static REQUESTED: AtomicBool = AtomicBool::new(false);
/// Set with the flag, for waits.
static EVENT: OnceLock<OwnedHandle> = OnceLock::new();

/// Called on a thread of its own.
unsafe extern "system" fn on_control(kind: u32) -> BOOL {
    REQUESTED.store(true, Ordering::Relaxed);
    if let Some(event) = event() {
        // SAFETY: the event is never closed.
        unsafe { SetEvent(event) };
    }
    if kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT {
        // The window is closed or the user logs off: the process ends when this returns, or some
        // seconds later.
        std::thread::sleep(Duration::from_secs(20));
    }
    1
}

/// Installs the handler: Ctrl-C, Ctrl-Break and the end of the console ask the command to stop in
/// good order.
pub fn install() {
    let made = super::launcher::new_event();
    if let Ok(event) = made {
        EVENT.get_or_init(|| event);
    }
    // SAFETY: the handler stores to an atomic, sets an event and may sleep, on a thread of its own.
    unsafe { SetConsoleCtrlHandler(Some(on_control), 1) };
}

/// Whether the user has asked to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// Set when the user asks to stop; `None` before [`install`].
pub(super) fn event() -> Option<RawHandle> {
    EVENT.get().map(AsRawHandle::as_raw_handle)
}

/// The signal by which the user has asked to stop: Windows has none.
pub fn signal() -> Option<i32> {
    None
}

/// The exit code where a file cannot be read to its end.
static CUT_SHORT: AtomicU8 = AtomicU8::new(1);

unsafe extern "system" fn on_exception(exception: *const EXCEPTION_POINTERS) -> i32 {
    // SAFETY: the system passes a valid record to filters.
    let code = unsafe { (*(*exception).ExceptionRecord).ExceptionCode };
    if code != EXCEPTION_IN_PAGE_ERROR {
        return EXCEPTION_CONTINUE_SEARCH;
    }
    // Whoever holds its lock may be the thread that failed.
    let words = "headstart: a file could not be read to its end: its disk failed or its connection \
                 was lost; run the command again when it can be read (if it made a new folder, \
                 remove that first)\n";
    let _ = std::io::stderr().write_all(words.as_bytes());
    std::process::exit(CUT_SHORT.load(Ordering::Relaxed).into());
}

/// Files are mapped, and one whose disk fails has no bytes there: an exception, which ends headstart
/// with these words and this exit code. Windows cuts no file short that is mapped.
pub fn tell_of_cut_files(code: u8) {
    CUT_SHORT.store(code, Ordering::Relaxed);
    // SAFETY: the filter reads what the system passes to it, and ends the process or declines.
    unsafe {
        SetUnhandledExceptionFilter(Some(on_exception));
    }
}

/// Files may become as large as the disk is: a full one is an error of the write.
pub fn survive_file_size_limit() {}
