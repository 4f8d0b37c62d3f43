//! Export tables that claim what the file has not.

use super::made::{AT, Made, PAGE};
use super::{MEGABYTE, problem, quickly};
use image::pe::spec;

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
