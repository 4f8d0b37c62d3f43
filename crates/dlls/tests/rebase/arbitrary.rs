//! Images with any relocations.

use crate::emitted::*;
use crate::loader;
use crate::rebase;
use dlls::rebase::{RebaseOptions, examine};
use image::pe::Pe;
use proptest::prelude::*;

/// Relocations: distances to the one before, and types.
fn gaps() -> impl Strategy<Value = Vec<(u32, u8)>> {
    prop::collection::vec((prop_oneof![0..4_u32, 0..600_u32, 3000..5000_u32], any::<u8>()), 0..60)
}

/// An image with relocations at such distances, of the types that its machine has; `shuffled`
/// where its blocks and entries are not in order.
fn with(machine: u16, wide: bool, gaps: &[(u32, u8)], shuffled: bool) -> Emitted {
    let kinds: &[u8] = match (machine, wide) {
        (ARMNT, _) => &[HIGHLOW, THUMB_MOV32, ARM_MOV32, ABSOLUTE],
        (_, true) => &[DIR64, DIR64, DIR64, LOW, ABSOLUTE],
        _ => &[HIGHLOW, HIGHLOW, HIGH, LOW, HIGHADJ, ABSOLUTE],
    };
    let mut at = DATA;
    let mut blocks: Vec<(u32, Vec<Vec<u16>>)> = Vec::new();
    let mut movs = Vec::new();
    for (gap, kind) in gaps {
        let kind = kinds[usize::from(*kind) % kinds.len()];
        at += gap;
        if at + 8 > BSS {
            break;
        }
        if blocks.last().is_none_or(|(page, _)| at - page >= 0x1000) {
            blocks.push((at & !0xfff, Vec::new()));
        }
        let (page, entries) = blocks.last_mut().unwrap();
        let mut words = vec![entry(kind, at - *page)];
        words.extend((kind == HIGHADJ).then_some(at as u16 ^ 0x8765));
        entries.push(words);
        if [ARM_MOV32, THUMB_MOV32].contains(&kind) {
            movs.push((at, kind));
        }
        at += image::pe::relocations::bytes(kind);
    }
    if shuffled {
        blocks.reverse();
        blocks.iter_mut().for_each(|(_, entries)| entries.reverse());
    }
    let table = blocks.iter().flat_map(|(page, entries)| {
        let mut words: Vec<u16> = entries.concat();
        words.resize(words.len().next_multiple_of(2), 0);
        block(*page, &words)
    });
    let mut image = Emitted::new(machine, wide, table.collect());
    for (at, kind) in movs {
        let pair = match kind {
            ARM_MOV32 => [0x34, 0x32, 0x01, 0xe3, 0xcd, 0x3b, 0x4a, 0xe3],
            _ => [0x41, 0xf2, 0x34, 0x23, 0xca, 0xf6, 0xcd, 0x33],
        };
        image.put(at, &pair);
    }
    image
}

/// Everything but `ImageBase`, `TimeDateStamp` and `CheckSum`.
fn without_headers(memory: &[u8]) -> &[u8] {
    &memory[DATA as usize..]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    /// A moved file is what a loader would have made of it, and goes back to what it was.
    #[test]
    fn as_a_loader_would(
        gaps in gaps(),
        machine in prop::sample::select(vec![(AMD64, true), (I386, false), (ARMNT, false)]),
        shuffled: bool,
        checksum: bool,
        slots in prop::collection::vec(1..0xfff_u64, 1..4),
    ) {
        let image = with(machine.0, machine.1, &gaps, shuffled);
        let original = Emitted { checksum, ..image }.bytes();
        let mut file = original.clone();
        for slot in &slots {
            let base = slot << 20;
            let moved = rebase("it", file.clone(), base, RebaseOptions::default()).unwrap();
            let distance = base.wrapping_sub(moved.old_base.0) as i64;
            let expected = loader::memory(&file, distance);
            let found = loader::memory(&moved.bytes, 0);
            prop_assert!(without_headers(&found) == without_headers(&expected));
            let pe = Pe::parse("it", &moved.bytes).unwrap();
            prop_assert_eq!(pe.headers().base.0, base);
            let right = if checksum { pe.computed_checksum() } else { 0 };
            prop_assert_eq!(pe.headers().checksum, right);
            file = moved.bytes;
        }
        let first = Pe::parse("it", &original).unwrap().headers().base;
        let back = rebase("it", file, first.0, RebaseOptions::default()).unwrap();
        prop_assert!(back.bytes == original);
    }

    /// Any bytes as a relocation table: a sentence, or a way there and back.
    #[test]
    fn any_table(
        table in prop::collection::vec(any::<u8>(), 0..200),
        page in prop_oneof![Just(DATA), Just(MORE), Just(BSS), Just(0), Just(RELOC), any::<u32>()],
        wide: bool,
    ) {
        let mut words = table;
        words.truncate(words.len() & !1);
        let bytes = [&page.to_le_bytes()[..], &(8 + words.len() as u32).to_le_bytes(), &words].concat();
        let machine = if wide { AMD64 } else { I386 };
        let original = Emitted::new(machine, wide, bytes).bytes();
        let pe = Pe::parse("it", &original).unwrap();
        let obstacle = examine("it", &pe, RebaseOptions::default()).obstacle;
        match rebase("it", original.clone(), 0x5000_0000, RebaseOptions::default()) {
            Ok(moved) => {
                prop_assert_eq!(obstacle, None);
                let base = pe.headers().base;
                if let Ok(back) = rebase("it", moved.bytes, base.0, RebaseOptions::default()) {
                    prop_assert!(back.bytes == original);
                }
            }
            Err(error) => prop_assert!(error.to_string().starts_with("it: "), "{error}"),
        }
    }
}
