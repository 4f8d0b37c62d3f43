//! What is refused, each for its reason; and what looks wrong and is not.

use crate::emitted::*;
use crate::loader;
use crate::rebase;
use dlls::rebase::{RebaseOptions, examine};
use image::pe::Pe;

const ELSEWHERE: u64 = 0x2_0000_0000;

fn wide(table: Vec<u8>) -> Emitted {
    Emitted::new(AMD64, true, table)
}

/// The reason why an image is refused, which is known before it is rewritten.
fn reason(image: &Emitted, base: u64) -> String {
    let file = image.bytes();
    let examined =
        examine("it.dll", &Pe::parse("it.dll", &file).unwrap(), RebaseOptions::default());
    let error = rebase("it.dll", file, base, RebaseOptions::default()).unwrap_err().to_string();
    let reason = error.strip_prefix("it.dll: ").unwrap().to_owned();
    if let Some(problem) = examined.obstacle {
        assert_eq!(problem.to_string(), reason);
    }
    reason
}

fn refuses(image: &Emitted, expected: &str) {
    let reason = reason(image, if image.wide { ELSEWHERE } else { 0x5000_0000 });
    assert!(reason.contains(expected), "{reason}");
}

fn moves(image: &Emitted) {
    let file = image.bytes();
    let base = if image.wide { ELSEWHERE } else { 0x5000_0000 };
    let moved = rebase("it.dll", file.clone(), base, RebaseOptions::default()).unwrap();
    let distance = base.wrapping_sub(image.base) as i64;
    let (found, expected) = (loader::memory(&moved.bytes, 0), loader::memory(&file, distance));
    assert!(found[DATA as usize..] == expected[DATA as usize..]);
    let back = rebase("it.dll", moved.bytes, image.base, RebaseOptions::default()).unwrap();
    assert!(back.bytes == file);
}

#[test]
fn blocks_of_no_size_end_a_table_or_damage_it() {
    let good = block(DATA, &[entry(DIR64, 8), 0]);
    moves(&wide([good.clone(), vec![0; 8]].concat()));
    moves(&wide([good.clone(), vec![0; 200]].concat()));
    refuses(
        &wide([good.clone(), block(0, &[])[..4].to_vec(), vec![0; 4], good.clone()].concat()),
        "has the size 0",
    );
    let mut after = [good.clone(), vec![0; 8], good].concat();
    after[12] = 1;
    refuses(&wide(after), "has the size 0");
}

#[test]
fn blocks_of_odd_sizes_are_damage() {
    for size in [1_u8, 7, 9, 11] {
        let mut table = block(DATA, &[entry(DIR64, 8), 0]);
        table[4] = size;
        refuses(&wide(table), &format!("has the size {size}"));
    }
    let mut beyond = block(DATA, &[entry(DIR64, 8), 0]);
    beyond[5] = 0xff;
    refuses(&wide(beyond), "has the size 65292");
    let mut largest = block(DATA, &[entry(DIR64, 8), 0]);
    largest[4..8].fill(0xff);
    refuses(&wide(largest), "has the size 4294967295");
    moves(&wide(block(DATA, &[])));
}

#[test]
fn unknown_types_are_refused_by_number_and_name() {
    for kind in [5, 6, 7, 8, 9, 11, 12, 13, 14, 15] {
        let table = block(DATA, &[entry(DIR64, 0), entry(kind, 16)]);
        refuses(&wide(table), &format!("at 0x1010 has type {kind}, which is not supported"));
    }
    let riscv = Emitted::new(0x5064, true, block(DATA, &[entry(5, 16), 0]));
    refuses(&riscv, "has type 5 (RISCV_HIGH20), which is not supported");
    let ia64 = Emitted::new(0x200, true, block(DATA, &[entry(9, 16), 0]));
    refuses(&ia64, "has type 9 (IA64_IMM64), which is not supported");
}

#[test]
fn a_target_that_straddles_pages_or_sections_is_moved() {
    let last = 0x1000 - 3;
    moves(&wide(block(DATA, &[entry(DIR64, last), 0])));
    // The second page of .data ends where .more begins, which is elsewhere in the file.
    moves(&wide(block(DATA + 0x1000, &[entry(DIR64, last), 0])));
    let narrow = block(DATA + 0x1000, &[entry(HIGHLOW, 0xffe), entry(LOW, 0)]);
    moves(&Emitted::new(I386, false, narrow));
    // An entry counts from its block's page, which need not be a page.
    moves(&wide(block(DATA + 0x123, &[entry(DIR64, 0xfff), 0])));
}

#[test]
fn a_target_that_is_not_in_the_file_is_refused() {
    let beyond_the_file = block(MORE + 0x1000, &[entry(DIR64, 0xffc), 0]);
    refuses(&wide(beyond_the_file), "at 0x4ffc changes bytes that are not stored in the file");
    for page in [BSS, 0x7_0000, 0xffff_f000] {
        let table = block(page, &[entry(DIR64, 8), 0]);
        refuses(&wide(table), "changes bytes that are not stored in the file");
    }
    moves(&wide(block(BSS, &[entry(ABSOLUTE, 8), 0])));
}

#[test]
fn headers_and_the_table_itself_are_not_relocated() {
    refuses(&wide(block(0, &[entry(DIR64, 0xb0), 0])), "changes the headers");
    refuses(&wide(block(RELOC, &[entry(DIR64, 0), 0])), "changes the relocation table itself");
}

#[test]
fn a_place_is_relocated_once() {
    let twice = [entry(DIR64, 8), entry(DIR64, 8)];
    refuses(&wide(block(DATA, &twice)), "two relocations change the bytes at 0x1008");
    let overlap = [entry(DIR64, 8), entry(DIR64, 15)];
    refuses(&wide(block(DATA, &overlap)), "two relocations change the bytes at 0x100f");
    let apart = [entry(DIR64, 80), entry(DIR64, 0), entry(DIR64, 8), 0];
    moves(&wide(block(DATA, &apart)));
    let next_page =
        [block(DATA, &[entry(DIR64, 0xffc), 0]), block(DATA + 0x1000, &[entry(DIR64, 3), 0])];
    refuses(&wide(next_page.concat()), "two relocations change the bytes at 0x2003");
    let same_block = block(DATA, &[entry(DIR64, 8), 0]);
    refuses(&wide([same_block.clone(), same_block].concat()), "two relocations");
}

#[test]
fn bytes_of_two_sections_are_not_relocated() {
    let mut file = wide(block(DATA, &[entry(DIR64, 8), 0])).bytes();
    // .more is where .data is.
    let sections = Pe::parse("it", &file).unwrap().headers().section_table.index();
    let offset = loader::read(&file, sections + 20, 4) as u32;
    put32(&mut file, sections + 40 + 20, offset);
    let error = rebase("it", file, ELSEWHERE, RebaseOptions::default()).unwrap_err().to_string();
    assert!(error.contains("also mapped elsewhere in the image"), "{error}");
}

#[test]
fn stripped_images_stay() {
    let mut image = wide(Vec::new());
    image.characteristics |= 1;
    refuses(&image, "its relocations were stripped, so it cannot be moved from 0x180000000");
    let same = rebase("it", image.bytes(), image.base, RebaseOptions::default()).unwrap();
    assert!(same.bytes == image.bytes(), "where it is, it may be");
}

#[test]
fn without_a_table_only_the_header_changes() {
    let image = wide(Vec::new());
    let file = image.bytes();
    let moved = rebase("it", file.clone(), ELSEWHERE, RebaseOptions::default()).unwrap();
    assert_eq!(moved.relocations, 0);
    let differences = file.iter().zip(&moved.bytes).filter(|(one, other)| one != other);
    assert!(differences.count() <= 8 + 4 + 4, "base, time stamp, checksum");
    moves(&image);
    let mut outside = image;
    outside.directories = vec![(5, 0x10_0000, 8)];
    refuses(&outside, "the relocation table at 0x100000 is not in the file");
}

#[test]
fn bases_are_in_the_address_space_and_in_slots() {
    let table = block(DATA, &[entry(DIR64, 8), 0]);
    assert!(reason(&wide(table.clone()), 0x2_0000_1000).contains("multiples of 64 KiB"));
    assert!(reason(&wide(table.clone()), 1 << 47).contains("128 TiB"));
    assert!(reason(&wide(table), !0xffff).contains("128 TiB"));
    let narrow = Emitted::new(I386, false, block(DATA, &[entry(HIGHLOW, 8), 0]));
    assert!(reason(&narrow, 1 << 32).contains("below 4 GiB"));
    assert!(reason(&narrow, 0xffff_0000_0000).contains("below 4 GiB"));
    let last = (1_u64 << 32) - 0x1_0000;
    let moved = rebase("it", narrow.bytes(), last, RebaseOptions::default()).unwrap();
    assert_eq!(Pe::parse("it", &moved.bytes).unwrap().headers().base.0, last);
}

#[test]
fn narrow_addresses_in_wide_images_stay_below_4_gib() {
    let mut image = wide(block(DATA, &[entry(HIGHLOW, 8), 0]));
    image.base = 0x40_0000;
    let file = image.bytes();
    let examined = examine("it", &Pe::parse("it", &file).unwrap(), RebaseOptions::default());
    assert_eq!(examined.address_end.0, 1 << 32);
    assert!(reason(&image, ELSEWHERE).contains("must be below 4 GiB and cannot be at 0x200000000"));
    rebase("it", file, 0x7000_0000, RebaseOptions::default()).unwrap();
}

#[test]
fn halves_need_whole_distances() {
    let mut image = Emitted::new(I386, false, block(DATA, &[entry(HIGH, 8), 0]));
    image.base = 0x1000_8000;
    refuses(&image, "relocation of half an address (HIGH at 0x1008)");
    image.base = 0x1000_0000;
    moves(&image);
    let cut = Emitted::new(I386, false, block(DATA, &[entry(LOW, 0), entry(HIGHADJ, 8)]));
    refuses(&cut, "ends within a HIGHADJ relocation");
}

#[test]
fn mov32_is_at_a_pair_of_instructions() {
    let arm = Emitted::new(ARMNT, false, block(DATA, &[entry(THUMB_MOV32, 8), 0]));
    refuses(&arm, "the THUMB_MOV32 relocation at 0x1008 is not on a pair of MOVW and MOVT");
}

#[test]
fn addresses_of_loaders_tables_have_relocations() {
    let base = 0x1_8000_0000_u64;
    let tls = |covered: &[u32]| {
        let entries: Vec<u16> = covered.iter().map(|at| entry(DIR64, *at)).collect();
        let mut image = wide(block(DATA, &entries));
        image.put(DATA, &[0; 0x200]);
        for (index, target) in [0x100, 0x108, 0x110, 0x120].into_iter().enumerate() {
            image.put(DATA + 8 * index as u32, &(base + u64::from(DATA) + target).to_le_bytes());
        }
        image.put(DATA + 0x120, &(base + 0x1000).to_le_bytes());
        image.directories = vec![(9, DATA, 40)];
        image
    };
    moves(&tls(&[0, 8, 16, 24, 0x120]));
    refuses(&tls(&[8, 16, 24, 0x120]), "StartAddressOfRawData of the TLS directory, at 0x1000");
    refuses(&tls(&[0, 8, 16, 0x120]), "AddressOfCallBacks of the TLS directory, at 0x1018");
    refuses(&tls(&[0, 8, 16, 24]), "callback of the TLS directory, at 0x1120");

    let config = |covered: &[u32]| {
        let entries: Vec<u16> = covered.iter().map(|at| entry(DIR64, *at)).collect();
        let mut image = wide(block(DATA, &entries));
        image.put(DATA, &[0; 0x200]);
        image.put(DATA, &0x60_u32.to_le_bytes());
        image.put(DATA + 0x58, &(base + 0x1100).to_le_bytes());
        // Behind the size that it states: not a field.
        image.put(DATA + 0x80, &(base + 0x1100).to_le_bytes());
        image.directories = vec![(10, DATA, 0x60)];
        image
    };
    moves(&config(&[0x58, 0x100]));
    refuses(&config(&[0x100]), "SecurityCookie of the load configuration, at 0x1058");
}

/// Delay imports of the first version: the descriptor's fields and the names' are addresses.
#[test]
fn delay_imports_of_the_first_version_have_relocations() {
    let base = 0x1000_0000_u32;
    let with = |covered: &[u32]| {
        let entries: Vec<u16> = covered.iter().map(|at| entry(HIGHLOW, *at)).collect();
        let mut image = Emitted::new(I386, false, block(DATA, &entries));
        image.put(DATA, &[0; 0x200]);
        for (field, target) in [(4, 0x100), (8, 0x110), (12, 0x120), (16, 0x130)] {
            image.put(DATA + field, &(base + DATA + target).to_le_bytes());
        }
        image.put(DATA + 0x100, b"other.dll\0");
        image.put(DATA + 0x120, &(base + 0x1000).to_le_bytes());
        image.put(DATA + 0x130, &(base + DATA + 0x140).to_le_bytes());
        image.put(DATA + 0x140, b"\0\0function\0");
        image.directories = vec![(13, DATA, 64)];
        image
    };
    moves(&with(&[4, 8, 12, 16, 0x120, 0x130]));
    let missing = "ImportAddressTableRVA of the delay-import table, at 0x100c";
    refuses(&with(&[4, 8, 16, 0x120, 0x130]), missing);
    refuses(&with(&[4, 8, 12, 16, 0x120]), "name of a function of the delay-import table");
}

#[test]
fn sections_near_4_gib_take_no_memory_here() {
    let mut file = wide(block(DATA, &[entry(DIR64, 8), 0])).bytes();
    let sections = Pe::parse("it", &file).unwrap().headers().section_table.index();
    put32(&mut file, sections + 2 * 40 + 8, 0xffff_ff00);
    let examined = examine("it", &Pe::parse("it", &file).unwrap(), RebaseOptions::default());
    assert_eq!(examined.memory_bytes, u64::from(BSS) + 0xffff_ff00);
    let error = rebase("it", file, ELSEWHERE, RebaseOptions::default()).unwrap_err().to_string();
    assert!(error.contains("needs 4294987520 bytes of memory, more than the 2 GiB"), "{error}");
}

#[test]
fn signed_images_are_refused_unless_the_signature_may_go() {
    let mut image = wide(block(DATA, &[entry(DIR64, 8), 0]));
    let unsigned = image.bytes();
    image.directories = vec![(4, unsigned.len() as u32, 16)];
    image.checksum = false;
    let file = [image.bytes(), vec![16, 0, 0, 0, 0, 2, 2, 0, 1, 2, 3, 4, 5, 6, 7, 8]].concat();
    let error = rebase("it", file.clone(), ELSEWHERE, RebaseOptions::default()).unwrap_err();
    assert!(matches!(error.advice(), Some(dlls::Advice::StripSignature(_))), "{error}");
    let strip = RebaseOptions { strip_signature: true, ..RebaseOptions::default() };
    let moved = rebase("it", file.clone(), ELSEWHERE, strip).unwrap();
    assert_eq!(moved.bytes.len(), unsigned.len());
    assert!(Pe::parse("it", &moved.bytes).unwrap().certificate_range().is_none());
    let trailing = [file, vec![0; 64]].concat();
    let error = rebase("it", trailing, ELSEWHERE, strip).unwrap_err().to_string();
    assert!(error.contains("not at the end of the file"), "{error}");
}

#[test]
fn checksums_are_right_where_they_were_or_where_asked_for() {
    let image = wide(block(DATA, &[entry(DIR64, 8), 0]));
    let right = |bytes: &[u8]| {
        let pe = Pe::parse("it", bytes).unwrap();
        (pe.headers().checksum, pe.headers().checksum == pe.computed_checksum())
    };
    let compute = RebaseOptions { checksum: true, ..RebaseOptions::default() };
    let zero = Emitted { checksum: false, ..image.clone() }.bytes();
    let mut wrong = image.bytes();
    let at = Pe::parse("it", &wrong).unwrap().headers().checksum_offset().index();
    put32(&mut wrong, at, 77);
    for (file, expected) in [(image.bytes(), None), (zero, Some(0)), (wrong, Some(77))] {
        let moved = rebase("it", file.clone(), ELSEWHERE, RebaseOptions::default()).unwrap();
        match expected {
            None => assert!(right(&moved.bytes).1),
            Some(stored) => assert_eq!(right(&moved.bytes), (stored, false)),
        }
        let moved = rebase("it", file, ELSEWHERE, compute).unwrap();
        assert!(right(&moved.bytes).1);
    }
}

#[test]
fn time_stamps_change_unless_they_are_to_stay() {
    let image = wide(block(DATA, &[entry(DIR64, 8), 0]));
    let stamp = |base, keep_time_stamp| {
        let options = RebaseOptions { keep_time_stamp, ..RebaseOptions::default() };
        let moved = rebase("it", image.bytes(), base, options).unwrap();
        let pe = Pe::parse("it", &moved.bytes).unwrap();
        assert_eq!(pe.headers().time_stamp, moved.time_stamp);
        moved.time_stamp
    };
    assert_eq!(stamp(ELSEWHERE, true), image.time_stamp);
    assert_ne!(stamp(ELSEWHERE, false), image.time_stamp);
    assert_ne!(stamp(ELSEWHERE, false), stamp(ELSEWHERE + 0x1_0000, false));
    assert_eq!(stamp(ELSEWHERE, false), stamp(ELSEWHERE, false));
    assert_eq!(stamp(image.base, false), image.time_stamp);
}
