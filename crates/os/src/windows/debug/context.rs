//! The registers of a stopped thread, as far as breakpoints need them.

use std::io;
use windows_sys::Win32::Foundation::HANDLE;
#[cfg(target_arch = "x86_64")]
use windows_sys::Win32::System::Diagnostics::Debug::{
    CONTEXT, CONTEXT_CONTROL_AMD64, GetThreadContext, SetThreadContext,
};

use windows_sys::Win32::System::Threading::{ResumeThread, SuspendThread};

/// Whether headstart can set breakpoints in programs for this build's processor.
pub(in crate::windows) const IS_HERE: bool = cfg!(target_arch = "x86_64");

/// `int3`.
pub(in crate::windows) const BREAKPOINT: u8 = 0xcc;

/// `pushfq`.
pub(in crate::windows) const PUSH_FLAGS: u8 = 0x9c;

/// Of the flags register: an exception behind the next instruction.
pub(in crate::windows) const TRAP: u32 = 0x100;

/// How a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::windows) enum Step {
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
pub(in crate::windows) fn go_on_at(thread: HANDLE, at: usize, step: Step) -> io::Result<usize> {
    change(thread, |context| {
        context.Rip = at as u64;
        context.EFlags |= if step == Step::One { TRAP } else { 0 };
    })
}

/// Has a stopped thread go on without an exception behind the next instruction.
///
/// # Errors
/// What the system says.
#[cfg(target_arch = "x86_64")]
pub(in crate::windows) fn run(thread: HANDLE) -> io::Result<()> {
    change(thread, |context| context.EFlags &= !TRAP).map(drop)
}

/// Has a thread wait, whatever its process does, until [`resume`]; how often it was suspended before. `None` where it
/// is gone.
pub(in crate::windows) fn suspend(thread: HANDLE) -> Option<u32> {
    // SAFETY: no pointer is passed; a handle of a thread that is gone is refused.
    match unsafe { SuspendThread(thread) } {
        u32::MAX => None,
        before => Some(before),
    }
}

/// Ends a [`suspend`].
pub(in crate::windows) fn resume(thread: HANDLE) {
    // SAFETY: no pointer is passed; a handle of a thread that is gone is refused.
    unsafe { ResumeThread(thread) };
}

/// Where a stopped thread goes on, and its stack pointer.
///
/// # Errors
/// What the system says.
#[cfg(target_arch = "x86_64")]
pub(in crate::windows) fn place(thread: HANDLE) -> io::Result<(usize, usize)> {
    let mut at = 0;
    let stack = change(thread, |context| at = context.Rip as usize)?;
    Ok((at, stack))
}

#[cfg(target_arch = "x86_64")]
fn change(thread: HANDLE, change: impl FnOnce(&mut CONTEXT)) -> io::Result<usize> {
    /// Aligned as the system demands.
    #[repr(align(16))]
    struct Aligned(CONTEXT);

    let mut context = Aligned(CONTEXT::default());
    context.0.ContextFlags = CONTEXT_CONTROL_AMD64;
    // SAFETY: the context is aligned and outlives the calls, and the thread is stopped.
    let is_set = unsafe {
        GetThreadContext(thread, &mut context.0) != 0 && {
            change(&mut context.0);
            SetThreadContext(thread, &context.0) != 0
        }
    };
    if is_set { Ok(context.0.Rsp as usize) } else { Err(io::Error::last_os_error()) }
}

/// Never called: no breakpoint is set.
#[cfg(not(target_arch = "x86_64"))]
pub(in crate::windows) fn place(_thread: HANDLE) -> io::Result<(usize, usize)> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Never called: no breakpoint is set.
#[cfg(not(target_arch = "x86_64"))]
pub(in crate::windows) fn run(_thread: HANDLE) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Never called: no breakpoint is set.
#[cfg(not(target_arch = "x86_64"))]
pub(in crate::windows) fn go_on_at(_thread: HANDLE, _at: usize, _step: Step) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}
