//! Bruce Dawson's workload: its options, counts and images.

use crate::{Arch, Format, PeOptions};

/// Bruce Dawson's generator: classes with virtual functions.
///
/// PE: a program with a Guard CF table of all functions, for x86_64.
///
/// ELF: one program. Every class has a vtable, type information and one object, so it takes four
/// relocations and one more for each function. The program exits at the start of its code; with
/// `--call` it calls every function through its object and checks what it returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dawson {
    /// Number of source files.
    pub sources: u32,
    /// Classes of each source file.
    pub classes: u32,
    /// Virtual functions of each class.
    pub functions: u32,
    /// Format of the images.
    pub format: Format,
    /// Processor of the images.
    pub arch: Arch,
    /// PE: bytes of an entry in the Guard CF function table, 4, or 5 with a byte of flags.
    pub guard_entry_bytes: u32,
    /// PE: what only its images have.
    pub pe: PeOptions,
}

impl Default for Dawson {
    /// As published, at the lower end: 16 sources of 50 classes without functions.
    fn default() -> Dawson {
        Dawson {
            sources: 16,
            classes: 50,
            functions: 0,
            format: Format::Elf,
            arch: Arch::X86_64,
            guard_entry_bytes: 4,
            pe: PeOptions::default(),
        }
    }
}

impl Dawson {
    /// Classes of all sources.
    pub(crate) fn all_classes(&self) -> u64 {
        u64::from(self.sources) * u64::from(self.classes)
    }

    /// Name of a class as C++ mangles it; sources and classes count from 1.
    pub(crate) fn class(source: u32, class: u32) -> String {
        let name = format!("Source{source}Class{class}");
        format!("{}{name}", name.len())
    }
}
