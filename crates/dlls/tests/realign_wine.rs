//! Every DLL and program of Wine, laid out anew and back.
#![allow(clippy::unwrap_used)]

mod common;

use common::memory::memory;
use dlls::realign::{Options, Realigned, realign};
use image::pe::edit::{Draft, KeepChecksum};
use image::pe::{Pe, facts_of, spec};
use std::fs;
use std::path::Path;

const WINE: [&str; 2] =
    ["/usr/lib/x86_64-linux-gnu/wine/x86_64-windows", "/usr/lib/i386-linux-gnu/wine/i386-windows"];

fn realigned(bytes: &[u8], file_alignment: u32) -> Result<(Realigned, Vec<u8>), String> {
    let mut draft = Draft::of(&Pe::parse("it", bytes).unwrap());
    let options = Options { file_alignment, keep_overlay: false };
    let done = realign(&mut draft, "it", &options).map_err(|no| no.to_string())?;
    Ok((done, draft.finish(KeepChecksum::AsItWas)))
}

#[test]
fn all_files_of_wine_are_the_same_in_memory_afterwards() {
    let folders = WINE.iter().filter_map(|folder| fs::read_dir(folder).ok());
    let (mut files, mut exact) = (0, 0);
    for path in folders.flatten().map(|entry| entry.unwrap().path()) {
        let bytes = fs::read(&path).unwrap();
        if !bytes.starts_with(b"MZ") || Pe::parse("", &bytes).is_err() {
            continue;
        }
        files += 1;
        exact += u32::from(there_and_back(&path, &bytes));
    }
    if files == 0 {
        testkit::skip("needs Wine's DLLs: apt-get install wine64");
    }
    assert!(exact * 100 >= files * 99, "{exact} of {files} were restored");
}

fn there_and_back(path: &Path, bytes: &[u8]) -> bool {
    let before = memory(bytes);
    let laid_out = |bytes: &[u8], file_alignment: u32| {
        let (done, new) =
            realigned(bytes, file_alignment).unwrap_or_else(|no| panic!("{path:?}: {no}"));
        assert!(memory(&new) == before, "{path:?} is another image");
        assert!(realigned(&new, file_alignment).unwrap().1 == new, "{path:?} again");
        assert!(file_alignment < 4096 || done.off_page == 0, "{path:?}: {done:?}");
        new
    };
    let (large, small) = (laid_out(bytes, 4096), laid_out(bytes, 512));
    assert!(laid_out(&small, 4096) == laid_out(&large, 4096), "{path:?}");
    let valid = |bytes: &[u8]| {
        let checksum = facts_of("", bytes).unwrap().checksum;
        checksum.stored == checksum.computed
    };
    assert!(valid(&large) == valid(bytes) && valid(&small) == valid(bytes), "{path:?}");
    let (other, own) = match Pe::parse("", bytes).unwrap().headers().file_alignment {
        512 => (large, 512),
        own => (small, own),
    };
    let back = laid_out(&other, own);
    assert!(back == bytes || fill_is_unknown(bytes, &back), "{path:?}");
    back == bytes
}

/// In a writable section zeros at the end may be data or a fill.
fn fill_is_unknown(old: &[u8], new: &[u8]) -> bool {
    let sections = |bytes: &[u8]| Pe::parse("", bytes).unwrap().headers().sections.clone();
    let (old, new) = (sections(old), sections(new));
    old.iter().zip(&new).all(|(old, new)| {
        old.file_bytes == new.file_bytes || old.flags & spec::IMAGE_SCN_MEM_WRITE != 0
    })
}
