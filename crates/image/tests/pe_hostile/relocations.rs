//! Relocation tables that no linker writes.

use super::made::{AT, Made, PAGE};
use super::{problem, quickly};
use image::pe::spec;

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
