//! The headers of a generated PE image.

use super::PeWorkloadError;
use super::layout::{Layout, pad, patch};
use super::machine::Machine;
use crate::PeOptions;
use ::image::pe::{DataDirectory, Headers, checksum};
use model::Rva;

/// Bytes of all headers before padding.
pub(super) fn bytes(machine: Machine, sections: usize) -> u32 {
    Headers::new(machine.number, machine.wide()).section_offset(sections).0 as u32
}

/// An error for a value of the options that no image can have.
pub(super) fn check(options: &PeOptions) -> Result<(), PeWorkloadError> {
    match options.file_alignment {
        512 | 1024 | 2048 | 4096 => Ok(()),
        found => Err(PeWorkloadError::FileAlignment { found }),
    }
}

/// A table for the data directory; one of no bytes is in no section.
pub(super) fn directory(rva: Rva, bytes: u32) -> DataDirectory {
    if bytes == 0 { DataDirectory::EMPTY } else { DataDirectory { rva, size: bytes } }
}

/// Headers that say what the machine and the layout determine.
pub(super) fn of<const N: usize>(
    machine: Machine,
    layout: &Layout<N>,
    options: &PeOptions,
) -> Headers {
    let headers = Headers::new(machine.number, machine.wide());
    Headers {
        characteristics: headers.characteristics | machine.characteristics,
        time_stamp: options.timestamp,
        file_alignment: options.file_alignment,
        header_bytes: layout.header_bytes,
        image_bytes: layout.image_bytes,
        sections: layout.present().copied().collect(),
        ..headers
    }
}

/// Begins a file: all headers, padded to the first section. The file's bytes are allocated.
pub(super) fn begin<const N: usize>(headers: &Headers, layout: &Layout<N>) -> Vec<u8> {
    let mut out = Vec::with_capacity(layout.file_bytes as usize);
    out.extend(headers.bytes());
    pad(&mut out, layout.header_bytes.into());
    out
}

/// Ends a file that has all its bytes: computes the checksum where it is asked for.
pub(super) fn finish(out: &mut [u8], headers: &Headers, options: &PeOptions) {
    if options.checksum {
        // Its own place is zero so far.
        let sum = checksum::finish(checksum::sum(out), out.len());
        patch(out, headers.checksum_offset().index(), sum);
    }
}

pub(super) fn push_u16(out: &mut Vec<u8>, values: &[u16]) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

pub(super) fn push_u32(out: &mut Vec<u8>, values: &[u32]) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

/// Appends addresses of four bytes.
pub(super) fn push_rvas(out: &mut Vec<u8>, addresses: &[Rva]) {
    out.extend(addresses.iter().flat_map(|rva| rva.0.to_le_bytes()));
}
