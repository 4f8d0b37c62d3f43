//! Any bytes at all as a PE file whose signature is removed, flags are changed, and sections are
//! moved in the file: no panic, no file out of proportion, the same memory.
#![no_main]

use dlls::flags::{self, Change, Flag};
use dlls::realign::{RealignOptions, realign};
use dlls::signature;
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{PAGE, Pe, SECTOR};
use libfuzzer_sys::fuzz_target;
use model::Rva;

fuzz_target!(|bytes: &[u8]| {
    let Ok(file) = Pe::parse("fuzz", bytes) else { return };
    flags_change_nothing_else(&file);
    let mut unsigned = PeDraft::of(&file);
    if signature::settle(&mut unsigned, "fuzz", true).is_err() {
        return;
    }
    let unsigned = unsigned.finish(KeepChecksum::AsItWas);
    assert!(unsigned.len() <= bytes.len());
    for file_alignment in [512, 4096, 65_536] {
        let Some(new) = laid_out(&unsigned, file_alignment) else { continue };
        let sections = Pe::parse("fuzz", &new).expect("it was laid out").headers().sections.len();
        assert!(new.len() <= unsigned.len() + (sections + 1) * file_alignment as usize);
        assert!(sections_of(&unsigned) == sections_of(&new));
        assert!(laid_out(&new, file_alignment).as_ref() == Some(&new), "it is not done in one go");
    }
});

fn laid_out(bytes: &[u8], file_alignment: u32) -> Option<Vec<u8>> {
    let mut draft = PeDraft::of(&Pe::parse("fuzz", bytes).ok()?);
    let options = RealignOptions { file_alignment, keep_overlay: true };
    let done = realign(&mut draft, "fuzz", &options).ok()?;
    assert!(file_alignment < PAGE || done.off_page == 0);
    assert!(done.off_page_before <= done.sections && done.overlay_bytes <= bytes.len() as u64);
    Some(draft.finish(KeepChecksum::AsItWas))
}

/// What each section has in memory from the file, without the zeros at its end and without
/// pointers into the file; by the format alone.
fn sections_of(bytes: &[u8]) -> Vec<(Rva, Vec<u8>)> {
    let file = Pe::parse("fuzz", bytes).expect("it is PE");
    let mut bytes = bytes.to_vec();
    for field in file.offset_fields() {
        if let Some(field) = bytes.get_mut(field.at.index()..field.at.index() + 4) {
            field.fill(0);
        }
    }
    let sections = file.headers().sections.iter().map(|section| {
        let start = section.offset.index() / SECTOR as usize * SECTOR as usize;
        let sectors = section.offset.0 + u64::from(section.file_bytes);
        let end = sectors.next_multiple_of(SECTOR.into()).min(bytes.len() as u64) as usize;
        let memory = u64::from(section.extent()).next_multiple_of(PAGE.into()) as usize;
        let found = match section.is_in_file() {
            true => bytes.get(start..end).unwrap_or(&[]),
            false => &[],
        };
        let found = found.get(..memory).unwrap_or(found);
        let length = found.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        (section.rva, found[..length].to_vec())
    });
    sections.collect()
}

fn flags_change_nothing_else(file: &Pe<'_>) {
    let headers = file.headers();
    let fields = [
        headers.characteristics_offset().index()..headers.characteristics_offset().index() + 2,
        headers.dll_characteristics_offset().index()
            ..headers.dll_characteristics_offset().index() + 2,
        headers.checksum_offset().index()..headers.checksum_offset().index() + 4,
    ];
    for flag in Flag::all().filter(|flag| flag.fixed().is_none()) {
        for on in [true, false] {
            let flags = vec![flag];
            let asked = match on {
                true => Change { set: flags, clear: Vec::new() },
                false => Change { set: Vec::new(), clear: flags },
            };
            let mut draft = PeDraft::of(file);
            if flags::change(&mut draft, "fuzz", &asked).is_err() {
                continue;
            }
            assert_eq!(flag.is_set(draft.headers()), on);
            let new = draft.finish(KeepChecksum::AsItWas);
            let differ = |(at, (old, new)): &(usize, (&u8, &u8))| {
                old != new && !fields.iter().any(|field| field.contains(at))
            };
            assert!(new.len() == file.bytes().len());
            assert!(!file.bytes().iter().zip(&new).enumerate().any(|found| differ(&found)));
        }
    }
}
