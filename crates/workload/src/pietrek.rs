//! Matt Pietrek's workload: its options, counts and images.

use crate::{Arch, Format, PeOptions};

/// How the program names what it imports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// By name.
    #[default]
    Name,
    /// By ordinal; PE only.
    Ordinal,
}

/// Matt Pietrek's MakeLoadTimeTest: libraries of exported functions, each of which stores its
/// address in globals of its library, and a program that imports every function.
///
/// Every global is initialized with the address of its function, so it takes one relocation. The
/// program exits at the start of its code; with `--call` it calls every import and checks that
/// each returns the number of the right function, counted from 1 through all libraries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pietrek {
    /// Number of libraries.
    pub dlls: u32,
    /// Exported functions of each library.
    pub functions: u32,
    /// Globals, and so relocations, of each function.
    pub globals: u32,
    /// How imports are named.
    pub by: By,
    /// Format of the images.
    pub format: Format,
    /// Processor of the images.
    pub arch: Arch,
    /// ELF: bind imports at their first call instead of at start.
    pub lazy: bool,
    /// PE: what only its images have.
    pub pe: PeOptions,
}

impl Default for Pietrek {
    /// As published: 10 libraries of 100 functions with 5 globals each.
    fn default() -> Pietrek {
        Pietrek {
            dlls: 10,
            functions: 100,
            globals: 5,
            by: By::Name,
            format: Format::Elf,
            arch: Arch::X86_64,
            lazy: false,
            pe: PeOptions::default(),
        }
    }
}

impl Pietrek {
    /// Name of a function; libraries and functions count from 1.
    pub(crate) fn function(library: u32, function: u32) -> String {
        format!("LoadTimeDLL_{library}_func_{function}")
    }

    /// What a function returns; unique in the workload.
    pub(crate) fn identity(&self, library: u32, function: u32) -> u32 {
        (library - 1) * self.functions + function
    }
}
