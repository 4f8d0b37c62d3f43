//! The assembled code, and where its functions are.

use crate::WrappedFunction;

#[cfg(test)]
mod tests;

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the preamble exists for x86-64 only");

unsafe extern "C" {
    static headstart_preamble_begin: u8;
    static headstart_preamble_end: u8;
}

/// The code, with its directory and texts before it; the tables go right behind it.
pub(crate) fn code() -> &'static [u8] {
    let begin = &raw const headstart_preamble_begin;
    let end = &raw const headstart_preamble_end;
    // SAFETY: the assembler places both symbols in one section, the end behind the beginning,
    // and everything between them is read-only data of this program for as long as it runs.
    unsafe { std::slice::from_raw_parts(begin, end.offset_from_unsigned(begin)) }
}

/// What the directory with which the code begins says: an offset from the code's first byte.
fn directory(index: usize) -> u64 {
    let (words, _) = code().as_chunks::<4>();
    u32::from_le_bytes(words[index]).into()
}

/// Offset of the function for DT_PREINIT_ARRAY.
pub fn entry() -> u64 {
    directory(2)
}

/// Offset of the code for the entry point of the bundle's ELF header.
pub fn start() -> u64 {
    directory(3)
}

/// Offset of the function that reads the bundle ahead.
pub(crate) fn ahead() -> u64 {
    directory(4)
}

/// Offset of the resolver that relocates the bundle, and reads it ahead before that: for the first relocation.
pub fn early() -> u64 {
    directory(5)
}

/// Offset of the function that protects what a file of plug-ins has relocated: its first initializer.
pub fn plugin_entry() -> u64 {
    directory(6)
}

impl WrappedFunction {
    /// Offset of the preamble's function that stands in for this one.
    pub fn wrapper(self) -> u64 {
        directory(7 + self as usize)
    }

    /// Whether it asks the loader, or for what the loader has.
    pub fn asks_loader(self) -> bool {
        use WrappedFunction::{Dladdr, Dladdr1, Dlinfo, Dlmopen, Dlopen, Dlsym, Dlvsym};
        matches!(self, Dladdr | Dladdr1 | Dlinfo | Dlmopen | Dlopen | Dlsym | Dlvsym)
    }

    /// The symbol by which a bundle gives its preamble's function to its files of plug-ins.
    pub fn given(self) -> Option<&'static str> {
        match self {
            WrappedFunction::Dladdr => Some("__headstart_dladdr"),
            WrappedFunction::Dladdr1 => Some("__headstart_dladdr1"),
            WrappedFunction::Dlinfo => Some("__headstart_dlinfo"),
            WrappedFunction::Dlmopen => Some("__headstart_dlmopen"),
            WrappedFunction::Dlopen => Some("__headstart_dlopen"),
            WrappedFunction::Dlsym => Some("__headstart_dlsym"),
            WrappedFunction::Dlvsym => Some("__headstart_dlvsym"),
            _ => None,
        }
    }
}
