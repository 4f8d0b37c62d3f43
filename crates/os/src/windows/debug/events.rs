//! What the debug API reports about a launch: one event at a time, while the process that it is about is stopped.

use crate::windows::LaunchError;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::windows::io::FromRawHandle;
use windows_sys::Win32::Foundation::{
    DBG_CONTINUE, DBG_EXCEPTION_NOT_HANDLED, ERROR_SEM_TIMEOUT, EXCEPTION_BREAKPOINT,
    EXCEPTION_INVALID_HANDLE, EXCEPTION_SINGLE_STEP, GetLastError, HANDLE,
    STATUS_HANDLE_NOT_CLOSABLE, STATUS_WX86_BREAKPOINT,
};
use windows_sys::Win32::System::Diagnostics::Debug::{
    CREATE_PROCESS_DEBUG_EVENT, CREATE_THREAD_DEBUG_EVENT, ContinueDebugEvent, DEBUG_EVENT,
    EXCEPTION_DEBUG_EVENT, EXIT_PROCESS_DEBUG_EVENT, EXIT_THREAD_DEBUG_EVENT, LOAD_DLL_DEBUG_EVENT,
    UNLOAD_DLL_DEBUG_EVENT, WaitForDebugEvent,
};

/// An event. Its process stays stopped until [`proceed`] is called.
pub(in crate::windows) struct Event {
    pub(in crate::windows) pid: u32,
    pub(in crate::windows) thread: u32,
    pub(in crate::windows) kind: EventKind,
}

/// What has happened. The system closes the handles of processes and threads when these are gone.
pub(in crate::windows) enum EventKind {
    /// A process begins.
    Begun { process: HANDLE, thread: HANDLE, base: usize, file: Option<File> },
    /// A thread begins.
    ThreadBegun { thread: HANDLE },
    /// A thread has ended.
    ThreadEnded,
    /// A DLL has been mapped.
    Loaded { base: usize, file: Option<File> },
    /// A DLL is about to be unmapped.
    Unloaded { base: usize },
    /// A breakpoint was reached.
    Breakpoint { at: usize },
    /// The loader of a 32-bit program stops for debuggers, or the program has a breakpoint of its own.
    Breakpoint32,
    /// A thread has executed one instruction and was to stop then.
    Stepped,
    /// A handle was used that is none, or one closed that may not be. The system raises this exception only in
    /// programs that are debugged.
    BadHandle,
    /// Another exception was raised, which is the program's affair.
    Exception,
    /// The last thread of a process has ended.
    Ended { code: u32 },
    /// Something that is of no interest here.
    Other,
}

/// Waits for the next event, for `ms` at most.
///
/// # Errors
/// What the system says.
pub(in crate::windows) fn next(ms: u32) -> Result<Option<Event>, LaunchError> {
    let mut event = MaybeUninit::<DEBUG_EVENT>::zeroed();
    // SAFETY: the event outlives the call; all of its parts may be zero.
    let event = unsafe {
        if WaitForDebugEvent(event.as_mut_ptr(), ms) == 0 {
            return match GetLastError() {
                ERROR_SEM_TIMEOUT => Ok(None),
                _ => Err(failed("the program could not be debugged")),
            };
        }
        event.assume_init()
    };
    // SAFETY: each part is read of the kind of event that has it, and its file handle, where there is one,
    // is the debugger's to close.
    let kind = unsafe {
        match event.dwDebugEventCode {
            CREATE_PROCESS_DEBUG_EVENT => {
                let begun = event.u.CreateProcessInfo;
                EventKind::Begun {
                    process: begun.hProcess,
                    thread: begun.hThread,
                    base: begun.lpBaseOfImage.addr(),
                    file: owned(begun.hFile),
                }
            }
            CREATE_THREAD_DEBUG_EVENT => {
                EventKind::ThreadBegun { thread: event.u.CreateThread.hThread }
            }
            EXIT_THREAD_DEBUG_EVENT => EventKind::ThreadEnded,
            LOAD_DLL_DEBUG_EVENT => {
                let loaded = event.u.LoadDll;
                EventKind::Loaded { base: loaded.lpBaseOfDll.addr(), file: owned(loaded.hFile) }
            }
            UNLOAD_DLL_DEBUG_EVENT => {
                EventKind::Unloaded { base: event.u.UnloadDll.lpBaseOfDll.addr() }
            }
            EXIT_PROCESS_DEBUG_EVENT => EventKind::Ended { code: event.u.ExitProcess.dwExitCode },
            EXCEPTION_DEBUG_EVENT => {
                let record = event.u.Exception.ExceptionRecord;
                match record.ExceptionCode {
                    EXCEPTION_BREAKPOINT => {
                        EventKind::Breakpoint { at: record.ExceptionAddress.addr() }
                    }
                    EXCEPTION_SINGLE_STEP => EventKind::Stepped,
                    STATUS_WX86_BREAKPOINT => EventKind::Breakpoint32,
                    EXCEPTION_INVALID_HANDLE | STATUS_HANDLE_NOT_CLOSABLE => EventKind::BadHandle,
                    _ => EventKind::Exception,
                }
            }
            _ => EventKind::Other,
        }
    };
    Ok(Some(Event { pid: event.dwProcessId, thread: event.dwThreadId, kind }))
}

/// # Safety
/// The handle is nobody else's.
unsafe fn owned(file: HANDLE) -> Option<File> {
    let is_open = !file.is_null() && file.addr() != usize::MAX;
    // SAFETY: as the caller says.
    is_open.then(|| unsafe { File::from_raw_handle(file) })
}

/// Lets the process continue, with an exception `handled` or passed on to the program.
///
/// # Errors
/// What the system says.
pub(in crate::windows) fn proceed(pid: u32, thread: u32, handled: bool) -> Result<(), LaunchError> {
    let status = if handled { DBG_CONTINUE } else { DBG_EXCEPTION_NOT_HANDLED };
    // SAFETY: no pointer is passed.
    match unsafe { ContinueDebugEvent(pid, thread, status) } {
        0 => Err(failed("the program could not continue under the debugger")),
        _ => Ok(()),
    }
}

fn failed(action: &'static str) -> LaunchError {
    LaunchError::failed(action, "run it again without another debugger attached")(
        io::Error::last_os_error(),
    )
}
