//! What differs between PE32 and PE32+, and between their machines.

use crate::Arch;

/// What differs between PE32 and PE32+, and between the machines they are for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    /// `Machine` of the COFF header.
    pub(super) number: u16,
    /// Bytes of a pointer, a thunk and a relocated site.
    pub(super) pointer: u32,
    /// Type of a base relocation of a whole pointer.
    pub(super) relocation: u16,
    /// Where linkers place programs.
    pub(super) program_base: u64,
    /// Where linkers place libraries.
    pub(super) library_base: u64,
    /// Where libraries of one's own have to end: the system's follow.
    pub(super) libraries_end: u64,
    /// `LARGE_ADDRESS_AWARE` or `32BIT_MACHINE` of the COFF characteristics.
    pub(super) characteristics: u16,
}

pub(super) const IMAGE_REL_BASED_HIGHLOW: u16 = 3;
pub(super) const IMAGE_REL_BASED_DIR64: u16 = 10;

impl Machine {
    pub(super) fn of(arch: Arch) -> Self {
        match arch {
            Arch::X86_64 => Self {
                number: 0x8664,
                pointer: 8,
                relocation: IMAGE_REL_BASED_DIR64,
                program_base: 0x1_4000_0000,
                library_base: 0x1_8000_0000,
                libraries_end: 0x7000_0000_0000,
                characteristics: 0x20,
            },
            Arch::I686 => Self {
                number: 0x14c,
                pointer: 4,
                relocation: IMAGE_REL_BASED_HIGHLOW,
                program_base: 0x40_0000,
                library_base: 0x1000_0000,
                libraries_end: 0x7000_0000,
                characteristics: 0x100,
            },
        }
    }

    pub(super) fn wide(self) -> bool {
        self.pointer == 8
    }

    /// Appends a value of a pointer's size.
    pub(super) fn push(self, out: &mut Vec<u8>, value: u64) {
        out.extend_from_slice(&value.to_le_bytes()[..self.pointer as usize]);
    }
}
