//! The headers of a generated PE image.

use super::PeWorkloadError;
use super::layout::{Layout, SECTION_ALIGNMENT, pad, patch};
use super::machine::Machine;
use crate::PeOptions;
use ::image::pe::checksum;

/// `Characteristics` of the COFF header.
pub(super) const RELOCS_STRIPPED: u16 = 0x1;
const EXECUTABLE_IMAGE: u16 = 0x2;
pub(super) const DLL: u16 = 0x2000;

/// `DllCharacteristics` of the optional header.
pub(super) const HIGH_ENTROPY_VA: u16 = 0x20;
pub(super) const DYNAMIC_BASE: u16 = 0x40;
pub(super) const NX_COMPAT: u16 = 0x100;
pub(super) const NO_SEH: u16 = 0x400;
pub(super) const GUARD_CF: u16 = 0x4000;
pub(super) const TERMINAL_SERVER_AWARE: u16 = 0x8000;

/// Data directories by their index.
pub(super) const EXPORT: usize = 0;
pub(super) const IMPORT: usize = 1;
pub(super) const BASE_RELOCATION: usize = 5;
pub(super) const LOAD_CONFIG: usize = 10;
pub(super) const IAT: usize = 12;

const CONSOLE: u16 = 3;
const DOS_BYTES: u32 = 64;
const COFF_BYTES: u32 = 20;
const SECTION_BYTES: u32 = 40;
/// Offset of `CheckSum`, the same in PE32 and PE32+.
pub(super) const CHECKSUM_AT: usize = (DOS_BYTES + 4 + COFF_BYTES) as usize + 64;

/// Address and size of a table.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Directory {
    pub(super) rva: u32,
    pub(super) bytes: u32,
}

/// What the headers say beside the layout.
pub(super) struct Header {
    pub(super) machine: Machine,
    pub(super) base: u64,
    /// `AddressOfEntryPoint`; zero for none.
    pub(super) entry: u32,
    pub(super) characteristics: u16,
    pub(super) dll_characteristics: u16,
    pub(super) directories: [Directory; 16],
}

/// Bytes of all headers before padding.
pub(super) fn bytes(machine: Machine, sections: u32) -> u32 {
    DOS_BYTES + 4 + COFF_BYTES + u32::from(optional_bytes(machine)) + SECTION_BYTES * sections
}

fn optional_bytes(machine: Machine) -> u16 {
    if machine.wide() { 240 } else { 224 }
}

/// An error for a value of the options that no image can have.
pub(super) fn check(options: &PeOptions) -> Result<(), PeWorkloadError> {
    match options.file_alignment {
        512 | 1024 | 2048 | 4096 => Ok(()),
        found => Err(PeWorkloadError::FileAlignment { found }),
    }
}

/// Begins a file: all headers, padded to the first section. The file's bytes are allocated.
pub(super) fn begin<const N: usize>(
    header: &Header,
    layout: &Layout<N>,
    timestamp: u32,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(layout.file_bytes as usize);
    out.extend_from_slice(b"MZ");
    pad(&mut out, DOS_BYTES - 4);
    out.extend_from_slice(&DOS_BYTES.to_le_bytes());
    out.extend_from_slice(b"PE\0\0");
    push_coff(&mut out, header, layout.present().count() as u16, timestamp);
    push_optional(&mut out, header, layout);
    for place in layout.present() {
        let name = out.len() as u32;
        out.extend_from_slice(place.name.as_bytes());
        pad(&mut out, name + 8);
        let numbers = [place.bytes, place.rva, place.raw_bytes, place.offset, 0, 0, 0, place.flags];
        push_u32(&mut out, &numbers);
    }
    pad(&mut out, layout.header_bytes);
    out
}

/// Ends a file that has all its bytes: computes the checksum where it is asked for.
pub(super) fn finish(out: &mut [u8], options: &PeOptions) {
    if options.checksum {
        // Its own place is zero so far.
        let sum = checksum::finish(checksum::sum(out), out.len());
        patch(out, CHECKSUM_AT, sum);
    }
}

fn push_coff(out: &mut Vec<u8>, header: &Header, sections: u16, timestamp: u32) {
    push_u16(out, &[header.machine.number, sections]);
    // No symbol table.
    push_u32(out, &[timestamp, 0, 0]);
    let flags = EXECUTABLE_IMAGE | header.machine.characteristics | header.characteristics;
    push_u16(out, &[optional_bytes(header.machine), flags]);
}

fn push_optional<const N: usize>(out: &mut Vec<u8>, header: &Header, layout: &Layout<N>) {
    let machine = header.machine;
    let sum = |flag| -> u32 {
        layout.present().filter(|place| place.flags & flag != 0).map(|place| place.raw_bytes).sum()
    };
    let first_of =
        |flag| layout.present().find(|place| place.flags & flag != 0).map_or(0, |place| place.rva);
    const CODE: u32 = 0x20;
    const INITIALIZED: u32 = 0x40;
    push_u16(out, &[if machine.wide() { 0x20b } else { 0x10b }, 14]);
    push_u32(out, &[sum(CODE), sum(INITIALIZED), 0, header.entry, first_of(CODE)]);
    if !machine.wide() {
        push_u32(out, &[first_of(INITIALIZED)]);
    }
    machine.push(out, header.base);
    push_u32(out, &[SECTION_ALIGNMENT, layout.file_alignment]);
    // Versions of the system, the image and the subsystem: Windows Vista, as linkers write it.
    push_u16(out, &[6, 0, 0, 0, 6, 0]);
    push_u32(out, &[0, layout.image_bytes, layout.header_bytes, 0]);
    push_u16(out, &[CONSOLE, header.dll_characteristics]);
    // Stack and heap: reserved and committed bytes.
    for bytes in [0x10_0000, 0x1000, 0x10_0000, 0x1000] {
        machine.push(out, bytes);
    }
    push_u32(out, &[0, 16]);
    for directory in header.directories {
        // A table of no bytes is in no section.
        push_u32(out, &[if directory.bytes > 0 { directory.rva } else { 0 }, directory.bytes]);
    }
}

pub(super) fn push_u16(out: &mut Vec<u8>, values: &[u16]) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

pub(super) fn push_u32(out: &mut Vec<u8>, values: &[u32]) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}
