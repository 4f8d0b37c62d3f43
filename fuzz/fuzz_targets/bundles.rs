//! Any bytes at all as a program that is bundled: a bundle in proportion or a reason, and nothing
//! left behind where there is none.
#![no_main]

use bundle::BundleOptions;
use libfuzzer_sys::fuzz_target;
use std::cell::Cell;
use std::path::Path;

/// A bundle has its libraries, and whole pages of the largest size between parts.
const GROWTH: u64 = 1 << 30;

fuzz_target!(|bytes: &[u8]| {
    thread_local!(static FIXED: Cell<bool> = const { Cell::new(false) });
    // In memory, as every bundle is synchronized.
    let folder = tempfile::tempdir_in(Path::new("/dev/shm")).expect("a folder in memory");
    let (program, out) = (folder.path().join("program"), folder.path().join("out"));
    std::fs::write(&program, bytes).expect("written");
    std::fs::create_dir(&out).expect("made");
    let options = BundleOptions { fixed: FIXED.replace(!FIXED.get()), ..BundleOptions::default() };
    match bundle::make(&program, &out, &options) {
        Ok(made) => assert!(made.figures.bytes <= bytes.len() as u64 + GROWTH),
        Err(error) => {
            assert!(!error.to_string().is_empty());
            assert_eq!(std::fs::read_dir(&out).expect("there").count(), 0);
        }
    }
});
