//! Damaged and hostile PE files: an error or facts, never a panic, never a claim that the bytes
//! cannot hold, and time and memory in proportion to the file.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

mod exports;
mod imports;
mod made;
mod relocations;
mod tables;

use image::pe::Pe;
use model::PeFacts;
use proptest::prelude::*;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Of a hostile megabyte, also where tests are not optimized and run side by side.
const LIMIT: Duration = Duration::from_secs(5);
const MEGABYTE: usize = 1 << 20;

fn images() -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/pe");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end != "md"));
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Everything there is to read of an image, and what no bytes can say.
fn read(bytes: &[u8]) -> Option<PeFacts> {
    let facts = image::pe::facts_of("hostile", bytes).ok()?;
    let length = bytes.len() as u64;
    // A relocation takes two bytes, an import four, an export four.
    assert!(facts.relocations.values().sum::<u64>() <= length / 2);
    assert!(facts.relocated_pages <= 2 * facts.relocation_count());
    assert!(facts.imports + facts.delay_imports <= 4 * length);
    assert!(facts.exports <= length / 4 && facts.export_names <= length / 4);
    assert!(facts.ordinals_only <= facts.exports && facts.forwarders <= facts.exports);
    assert!(facts.problems.len() <= 21);
    let json = serde_json::to_string(&facts).unwrap();
    assert!(json.len() < 64 * (bytes.len() + 1024));
    let file = Pe::parse("hostile", bytes).unwrap();
    if let Ok(Some(exports)) = file.exports() {
        let _ = exports.position(b"one");
        let _ = exports.names().take(1000).count();
    }
    Some(facts)
}

fn quickly(bytes: &[u8]) -> PeFacts {
    let began = Instant::now();
    let facts = read(bytes).unwrap();
    let took = began.elapsed();
    assert!(took < LIMIT, "{took:?} for {} bytes", bytes.len());
    facts
}

fn problem<'a>(facts: &'a PeFacts, text: &str) -> &'a str {
    let found = facts.problems.iter().find(|problem| problem.contains(text));
    found.unwrap_or_else(|| panic!("no {text:?} in {:?}", facts.problems))
}

#[test]
fn truncation_at_every_length() {
    for bytes in images().iter().filter(|bytes| bytes.len() < 4000) {
        let whole = read(bytes).unwrap();
        assert!(whole.problems.is_empty(), "{whole:?}");
        for length in 0..bytes.len() {
            if let Some(facts) = read(&bytes[..length]) {
                problem(&facts, "the file is cut short");
            }
        }
    }
}

#[test]
fn headers_alone_say_that_they_are_cut_short() {
    let bytes = &images()[0];
    let error = |length: usize| image::pe::facts_of("x", &bytes[..length]).unwrap_err().to_string();
    assert!(error(0).contains("not a PE file") && error(1).contains("not a PE file"));
    assert!(error(63).contains("cut short") && error(200).contains("cut short"));
    let mut dos = bytes.clone();
    dos[60..64].fill(0xff);
    let text = image::pe::facts_of("x", &dos).unwrap_err().to_string();
    assert!(text.contains("DOS"), "{text}");
}

#[test]
fn every_byte_of_the_headers_changed() {
    for bytes in images() {
        for at in 0..bytes.len().min(600) {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                read(&changed);
            }
        }
    }
}

#[test]
fn section_sizes_near_the_largest_number() {
    for (rva, memory, offset, file) in [
        (u32::MAX, u32::MAX, u32::MAX, u32::MAX),
        (0x1000, u32::MAX, 0x200, u32::MAX),
        (0x1000, u32::MAX - 1, u32::MAX - 511, 1024),
        (u32::MAX - 4095, 0, 512, u32::MAX),
        (0, 1, 0x200, u32::MAX),
    ] {
        for bytes in images() {
            let mut bytes = bytes.clone();
            let table = Pe::parse("x", &bytes).unwrap().headers().section_offset(0).index();
            for (place, value) in [(8, memory), (12, rva), (16, file), (20, offset)] {
                bytes[table + place..table + place + 4].copy_from_slice(&value.to_le_bytes());
            }
            quickly(&bytes);
        }
    }
}

#[test]
fn overlapping_directories() {
    for bytes in images() {
        let file = Pe::parse("x", &bytes).unwrap();
        let headers = file.headers();
        for from in &headers.directories {
            let mut changed = bytes.clone();
            for index in 0..headers.directories.len() {
                let at = headers.directory_offset(index).index();
                changed[at..at + 4].copy_from_slice(&from.rva.0.to_le_bytes());
                changed[at + 4..at + 8].copy_from_slice(&u32::MAX.to_le_bytes());
            }
            quickly(&changed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_changes_at_all(
        which in 0..15_usize,
        changes in prop::collection::vec((0..4000_usize, any::<u32>()), 1..30),
    ) {
        let all = images();
        let mut bytes = all[which % all.len()].clone();
        for (at, value) in changes {
            let end = bytes.len().min(at + 4);
            let at = at.min(end);
            bytes[at..end].copy_from_slice(&value.to_le_bytes()[..end - at]);
        }
        read(&bytes);
    }

    #[test]
    fn any_bytes_behind_the_magic_number(tail in prop::collection::vec(any::<u8>(), 0..2000)) {
        read(&[b"MZ", tail.as_slice()].concat());
    }
}
