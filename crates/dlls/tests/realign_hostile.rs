//! Damaged and odd files: a sentence, or the same memory; never a panic.
#![allow(clippy::unwrap_used)]

mod common;

use common::{library, realigned, realigned_by};
use dlls::realign::RealignOptions;
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{Headers, Pe, spec};
use proptest::prelude::*;
use workload::Arch;

fn headers(bytes: &[u8]) -> Headers {
    Pe::parse("", bytes).unwrap().headers().clone()
}

/// The library with a number of 4 bytes changed.
fn with(at: impl Fn(&Headers) -> usize, value: u32) -> Vec<u8> {
    let mut bytes = library(Arch::X86_64);
    let at = at(&headers(&bytes));
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    bytes
}

fn refused(bytes: &[u8], file_alignment: u32, words: &str) {
    let said = realigned(bytes, file_alignment).map(|(done, _)| done).unwrap_err();
    assert!(said.contains(words), "{words:?} in {said}");
}

const RAW_BYTES: fn(&Headers) -> usize = |headers| headers.section_data_offset(1).index();
const RAW_PLACE: fn(&Headers) -> usize = |headers| headers.section_data_offset(1).index() + 4;

#[test]
fn every_truncation_is_refused_or_read_to_its_end() {
    let bytes = library(Arch::X86_64);
    for length in 0..bytes.len() {
        let Ok(file) = Pe::parse("it", &bytes[..length]) else { continue };
        let mut draft = PeDraft::of(&file);
        let options = RealignOptions { file_alignment: 4096, keep_overlay: false };
        let said = dlls::realign::realign(&mut draft, "it", &options).unwrap_err().to_string();
        assert!(said.contains("cut short") || said.contains("SizeOfHeaders"), "{length}: {said}");
    }
}

#[test]
fn sections_over_each_other_in_the_file_are_refused() {
    let first = headers(&library(Arch::X86_64)).sections[0].offset.0 as u32;
    refused(&with(RAW_PLACE, first), 4096, "overlaps other sections");
    refused(&with(RAW_PLACE, 512), 4096, "overlaps other sections");
    // Loaders begin at the sector in front of an odd place.
    refused(&with(RAW_PLACE, first + 1), 4096, "overlaps other sections");
}

#[test]
fn section_sizes_near_4_gib_are_refused() {
    for size in [u32::MAX, u32::MAX - 511, 0x8000_0000] {
        refused(&with(RAW_BYTES, size), 4096, "cut short");
        let place = with(RAW_PLACE, size);
        refused(&place, 4096, "cut short");
    }
    // In memory they are nothing to this; the loader refuses them.
    let memory = with(|headers| headers.section_offset(1).index() + 8, u32::MAX);
    let (_, new) = realigned(&memory, 4096).unwrap();
    assert_eq!(headers(&new).sections[1].memory_bytes, u32::MAX);
}

#[test]
fn headers_that_end_elsewhere_are_refused() {
    for size in [0, 64, u32::MAX] {
        refused(
            &with(|headers| headers.header_bytes_offset().index(), size),
            4096,
            "SizeOfHeaders",
        );
    }
    let low = with(|headers| headers.section_offset(0).index() + 12, 2048);
    refused(&low, 4096, "the first section begins at 0x800 in memory");
}

#[test]
fn alignments_that_the_format_does_not_have_are_refused() {
    let bytes = library(Arch::X86_64);
    for alignment in [0, 1, 256, 513, 4095, 131_072, u32::MAX] {
        refused(&bytes, alignment, "power of two");
    }
    for alignment in [8192, 65_536] {
        refused(&bytes, alignment, "FileAlignment ≤ SectionAlignment");
    }
    let optional = |headers: &Headers| headers.file_alignment_offset().index() - 4;
    for low in [0, 1, 32, 2048] {
        refused(&with(optional, low), 512, "less than a page");
    }
}

#[test]
fn a_file_alignment_of_nonsense_does_not_matter() {
    for nonsense in [0, 3, u32::MAX] {
        let bytes = with(|headers| headers.file_alignment_offset().index(), nonsense);
        let (done, new) = realigned(&bytes, 4096).unwrap();
        assert_eq!((done.off_page, headers(&new).file_alignment), (0, 4096));
    }
}

#[test]
fn signed_files_are_refused() {
    let at = |headers: &Headers| headers.directory_offset(spec::SECURITY).index();
    let mut bytes = with(at, 4096);
    let at = at(&headers(&bytes)) + 4;
    bytes[at] = 8;
    refused(&bytes, 4096, "signed");
}

#[test]
fn a_section_without_a_size_in_memory_keeps_its_pages() {
    let at = |headers: &Headers| headers.section_offset(1).index() + 8;
    let bytes = with(at, 0);
    let (_, new) = realigned(&bytes, 4096).unwrap();
    assert!(common::memory::memory(&new) == common::memory::memory(&bytes));
    let wide = |headers: &Headers| headers.file_alignment_offset().index() - 4;
    let mut wide = with(wide, 65_536);
    for index in 0..headers(&wide).sections.len() as u32 {
        let at = headers(&wide).section_offset(index as usize).index();
        let rva = (index + 1) * 65_536;
        wide[at + 12..at + 16].copy_from_slice(&rva.to_le_bytes());
        wide[at + 8..at + 12].fill(0);
    }
    refused(&wide, 65_536, "has no VirtualSize");
}

/// GNU's linker makes the import tables writable, and ends them with the name of a DLL.
#[test]
fn the_zero_behind_the_last_name_of_a_writable_table_is_kept() {
    let (_, mut bytes) = realigned(&library(Arch::X86_64), 4096).unwrap();
    let headers = headers(&bytes);
    let exports = headers.directories[spec::EXPORT].rva;
    let index = headers.sections.iter().rposition(|section| section.rva <= exports).unwrap();
    let (section, at) = (headers.sections[index], headers.section_offset(index).index());
    let flags = section.flags | spec::IMAGE_SCN_MEM_WRITE;
    bytes[at + 36..at + 40].copy_from_slice(&flags.to_le_bytes());
    let start = section.offset.index();
    let content = bytes[start..].iter().take(section.file_bytes as usize);
    let sector = content.clone().rposition(|&byte| byte != 0).unwrap().next_multiple_of(512);
    bytes[start + sector - 1] = b'l';
    bytes[at + 8..at + 12].copy_from_slice(&(sector as u32 + 1).to_le_bytes());
    let (_, packed) = realigned(&bytes, 512).unwrap();
    let packed = Pe::parse("", &packed).unwrap().headers().sections[index];
    assert_eq!(packed.file_bytes as usize, sector + 512);
}

#[test]
fn odd_places_are_whole_sectors_as_loaders_see_them() {
    let last = |headers: &Headers| headers.sections.len() - 1;
    let bytes = library(Arch::X86_64);
    let headers = headers(&bytes);
    let section = headers.sections[last(&headers)];
    let at = headers.section_data_offset(last(&headers)).index();
    let mut odd = bytes.clone();
    odd[at..at + 4].copy_from_slice(&(section.file_bytes - 8).to_le_bytes());
    odd[at + 4..at + 8].copy_from_slice(&(section.offset.0 as u32 + 5).to_le_bytes());
    let (_, new) = realigned(&odd, 4096).unwrap();
    assert!(common::memory::memory(&new) == common::memory::memory(&bytes));
}

#[test]
fn debug_data_across_sections_is_refused_and_outside_of_the_file_stays_there() {
    let bytes = library(Arch::X86_64);
    let headers = headers(&bytes);
    let directory = headers.directory_offset(spec::DEBUG).index();
    // The first section as a debug directory of one entry.
    let section = headers.sections[0];
    let with_entry = |pointer: u32, size: u32| {
        let mut bytes = bytes.clone();
        bytes[directory..directory + 4].copy_from_slice(&section.rva.0.to_le_bytes());
        bytes[directory + 4..directory + 8].copy_from_slice(&28_u32.to_le_bytes());
        let entry = section.offset.index();
        bytes[entry + 16..entry + 20].copy_from_slice(&size.to_le_bytes());
        bytes[entry + 24..entry + 28].copy_from_slice(&pointer.to_le_bytes());
        bytes
    };
    let across = section.offset.0 as u32 + section.file_bytes - 4;
    refused(&with_entry(across, 8), 4096, "cross sections");
    for (pointer, size) in [(u32::MAX, u32::MAX), (bytes.len() as u32, 1), (0, 8), (across, 4)] {
        let (_, new) = realigned(&with_entry(pointer, size), 4096).unwrap();
        assert!(realigned(&new, 4096).unwrap().1 == new, "{pointer:#x}");
        assert!(common::memory::memory(&new) == common::memory::memory(&with_entry(0, size)));
    }
}

proptest! {
    /// Any few bytes of the headers changed.
    #[test]
    fn damaged_headers_are_survived(
        changes in prop::collection::vec((0_usize..700, any::<u8>()), 1..6),
        wide in any::<bool>(),
        file_alignment in prop::sample::select(vec![512_u32, 4096, 65_536]),
    ) {
        let mut bytes = library(if wide { Arch::X86_64 } else { Arch::I686 });
        changes.iter().for_each(|&(at, to)| bytes[at] = to);
        let Ok(file) = Pe::parse("it", &bytes) else { return Ok(()) };
        let _ = dlls::signature::settle(&mut PeDraft::of(&file), "it", true);
        if let Ok((done, new)) = realigned_by(&bytes, RealignOptions { file_alignment, keep_overlay: true }) {
            prop_assert_eq!(done.bytes, new.len() as u64);
            let file = Pe::parse("it", &new).unwrap();
            prop_assert_eq!(file.headers().file_alignment, file_alignment);
            let again = realigned_by(&new, RealignOptions { file_alignment, keep_overlay: true });
            prop_assert!(again.unwrap().1 == new);
            let _ = PeDraft::of(&file).finish(KeepChecksum::Compute);
        }
    }
}
