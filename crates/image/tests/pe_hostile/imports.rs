//! Import tables that overlap, go round in circles, or do not end.

use super::made::{AT, Made, PAGE};
use super::{MEGABYTE, problem, quickly};
use image::pe::spec;

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
