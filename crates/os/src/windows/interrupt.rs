//! What ends a program by default and is told in words first.

use std::io::Write;
use std::sync::atomic::{AtomicU8, Ordering};
use windows_sys::Win32::Foundation::EXCEPTION_IN_PAGE_ERROR;
use windows_sys::Win32::System::Diagnostics::Debug::{
    EXCEPTION_CONTINUE_SEARCH, EXCEPTION_POINTERS, SetUnhandledExceptionFilter,
};

/// The signal by which the user has asked to stop: Windows has none, and Ctrl-C ends the process.
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
    let words = "headstart: a file could not be read to its end: its disk failed, or the connection \
                 to it; run the command again when it can be read (if it made a new folder, remove \
                 that first)\n";
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
