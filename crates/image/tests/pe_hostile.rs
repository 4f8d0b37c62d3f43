//! Damaged and hostile PE files: an error or facts, never a panic, never a claim that the bytes
//! cannot hold, and time and memory in proportion to the file.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

mod pe_made;

use image::pe::{Pe, spec};
use model::PeFacts;
use pe_made::{AT, Made, PAGE};
use proptest::prelude::*;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Of a hostile megabyte, also where tests are not optimised and run side by side.
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
fn relocation_block_of_size_0() {
    let mut made = Made::new(2 * PAGE);
    made.directory(spec::BASERELOC, AT, 100);
    made.words(AT, &[0x1000, 12, 0xa008_a000, 0x1000, 0, 0x1234]);
    let facts = quickly(&made.bytes());
    assert_eq!(facts.relocations["DIR64"], 2);
    problem(&facts, "has the size 0");
    // Zeros to the end are padding.
    made.words(AT + 12, &[0, 0, 0]);
    assert!(quickly(&made.bytes()).problems.is_empty());
}

#[test]
fn relocation_blocks_with_impossible_sizes() {
    for size in [1, 4, 7, 9, 13, 0x7fff_ffff, u32::MAX] {
        let mut made = Made::new(2 * PAGE);
        made.directory(spec::BASERELOC, AT, 64);
        made.words(AT, &[0x1000, size, 0xa008_a000]);
        problem(&quickly(&made.bytes()), "the relocation block at");
    }
}

#[test]
fn relocation_targets_that_straddle_pages_and_sections() {
    let mut made = Made::new(2 * PAGE);
    made.directory(spec::BASERELOC, AT, 16);
    // Eight bytes from 0x1ffc: two pages. Eight from 0x2ffc: the section's, and the image's, end.
    made.words(AT, &[0x1000, 10, 0xaffc, 0]);
    made.words(AT + 10, &[0x2000, 10, 0xaffc]);
    made.directory(spec::BASERELOC, AT, 20);
    let facts = quickly(&made.bytes());
    assert_eq!((facts.relocations["DIR64"], facts.relocated_pages), (2, 3), "{facts:?}");
    problem(&facts, "1 relocations are outside of the image");
}

#[test]
fn unknown_relocation_types_are_named_by_number() {
    let mut made = Made::new(2 * PAGE);
    made.directory(spec::BASERELOC, AT, 12);
    made.words(AT, &[0x1000, 12, 0xf008_6000]);
    let facts = quickly(&made.bytes());
    assert_eq!((facts.relocations["type 6"], facts.relocations["type 15"]), (1, 1));
}

#[test]
fn a_high_adjusted_relocation_without_its_second_half() {
    let mut made = Made::new(2 * PAGE);
    made.directory(spec::BASERELOC, AT, 10);
    made.words(AT, &[0x1000, 10, 0x4008]);
    problem(&quickly(&made.bytes()), "HIGHADJ");
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
            let table = Pe::parse("x", &bytes).unwrap().headers().section_offset(0);
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
                let at = headers.directory_offset(index);
                changed[at..at + 4].copy_from_slice(&from.rva.to_le_bytes());
                changed[at + 4..at + 8].copy_from_slice(&u32::MAX.to_le_bytes());
            }
            quickly(&changed);
        }
    }
}

#[test]
fn export_tables_that_claim_all_numbers() {
    for (functions, names) in [(u32::MAX, 1), (1, u32::MAX), (u32::MAX, u32::MAX), (1 << 30, 0)] {
        let mut made = Made::new(2 * PAGE);
        made.directory(spec::EXPORT, AT, 40);
        made.words(AT, &[0, 0, 0, 0, 1, functions, names, AT + 40, AT + 44, AT + 48]);
        let facts = quickly(&made.bytes());
        problem(&facts, "is not in the file");
        assert_eq!(facts.exports, 0);
    }
}

#[test]
fn exported_names_without_functions_and_without_ends() {
    let mut made = Made::new(MEGABYTE);
    made.fill(b'x');
    made.directory(spec::EXPORT, AT, 40);
    made.words(AT, &[0, 0, 0, 0, 1, 1, 2, AT + 40, AT + 44, AT + 52]);
    made.words(AT + 40, &[0x1000, AT + 100, AT + 100, 0x0009_0000]);
    let facts = quickly(&made.bytes());
    problem(&facts, "1 exported names have no function");
    assert_eq!((facts.exports, facts.export_names), (1, 2));
}

/// Every function a forwarder to the same text of nearly half the file.
#[test]
fn forwarders_that_share_one_long_text() {
    let mut made = Made::new(MEGABYTE);
    made.fill(b'y');
    let count = (MEGABYTE / 8) as u32;
    let text = AT + 40 + 4 * count;
    made.directory(spec::EXPORT, AT, MEGABYTE as u32);
    made.words(AT, &[0, 0, 0, 0, 1, count, 0, AT + 40, 0, 0]);
    made.words(AT + 40, &vec![text; count as usize]);
    made.byte(text + 12_000, 0);
    let facts = quickly(&made.bytes());
    problem(&facts, "forwarders: overlapping tables");
}

/// Every function a forwarder to text that does not end.
#[test]
fn forwarders_without_ends() {
    let mut made = Made::new(MEGABYTE);
    made.fill(b'y');
    let count = (MEGABYTE / 5) as u32;
    made.directory(spec::EXPORT, AT, MEGABYTE as u32);
    made.words(AT, &[0, 0, 0, 0, 1, count, 0, AT + 40, 0, 0]);
    made.words(AT + 40, &vec![AT + 40 + 4 * count; count as usize]);
    assert_eq!(quickly(&made.bytes()).exports, 0);
}

/// Every import the same name of 12 KiB, and of half the file.
#[test]
fn imports_that_share_one_long_name() {
    for (length, expected) in
        [(12_000, "imports: overlapping tables"), (400_000, "names a function")]
    {
        let mut made = Made::new(MEGABYTE);
        made.fill(b'z');
        let count = MEGABYTE / 16;
        let lookups = AT + 40;
        let name = lookups + 8 * count as u32 + 8;
        made.directory(spec::IMPORT, AT, 40);
        made.words(AT, &[lookups, 0, 0, name + length - 4, lookups, 0, 0, 0, 0, 0]);
        made.longs(lookups, &vec![u64::from(name); count]);
        made.longs(name - 8, &[0]);
        made.byte(name + length, 0);
        problem(&quickly(&made.bytes()), expected);
    }
}

/// As many descriptors as fit, all with the same large table.
#[test]
fn import_descriptors_that_share_one_table() {
    let mut made = Made::new(MEGABYTE);
    let descriptors = 20_000;
    let lookups = AT + 20 * descriptors + 20;
    made.directory(spec::IMPORT, AT, 20);
    for index in 0..descriptors {
        made.words(AT + 20 * index, &[lookups, 0, 0, lookups, lookups]);
    }
    made.longs(lookups, &vec![1 << 63 | 5; 60_000]);
    problem(&quickly(&made.bytes()), "imports: overlapping tables");
}

/// A descriptor whose table is the descriptors themselves.
#[test]
fn import_tables_in_a_circle() {
    let mut made = Made::new(2 * PAGE);
    made.directory(spec::IMPORT, AT, 40);
    made.fill(0x10);
    made.words(AT, &[AT, 0, 0, AT, AT]);
    quickly(&made.bytes());
    made.directory(spec::DELAY_IMPORT, AT, 40);
    made.words(AT, &[1, AT, AT, AT, AT, AT, AT, 0]);
    quickly(&made.bytes());
}

#[test]
fn import_tables_without_ends() {
    let mut made = Made::new(2 * PAGE);
    made.fill(0xff);
    made.directory(spec::IMPORT, AT, 40);
    made.words(AT, &[AT + 40, 0, 0, 0x1000, AT + 40, 0, 0, 0, 0, 0]);
    made.words(0x1000, &[0x0061_6161]);
    problem(&quickly(&made.bytes()), "has no end");
}

/// A table whose end is where the section goes on in memory alone.
#[test]
fn an_end_that_only_memory_has() {
    let mut made = Made::new(2 * PAGE);
    made.memory_goes_on(PAGE as u32);
    let lookups = 0x1000 + 2 * PAGE as u32 - 8;
    made.directory(spec::IMPORT, lookups - 20, 40);
    made.words(lookups - 20, &[lookups, 0, 0, AT, lookups]);
    made.longs(lookups, &[1 << 63 | 5]);
    made.words(AT, &[0x0062_6262]);
    // The descriptor behind it begins with the lookup, and has no name.
    let facts = quickly(&made.bytes());
    assert!(facts.problems.is_empty(), "{:?}", facts.problems);
    assert_eq!((facts.imports, facts.imports_by_ordinal), (1, 1));
}

#[test]
fn guard_tables_that_claim_too_much() {
    for count in [u64::MAX, 1 << 40, 1 << 20] {
        let mut made = Made::new(MEGABYTE);
        made.guard(0x500, AT + 512, count);
        let facts = quickly(&made.bytes());
        problem(&facts, "the Control Flow Guard table");
        assert_eq!(facts.guard.unwrap().functions, count);
    }
}

/// As many sections as there can be, and as many entries outside of all of them.
#[test]
fn guard_entries_outside_of_many_sections() {
    let sections = 20_000;
    let mut made = Made::with_sections(MEGABYTE, sections);
    let entries = 100_000;
    made.guard(0x500, AT + 512, entries);
    made.words(AT + 512, &vec![0x0fff_fff0; entries as usize]);
    let guard = quickly(&made.bytes()).guard.unwrap();
    assert_eq!((guard.outside_code, guard.sorted), (entries, false));
}

/// As many debug entries as fit, each with the name of a PDB file as large as the file.
#[test]
fn debug_entries_that_share_one_large_name() {
    let mut made = Made::new(MEGABYTE);
    made.fill(b'p');
    let count = 30_000;
    made.directory(spec::DEBUG, AT, 28 * count);
    let text = AT + 28 * count;
    made.words(text, &[u32::from_le_bytes(*b"RSDS")]);
    let offset = made.offset(text);
    let size = MEGABYTE as u32 - (text - 0x1000) - 8;
    for index in 0..count {
        made.words(AT + 28 * index, &[0, 0, 0, 2, size, text, offset]);
    }
    problem(&quickly(&made.bytes()), "debug entries: overlapping tables");
}

#[test]
fn bound_imports_and_certificates_at_wrong_places() {
    let mut made = Made::new(2 * PAGE);
    made.fill(1);
    made.directory(spec::BOUND_IMPORT, AT, 8);
    quickly(&made.bytes());
    made.directory(spec::SECURITY, u32::MAX, u32::MAX);
    problem(&quickly(&made.bytes()), "certificates at offset");
    made.directory(spec::SECURITY, 1024, 64);
    problem(&quickly(&made.bytes()), "wrong length");
}

#[test]
fn thread_local_storage_outside_of_the_image() {
    let mut made = Made::new(2 * PAGE);
    made.directory(spec::TLS, AT, 40);
    made.longs(AT, &[u64::MAX, 0, 0, u64::MAX - 7, 0]);
    let facts = quickly(&made.bytes());
    problem(&facts, "TLS callbacks");
    assert_eq!(facts.tls.unwrap().template_bytes, 0);
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
