//! Every DLL and program of Wine, laid out anew and back.
#![allow(clippy::unwrap_used)]

mod common;

use common::memory::memory;
use common::realigned;
use image::pe::{Pe, spec};
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

const WINE: [&str; 2] =
    ["/usr/lib/x86_64-linux-gnu/wine/x86_64-windows", "/usr/lib/i386-linux-gnu/wine/i386-windows"];

#[test]
fn all_files_of_wine_are_the_same_in_memory_afterwards() {
    let folders = WINE.iter().filter_map(|folder| fs::read_dir(folder).ok());
    let paths: Vec<PathBuf> = folders.flatten().map(|entry| entry.unwrap().path()).collect();
    let restored: Vec<bool> = paths.par_iter().filter_map(|path| there_and_back(path)).collect();
    if restored.is_empty() {
        testkit::skip("needs Wine's DLLs: apt-get install wine64");
    }
    let (exact, files) = (restored.iter().filter(|&&exact| exact).count(), restored.len());
    assert!(exact * 100 >= files * 99, "{exact} of {files} were restored");
}

/// Whether a file was restored to the last byte; `None` for one that is not PE.
fn there_and_back(path: &Path) -> Option<bool> {
    let bytes = &fs::read(path).unwrap()[..];
    Pe::parse("", bytes).ok()?;
    let before = memory(bytes);
    let laid_out = |bytes: &[u8], file_alignment: u32| {
        let (done, new) =
            realigned(bytes, file_alignment).unwrap_or_else(|no| panic!("{path:?}: {no}"));
        assert!(memory(&new) == before, "{path:?} is another image");
        assert!(file_alignment < 4096 || done.off_page == 0, "{path:?}: {done:?}");
        new
    };
    let (large, small) = (laid_out(bytes, 4096), laid_out(bytes, 512));
    assert!(realigned(&large, 4096).unwrap().1 == large, "{path:?} again");
    let valid = |bytes: &[u8]| {
        let file = Pe::parse("", bytes).unwrap();
        file.headers().checksum == file.computed_checksum()
    };
    assert!(valid(&large) == valid(bytes) && valid(&small) == valid(bytes), "{path:?}");
    let (other, own) = match Pe::parse("", bytes).unwrap().headers().file_alignment {
        512 => (large, 512),
        own => (small, own),
    };
    let back = laid_out(&other, own);
    assert!(back == bytes || fill_is_unknown(bytes, &back), "{path:?}");
    Some(back == bytes)
}

/// In a writable section zeros at the end may be data or a fill.
fn fill_is_unknown(old: &[u8], new: &[u8]) -> bool {
    let sections = |bytes: &[u8]| Pe::parse("", bytes).unwrap().headers().sections.clone();
    let (old, new) = (sections(old), sections(new));
    old.iter().zip(&new).all(|(old, new)| {
        old.file_bytes == new.file_bytes || old.flags & spec::IMAGE_SCN_MEM_WRITE != 0
    })
}
