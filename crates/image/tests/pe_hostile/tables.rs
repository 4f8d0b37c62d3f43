//! Control Flow Guard, debug, bound imports, certificates, thread-local storage.

use super::made::{AT, Made, PAGE};
use super::{MEGABYTE, problem, quickly};
use image::pe::spec;

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

/// Four units of sixteen bytes lie between the first and the last entry, five are set.
#[test]
fn guard_entries_with_flags_and_the_bitmap_that_they_span() {
    let mut made = Made::new(2 * PAGE);
    made.guard(0x1000_0500, AT + 512, 3);
    made.words(AT + 512, &[0x100f]);
    made.words(AT + 517, &[0x1020]);
    made.words(AT + 522, &[0x1040]);
    let guard = quickly(&made.bytes()).guard.unwrap();
    assert_eq!((guard.stride, guard.sorted, guard.bitmap_bytes), (1, true, 2));
    // Its only section is not executable.
    assert_eq!(guard.outside_code, 3);
    made.words(AT + 517, &[0x1041]);
    assert!(!quickly(&made.bytes()).guard.unwrap().sorted);
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
