//! Where the loader of a process stops once for debuggers: in ntdll, and in that of 32-bit programs, which runs above it.

use std::ops::Range;

/// Whether the loaders of a process have stopped.
#[derive(Default)]
pub(in crate::windows) struct LoaderStops {
    /// Where ntdll is, the first DLL, once it is mapped.
    pub(in crate::windows) ntdll: Option<Range<usize>>,
    stopped: bool,
    stopped32: bool,
}

impl LoaderStops {
    /// Whether an address is in ntdll.
    pub(in crate::windows) fn contains(&self, at: usize) -> bool {
        self.ntdll.as_ref().is_some_and(|ntdll| ntdll.contains(&at))
    }

    /// Whether a breakpoint at `at`, which is not headstart's, is that of the loader, which comes first.
    pub(in crate::windows) fn is_it(&mut self, at: usize) -> bool {
        let is_it = !self.stopped && self.contains(at);
        self.stopped |= is_it;
        is_it
    }

    /// The same for a breakpoint of a 32-bit thread.
    pub(in crate::windows) fn is_it32(&mut self) -> bool {
        !std::mem::replace(&mut self.stopped32, true)
    }
}
