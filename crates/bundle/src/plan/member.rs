//! A module that is merged, and where its addresses are in the bundle.

use image::elf::Loadable;
use image::elf::records::ProgramHeader;
use loader::Module;
use model::{BundleVa, FileOffset, ModuleId, TlsOffset, Va};

/// A module that is merged.
pub(crate) struct Member<'a> {
    pub(crate) id: ModuleId,
    pub(crate) module: &'a Module,
    /// Its tables.
    pub(crate) image: &'a Loadable,
    /// What is added to its own addresses.
    pub(crate) base: u64,
    /// What is added to its own addresses for an offset in a file in which nothing but headers comes first.
    pub(super) file_base: u64,
    /// Its own address of the first page.
    pub(super) low: Va,
    /// Where its thread-local storage begins in the bundle's.
    pub(crate) tls: TlsOffset,
    /// Parts that are mapped, at their own addresses.
    pub(crate) parts: Vec<ProgramHeader>,
    /// What becomes read-only once it is relocated is never written to, and is mapped read-only.
    pub(crate) constant: bool,
}

impl Member<'_> {
    /// An own address as one of the bundle.
    pub(crate) fn moved(&self, address: Va) -> BundleVa {
        BundleVa(self.base.wrapping_add(address.0))
    }

    /// Where an own address is in a file in which nothing but headers comes first.
    pub(super) fn offset(&self, address: Va) -> FileOffset {
        FileOffset(self.file_base.wrapping_add(address.0))
    }

    /// Its first page.
    pub(crate) fn start(&self) -> BundleVa {
        self.moved(self.low)
    }

    /// Where it ends.
    pub(crate) fn end(&self) -> BundleVa {
        self.moved(self.parts.iter().map(ProgramHeader::end).max().unwrap_or(self.low))
    }
}
