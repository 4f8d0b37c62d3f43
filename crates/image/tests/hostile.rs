//! Damaged files: an error or facts, never a panic, and never a claim that the bytes cannot hold.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use proptest::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn testfile(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/elf");
    std::fs::read(folder.join(name)).unwrap()
}

/// A program of this machine's own compiler, where there is one.
fn compiled() -> Vec<u8> {
    static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
    let build = || {
        let cc = testkit::tool("cc")?;
        let folder = tempfile::tempdir().unwrap();
        let source = "#include <stdio.h>\nint main(void) { return puts(\"here\") < 0; }";
        let program = testkit::compile(&cc, folder.path(), "program", source, &[]);
        Some(std::fs::read(program).unwrap())
    };
    BYTES.get_or_init(|| build().unwrap_or_else(|| testfile("versions.so"))).clone()
}

/// As a loader goes through it, as far as the first relocations.
fn load(bytes: &[u8]) {
    use image::elf::loadable::{Loadable, gnu_hash};
    let Ok(loadable) = Loadable::from_bytes("damaged", bytes.to_vec()) else { return };
    for relocation in loadable.relocations().take(50) {
        let Some(index) = relocation.symbol else { continue };
        let Some(symbol) = loadable.symbol(index) else { continue };
        let version = loadable.symbol_version(index);
        let name =
            version.and_then(|(index, _)| loadable.version(index)).map_or(0, |v| v.name.len());
        let found = loadable.chain(symbol.name, gnu_hash(symbol.name)).count();
        assert!(found <= bytes.len() && name <= bytes.len());
    }
    assert!(loadable.packed_relocations() <= 63 * (bytes.len() as u64 / 8));
}

fn read(bytes: &[u8]) {
    load(bytes);
    let Ok(facts) = image::elf::facts_of("damaged", bytes) else { return };
    let all = facts.relocation_count();
    assert!(all <= 63 * facts.relocation_table_bytes);
    assert!(facts.relocation_table_bytes <= bytes.len() as u64);
    assert!(facts.relocated_pages <= all);
    assert!(facts.imports + facts.exports <= bytes.len() as u64 / 16);
}

#[test]
fn every_truncation_is_survived() {
    let files = ["pie", "i386.so", "mips64el.so", "s390x.so", "relr-lld.so", "object.o"];
    for name in files.into_iter().chain(["versions.no-sections.so", "static"]) {
        let bytes = testfile(name);
        for length in 0..bytes.len() {
            read(&bytes[..length]);
        }
    }
}

#[test]
fn a_truncated_file_says_so() {
    let bytes = testfile("versions.so");
    let facts = image::elf::facts_of("cut", &bytes[..bytes.len() / 2]).unwrap();
    assert!(facts.problems.iter().any(|text| text.contains("section headers")), "{facts:?}");
}

#[test]
fn any_byte_may_be_anything() {
    for name in ["versions.no-sections.so", "static", "i386-relr.so"] {
        let mut bytes = testfile(name);
        for index in 0..bytes.len() {
            let before = bytes[index];
            for value in [0, 0x7f, 0xff] {
                bytes[index] = value;
                read(&bytes);
            }
            bytes[index] = before;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn damage_is_survived(
        file in 0..5_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        words in prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 0..8),
        cut in any::<prop::sample::Index>(),
        truncate in any::<bool>(),
    ) {
        let mut bytes = match file {
            0 => compiled(),
            1 => testfile("versions.no-sections.so"),
            2 => testfile("powerpc64.so"),
            3 => testfile("i386-relr.so"),
            _ => testfile("tlsdesc.so"),
        };
        for (index, value) in changes {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        for (index, value) in words {
            // Headers and tables are at the start: damage there goes furthest.
            let at = index.index(1024.min(bytes.len() - 4)) / 4 * 4;
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        if truncate {
            bytes.truncate(cut.index(bytes.len()));
        }
        read(&bytes);
    }
}

/// Tables that overlap must not multiply the work: a thousand sections, each the whole file.
#[test]
fn overlapping_tables_are_read_once() {
    let sections = 1000_u16;
    let mut bytes = testfile("versions.so");
    bytes[40..48].copy_from_slice(&64_u64.to_le_bytes());
    bytes[58..60].copy_from_slice(&64_u16.to_le_bytes());
    bytes[60..62].copy_from_slice(&sections.to_le_bytes());
    bytes.resize(64 + 64 * usize::from(sections) + 1_000_000, 0);
    let length = bytes.len() as u64;
    for section in 0..usize::from(sections) {
        let at = 64 + 64 * section;
        bytes[at + 4..at + 8].copy_from_slice(&4_u32.to_le_bytes());
        bytes[at + 24..at + 32].copy_from_slice(&0_u64.to_le_bytes());
        bytes[at + 32..at + 40].copy_from_slice(&length.to_le_bytes());
    }
    let facts = image::elf::facts_of("overlap", &bytes).unwrap();
    assert!(facts.relocation_table_bytes <= length);
    assert!(facts.problems.iter().any(|text| text.contains("overlapping")), "{:?}", facts.problems);
}

#[test]
fn what_is_not_elf_is_named() {
    for (bytes, word) in [
        (&b""[..], "empty"),
        (b"#!/bin/sh\n", "script"),
        (b"!<arch>\nlibrary", "ar x"),
        (b"MZ\x90\x00", "Windows"),
        (b"\x00\x01\x02\x03\x04", "00 01 02 03"),
        (b"\x7fELF", "cut short"),
        (b"\x7fELF\x02\x01", "cut short"),
        (b"\x7fELF\x09\x01", "EI_CLASS 9"),
        (b"\x7fELF\x02\x07", "EI_DATA 7"),
    ] {
        let error = image::elf::facts_of("some/file", bytes).unwrap_err().to_string();
        assert!(error.contains("some/file") && error.contains(word), "{error}");
    }
}

#[test]
fn what_is_no_file_is_named() {
    for (path, word) in
        [("/", "a folder"), ("/dev/null", "a device"), ("/no/such/file", "check the path")]
    {
        let error = image::elf::facts(Path::new(path)).unwrap_err().to_string();
        assert!(error.contains(path) && error.contains(word), "{error}");
    }
}

#[test]
fn a_mapped_file_has_the_facts_of_its_bytes() {
    let path = std::env::current_exe().unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let name = path.to_string_lossy();
    assert_eq!(image::elf::facts(&path).unwrap(), image::elf::facts_of(&name, &bytes).unwrap());
}

/// A table large enough for several threads and windows gives what its bytes give.
#[test]
fn a_large_table_is_counted_alike_in_memory_and_from_the_file() {
    let entries = 900_001_u64; // 20.6 MiB, not a multiple of a window
    let table = 64 + 2 * 64_u64;
    let mut bytes = testfile("versions.so");
    bytes.truncate(64);
    bytes[32..40].fill(0); // no program headers
    bytes[56..58].fill(0);
    bytes[40..48].copy_from_slice(&64_u64.to_le_bytes());
    bytes[60..62].copy_from_slice(&2_u16.to_le_bytes());
    bytes.resize(table as usize, 0);
    bytes[128 + 4..128 + 8].copy_from_slice(&4_u32.to_le_bytes()); // SHT_RELA
    bytes[128 + 8..128 + 16].copy_from_slice(&2_u64.to_le_bytes()); // SHF_ALLOC
    bytes[128 + 24..128 + 32].copy_from_slice(&table.to_le_bytes());
    bytes[128 + 32..128 + 40].copy_from_slice(&(entries * 24).to_le_bytes());
    for entry in 0..entries {
        let kind = if entry % 7 == 0 { (entry << 32) | 1 } else { 8 };
        bytes.extend((entry * 64).to_le_bytes());
        bytes.extend(kind.to_le_bytes());
        bytes.extend(0_u64.to_le_bytes());
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    std::fs::write(&path, &bytes).unwrap();
    let mapped = image::elf::facts(&path).unwrap();
    assert_eq!(mapped, image::elf::facts_of(&path.to_string_lossy(), &bytes).unwrap());
    let symbolic = entries.div_ceil(7);
    assert_eq!(mapped.relocations["R_X86_64_64"], symbolic);
    assert_eq!(mapped.relative_relocations, entries - symbolic);
    assert_eq!(mapped.symbolic_relocations, symbolic - 1, "the first one has no symbol");
    assert_eq!(mapped.relocated_pages, (entries * 64).div_ceil(4096));
}
