//! Addresses and offsets as types, so that one kind cannot be taken for another.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Debug, Display, Formatter, LowerHex};
use std::ops::{Add, AddAssign, Sub};

macro_rules! position {
    ($(#[$about:meta])* $name:ident($number:ty)) => {
        $(#[$about])*
        #[derive(
            Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $number);

        impl $name {
            /// The first one.
            pub const ZERO: $name = $name(0);

            /// So many bytes further; `None` where no number is large enough.
            pub fn checked_add(self, bytes: $number) -> Option<$name> {
                self.0.checked_add(bytes).map($name)
            }

            /// So many bytes further, from the highest number on to 0: for what damaged files say.
            #[must_use]
            pub fn wrapping_add(self, bytes: $number) -> $name {
                $name(self.0.wrapping_add(bytes))
            }

            /// So many bytes further, or the highest number: for what damaged files say.
            #[must_use]
            pub fn saturating_add(self, bytes: $number) -> $name {
                $name(self.0.saturating_add(bytes))
            }

            /// How many bytes further this is than `start`; `None` where it is before it.
            pub fn since(self, start: $name) -> Option<$number> {
                self.0.checked_sub(start.0)
            }
        }

        impl Add<$number> for $name {
            type Output = $name;
            fn add(self, bytes: $number) -> $name {
                $name(self.0 + bytes)
            }
        }

        impl AddAssign<$number> for $name {
            fn add_assign(&mut self, bytes: $number) {
                self.0 += bytes;
            }
        }

        /// The distance in bytes.
        impl Sub for $name {
            type Output = $number;
            fn sub(self, start: $name) -> $number {
                self.0 - start.0
            }
        }

        impl Debug for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, "{}({:#x})", stringify!($name), self.0)
            }
        }

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                write!(f, "{:#x}", self.0)
            }
        }

        impl LowerHex for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                LowerHex::fmt(&self.0, f)
            }
        }
    };
}

position! {
    /// A virtual address as an image has it before it is loaded: `p_vaddr`, `st_value` and
    /// `r_offset` of ELF, the preferred base plus an RVA of PE.
    Va(u64)
}
position! {
    /// A virtual address in the memory of a process: where a [`Va`] is once its image is loaded.
    MappedVa(u64)
}
position! {
    /// A relative virtual address: bytes from the start of a PE image in memory.
    Rva(u32)
}
position! {
    /// Bytes from the start of a file.
    FileOffset(u64)
}
position! {
    /// An address in a bundle, as its file has it: a [`Va`] of the bundle, not of a merged module.
    BundleVa(u64)
}
position! {
    /// Bytes from the start of the thread-local storage of a bundle.
    TlsOffset(u64)
}

/// What is added to the addresses of an image where it is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoadBias(u64);

impl LoadBias {
    /// The one that the loader tells (`l_addr` of `struct link_map`).
    pub fn new(bias: u64) -> LoadBias {
        LoadBias(bias)
    }

    /// The one by which `address` is at `mapped`.
    pub fn between(address: Va, mapped: MappedVa) -> LoadBias {
        LoadBias(mapped.0.wrapping_sub(address.0))
    }

    /// Where an address of the image is.
    pub fn mapped(self, address: Va) -> MappedVa {
        MappedVa(address.0.wrapping_add(self.0))
    }

    /// The image's own address of what is there.
    pub fn unmapped(self, address: MappedVa) -> Va {
        Va(address.0.wrapping_sub(self.0))
    }
}

impl FileOffset {
    /// The offset of a byte of a file that is in memory.
    pub fn at(index: usize) -> FileOffset {
        FileOffset(index as u64)
    }

    /// Where that byte is in memory; beyond all memory where it cannot be there.
    pub fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_bytes_and_print_as_hexadecimal() {
        let start = Va(0x1000);
        assert_eq!(start + 0x20, Va(0x1020));
        assert_eq!((start + 0x20) - start, 0x20);
        assert_eq!(start.since(start + 1), None);
        assert_eq!(Rva(u32::MAX).checked_add(1), None);
        assert_eq!(
            format!("{start} {:?} {:04x}", FileOffset(16), Rva(0x2a)),
            "0x1000 FileOffset(0x10) 002a"
        );
    }
}
