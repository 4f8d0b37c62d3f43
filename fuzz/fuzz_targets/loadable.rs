//! Any bytes at all as an image that a loader goes through: no panic, and no endless chains.
#![no_main]

use image::elf::loadable::{Loadable, gnu_hash};
use libfuzzer_sys::fuzz_target;

/// Relocations that are followed: each can lead through all of a table.
const FOLLOWED: usize = 100;

fuzz_target!(|bytes: &[u8]| {
    let Ok(loadable) = Loadable::from_bytes("fuzz", bytes.to_vec()) else { return };
    for relocation in loadable.relocations().take(FOLLOWED) {
        let Some(index) = relocation.symbol else { continue };
        let Some(symbol) = loadable.symbol(index) else { continue };
        assert!(symbol.name.len() <= bytes.len());
        if let Some((version, _)) = loadable.symbol_version(index) {
            let version = loadable.version(version);
            assert!(version.is_none_or(|version| version.name.len() <= bytes.len()));
        }
        let found = loadable.chain(symbol.name, gnu_hash(symbol.name)).count();
        assert!(found <= bytes.len());
    }
    assert!(loadable.packed_relocations() <= 63 * (bytes.len() as u64 / 8));
});
