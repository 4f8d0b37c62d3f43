//! The instruction that a thread executes next.

use std::io;
use windows_sys::Win32::Foundation::HANDLE;

/// Whether headstart can set breakpoints in programs for this build's processor.
pub(super) const IS_HERE: bool = cfg!(target_arch = "x86_64");

/// `int3`.
pub(super) const BREAKPOINT: u8 = 0xcc;

/// Has a stopped thread execute the instruction at `at` next.
///
/// # Errors
/// What the system says.
#[cfg(target_arch = "x86_64")]
pub(super) fn go_on_at(thread: HANDLE, at: usize) -> io::Result<()> {
    use windows_sys::Win32::System::Diagnostics::Debug::{
        CONTEXT, CONTEXT_CONTROL_AMD64, GetThreadContext, SetThreadContext,
    };

    /// Aligned as the system demands.
    #[repr(align(16))]
    struct Aligned(CONTEXT);

    let mut context = Aligned(CONTEXT::default());
    context.0.ContextFlags = CONTEXT_CONTROL_AMD64;
    // SAFETY: the context is aligned and outlives the calls, and the thread is stopped.
    let is_set = unsafe {
        GetThreadContext(thread, &mut context.0) != 0 && {
            context.0.Rip = at as u64;
            SetThreadContext(thread, &context.0) != 0
        }
    };
    if is_set { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Never called: no breakpoint is set.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn go_on_at(_thread: HANDLE, _at: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
