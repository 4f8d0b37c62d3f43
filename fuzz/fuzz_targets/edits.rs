//! Any bytes at all as an image that is rewritten: no panic, and no file out of proportion.
#![no_main]

use image::elf::Loadable;
use image::elf::edit::Edit;
use image::elf::records::DynamicEntry;
use libfuzzer_sys::fuzz_target;
use rewrite::{no_pie, relr};

/// A file may grow by what keeps addresses and offsets apart, and its tables.
const GROWTH: u64 = 65 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(loadable) = Loadable::from_bytes("fuzz", bytes.to_vec()) else { return };
    let most = bytes.len() as u64 + GROWTH;
    if let Ok(packed) = relr::pack(&loadable, None) {
        assert!(packed.edited.length() <= most);
        assert!(
            packed.counts.packed + packed.counts.relocations_after
                == packed.counts.relocations_before
        );
    }
    if let Ok(fixed) = no_pie::fix(&loadable, 0x20_0000_0000, None) {
        assert!(fixed.edited.length() == bytes.len() as u64);
    }
    let Ok(mut edit) = Edit::of(&loadable) else { return };
    let name = edit.add_string(b"a-string-that-is-not-there");
    let mut entries = edit.dynamic().to_vec();
    entries.extend([DynamicEntry { tag: 1, value: name }; 20]);
    edit.set_dynamic(entries);
    let _ = edit.rename_version_file(b"libc.so.6", b"/lib/libc.so.6");
    if let Ok(edited) = edit.finish() {
        assert!(edited.edited.length() <= most);
    }
});
