//! What differs between PE32 and PE32+, and between their machines.

use crate::Arch;
use ::image::pe::spec;
use model::Va;

/// What differs between PE32 and PE32+, and between the machines they are for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Machine {
    /// `Machine` of the COFF header.
    pub(super) number: u16,
    /// Bytes of a pointer, a thunk and a relocated site.
    pub(super) pointer: u32,
    /// Type of a base relocation of a whole pointer.
    pub(super) relocation: u8,
    /// Where linkers place programs.
    pub(super) program_base: Va,
    /// Where linkers place libraries.
    pub(super) library_base: Va,
    /// Where libraries of one's own have to end: the system's follow.
    pub(super) libraries_end: Va,
    /// `LARGE_ADDRESS_AWARE` or `32BIT_MACHINE` of the COFF characteristics.
    pub(super) characteristics: u16,
}

impl Machine {
    pub(super) fn of(arch: Arch) -> Self {
        match arch {
            Arch::X86_64 => Self {
                number: spec::IMAGE_FILE_MACHINE_AMD64,
                pointer: 8,
                relocation: spec::IMAGE_REL_BASED_DIR64,
                program_base: Va(0x1_4000_0000),
                library_base: Va(0x1_8000_0000),
                libraries_end: Va(0x7000_0000_0000),
                characteristics: spec::IMAGE_FILE_LARGE_ADDRESS_AWARE,
            },
            Arch::I686 => Self {
                number: spec::IMAGE_FILE_MACHINE_I386,
                pointer: 4,
                relocation: spec::IMAGE_REL_BASED_HIGHLOW,
                program_base: Va(0x40_0000),
                library_base: Va(0x1000_0000),
                libraries_end: Va(0x7000_0000),
                characteristics: spec::IMAGE_FILE_32BIT_MACHINE,
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
