//! Why an image is not moved.

use crate::RefusalReason;
use image::pe::imports::ImportDamage;
use image::pe::relocations::TableDamage;
use model::{Rva, Va};

/// Why an image is not moved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// `IMAGE_FILE_RELOCS_STRIPPED`: it stays at this base.
    #[error(
        "its relocations were stripped, so it cannot be moved from {0:#x}; link it again \
         without /FIXED or --disable-reloc-section"
    )]
    Stripped(Va),
    /// The relocation table is damaged.
    #[error("{0}; the file is damaged: build or copy it again")]
    Table(#[from] TableDamage),
    /// A type that the machine does not have, or that is not known here.
    #[error(
        "the relocation at {rva:#x} has type {kind}{}, which is not supported", named(.name)
    )]
    Type {
        /// Address of what it changes.
        rva: Rva,
        /// `IMAGE_REL_BASED_*`.
        kind: u8,
        /// Its name, if it has one on that machine.
        name: Option<&'static str>,
    },
    /// What the relocation at an address changes is zero-filled memory, or nothing.
    #[error(
        "the relocation at {0:#x} changes bytes that are not stored in the file; a loader can \
         relocate them, but the file cannot"
    )]
    NotInFile(Rva),
    /// A relocation changes headers or the table itself.
    #[error("the relocation at {rva:#x} changes the {what}; the file is damaged, or packed")]
    Overwrites {
        /// Address of what it changes.
        rva: Rva,
        /// What is there.
        what: &'static str,
    },
    /// Two relocations change the same bytes; the address is that of the second.
    #[error(
        "two relocations change the bytes at {0:#x}, so the address there would be wrong at any \
         other base"
    )]
    Twice(Rva),
    /// The bytes to be changed at an address are in memory more than once.
    #[error(
        "the bytes that the relocation at {0:#x} changes are also mapped elsewhere in the \
         image, and would change there too; the file is packed, or damaged"
    )]
    Shared(Rva),
    /// MOV32 does not point at a pair of instructions.
    #[error("the {name} relocation at {rva:#x} is not on a pair of MOVW and MOVT instructions")]
    NotMov {
        /// Address of the first instruction.
        rva: Rva,
        /// The type's name.
        name: &'static str,
    },
    /// Half addresses need whole slots.
    #[error(
        "it has a relocation of half an address ({name} at {rva:#x}), so the distance must be a \
         multiple of 64 KiB: choose such a base"
    )]
    Unaligned {
        /// Address of what it changes.
        rva: Rva,
        /// The type's name.
        name: &'static str,
    },
    /// 32-bit addresses in PE32+.
    #[error(
        "it has 32-bit addresses (one at {rva:#x}), so it must be below 4 GiB and cannot be at \
         {base:#x}"
    )]
    Narrow {
        /// Address of one of them.
        rva: Rva,
        /// Where it was to be.
        base: Va,
    },
    /// A table's address would not be relocated.
    #[error(
        "{field} of the {table}, at {rva:#x}, is an address without a relocation; it would be \
         wrong at any other base"
    )]
    Uncovered {
        /// Where the address is.
        rva: Rva,
        /// The table.
        table: &'static str,
        /// The field.
        field: &'static str,
    },
    /// Import tables cannot be read.
    #[error("{0}; the file is damaged: build or copy it again")]
    Imports(#[from] ImportDamage),
    /// It is signed or bound in a way that cannot be taken back.
    #[error("{0}")]
    Unprepared(RefusalReason),
    /// It is signed. It can be at the place that it has, and must not be moved.
    #[error("{0}")]
    Signed(RefusalReason),
    /// A table's place is outside of the file.
    #[error("{0}; the file is damaged: build or copy it again")]
    Outside(String),
    /// The base does not fit.
    #[error("it cannot be at {base:#x}: {reason}")]
    Base {
        /// Where it was to be.
        base: Va,
        /// What bases have to be.
        reason: &'static str,
    },
    /// Larger than any loader maps, by the bytes from its base to its end.
    #[error("it needs {0} bytes of memory, more than the 2 GiB that loaders can map")]
    Large(u64),
}

impl Problem {
    /// The same in words, with what can be done about it.
    pub fn reason(&self) -> RefusalReason {
        match self {
            Problem::Unprepared(reason) | Problem::Signed(reason) => reason.clone(),
            problem => problem.to_string().into(),
        }
    }
}

fn named(name: &Option<&'static str>) -> String {
    name.map(|name| format!(" ({name})")).unwrap_or_default()
}
