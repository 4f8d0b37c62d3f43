//! Where functions are after relinking, and which pages that touches.

use super::*;
use crate::Movability;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn addresses(placement: &TextPlacement) -> Vec<u32> {
    placement.extents().map(|(_, extent)| extent.rva.0).collect()
}

#[test]
fn ordered_functions_come_first_and_the_others_close_up() {
    let mut functions = functions(&[0x20, 0x18, 0x100, 0x30]);
    functions[3].alignment = 64;
    functions[3].rva = Rva(0x1140);
    assert_eq!(addresses(&TextPlacement::present(&functions)), [0x1000, 0x1020, 0x1040, 0x1140]);
    let order = ids([3, 1]);
    let reordered = TextPlacement::reordered(&functions, &order);
    assert_eq!(addresses(&reordered), [0x1050, 0x1030, 0x1070, 0x1000]);
    assert_eq!(reordered.in_order_of_address(), ids([3, 1, 0, 2]));
}

#[test]
fn what_cannot_move_stays_among_the_others_with_the_bytes_that_nothing_explains() {
    let mut functions = functions(&[0x20, 0x20, 0x20]);
    functions[1].movability = Movability::InLinkOrder;
    // 0x30 bytes of a table behind the second function.
    functions[2].rva = Rva(0x1070);
    let reordered = TextPlacement::reordered(&functions, &ids([2, 1]));
    assert_eq!(addresses(&reordered), [0x1020, 0x1040, 0x1000]);
    let last = TextPlacement::reordered(&functions, &ids([0]));
    assert_eq!(addresses(&last), [0x1000, 0x1020, 0x1070]);
}

#[test]
fn what_shares_an_input_section_moves_together() {
    let mut functions = functions(&[0x20, 0x18, 0x100, 0x30]);
    functions[2].moves_with_previous = true;
    // As far from the function before it as it is now.
    functions[2].rva = Rva(0x1039);
    functions[3].rva = Rva(0x1140);
    let reordered = TextPlacement::reordered(&functions, &ids([2]));
    assert_eq!(addresses(&reordered), [0x1120, 0x1000, 0x1019, 0x1140]);
    // Once moved, it stays.
    assert_eq!(TextPlacement::reordered(&functions, &ids([2, 3, 1])), {
        TextPlacement::reordered(&functions, &ids([1, 3]))
    });
}

#[test]
fn a_build_may_lack_functions() {
    let extent = FunctionExtent { rva: Rva(0x2ff0), bytes: 0x20 };
    let build = TextPlacement::of_build(vec![None, Some(extent)]);
    assert_eq!(build.extent(FunctionId(0)), None);
    let touched = touched_pages(&build, &ids([0, 1, 5]));
    assert_eq!(touched.pages, [ImagePage(2), ImagePage(3)]);
    assert_eq!(touched.by, ids([1, 1]));
}

#[test]
fn floors_and_windows_are_rounded_up() {
    let functions = functions(&[4096, 1, 40 * 4096]);
    let calls = ids([0, 1, 1]);
    assert_eq!(function_floor(&functions, &calls), 2);
    assert_eq!(function_floor(&functions, &[]), 0);
    let touched = touched_pages(&TextPlacement::present(&functions), &ids([2]));
    // From 0x2010, which is in the third page, on: pages 2 to 42.
    assert_eq!((touched.count(), touched.windows()), (41, 3));
    assert_eq!([line_floor(0), line_floor(64), line_floor(65)], [0, 1, 2]);
}

#[test]
fn a_function_without_bytes_comes_before_the_one_at_its_address() {
    let functions = functions(&[0x20, 0]);
    let reordered = TextPlacement::reordered(&functions, &ids([1]));
    assert_eq!(addresses(&reordered), [0x1000, 0x1000]);
    assert_eq!(reordered.in_order_of_address(), ids([1, 0]));
}

prop_compose! {
    fn any_functions()(
        all in prop::collection::vec((0u32..9_000, 0u32..3, any::<bool>(), 0u32..40), 1..80)
    ) -> Vec<PlacedFunction> {
        let mut end = 0x1000u32;
        let place = |(bytes, alignment, movable, table): (u32, u32, bool, u32)| {
            let alignment = 8 << alignment;
            let rva = end.next_multiple_of(alignment);
            end = rva + bytes + table / 30 * table;
            PlacedFunction {
                rva: Rva(rva),
                bytes,
                alignment,
                movability: if movable { Movability::Free } else { Movability::InLinkOrder },
                moves_with_previous: false,
bytes_behind: 0,
            }
        };
        all.into_iter().map(place).collect()
    }
}

proptest! {
    #[test]
    fn without_an_order_nothing_moves(functions in any_functions()) {
        let reordered = TextPlacement::reordered(&functions, &[]);
        prop_assert_eq!(reordered, TextPlacement::present(&functions));
    }

    #[test]
    fn a_layout_has_every_function_once_and_what_cannot_move_in_link_order(
        functions in any_functions(),
        order in prop::collection::vec(0u32..100, 0..120),
    ) {
        let order = ids(order);
        let reordered = TextPlacement::reordered(&functions, &order);
        let by_address = reordered.in_order_of_address();
        prop_assert_eq!(by_address.iter().collect::<BTreeSet<_>>().len(), functions.len());
        let mut end = 0x1000;
        for id in &by_address {
            let extent = reordered.extent(*id).unwrap();
            let function = &functions[id.index()];
            prop_assert!(extent.rva.0 >= end && extent.rva.0.is_multiple_of(function.alignment));
            prop_assert_eq!(extent.bytes, function.bytes);
            end = extent.rva.0 + extent.bytes;
        }
        let moved = |id: &&FunctionId| functions[id.index()].is_free() && order.contains(id);
        let others: Vec<_> = by_address.iter().filter(|id| !moved(id)).collect();
        // A function without bytes may share its address with the next.
        prop_assert!(others.is_sorted_by_key(|id| (reordered.extent(**id).unwrap().rva, *id)));
        let kept: Vec<_> = others.iter().filter(|id| functions[id.index()].bytes > 0).collect();
        prop_assert!(kept.is_sorted());
    }

    #[test]
    fn pages_are_at_least_the_floor_and_each_is_listed_once(
        functions in any_functions(),
        calls in prop::collection::vec(0u32..80, 0..100),
        order in prop::collection::vec(0u32..80, 0..100),
    ) {
        let calls = ids(calls);
        let touched = touched_pages(&TextPlacement::reordered(&functions, &ids(order)), &calls);
        prop_assert!(touched.count() >= function_floor(&functions, &calls));
        prop_assert!(touched.windows() <= touched.count());
        prop_assert_eq!(touched.pages.iter().collect::<BTreeSet<_>>().len(), touched.pages.len());
        prop_assert_eq!(touched.by.len(), touched.pages.len());
    }
}
