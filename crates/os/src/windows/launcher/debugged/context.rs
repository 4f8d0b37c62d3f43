//! The registers of a stopped thread, as far as breakpoints need them.

use std::io;
use windows_sys::Win32::Foundation::HANDLE;

/// Whether headstart can set breakpoints in programs for this build's processor.
pub(super) const IS_HERE: bool = cfg!(target_arch = "x86_64");

/// `int3`.
pub(super) const BREAKPOINT: u8 = 0xcc;

/// How a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// As it would.
    Run,
    /// For one instruction, behind which it raises an exception.
    One,
}

/// Has a stopped thread execute the instruction at `at` next; gives its stack pointer.
///
/// # Errors
/// What the system says.
#[cfg(target_arch = "x86_64")]
pub(super) fn go_on_at(thread: HANDLE, at: usize, step: Step) -> io::Result<usize> {
    use windows_sys::Win32::System::Diagnostics::Debug::{
        CONTEXT, CONTEXT_CONTROL_AMD64, GetThreadContext, SetThreadContext,
    };

    /// Of the flags register: an exception behind the next instruction.
    const TRAP: u32 = 0x100;

    /// Aligned as the system demands.
    #[repr(align(16))]
    struct Aligned(CONTEXT);

    let mut context = Aligned(CONTEXT::default());
    context.0.ContextFlags = CONTEXT_CONTROL_AMD64;
    // SAFETY: the context is aligned and outlives the calls, and the thread is stopped.
    let is_set = unsafe {
        GetThreadContext(thread, &mut context.0) != 0 && {
            context.0.Rip = at as u64;
            context.0.EFlags |= if step == Step::One { TRAP } else { 0 };
            SetThreadContext(thread, &context.0) != 0
        }
    };
    if is_set { Ok(context.0.Rsp as usize) } else { Err(io::Error::last_os_error()) }
}

/// Never called: no breakpoint is set.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn go_on_at(_thread: HANDLE, _at: usize, _step: Step) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}
