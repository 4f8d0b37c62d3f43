//! Orders that increase the seek distance.

use super::*;
use crate::{Algorithm, Movability, order};

/// 1,200 functions in 30 object files, of which every second one is static, and a run that calls
/// about nine functions of each of 24 object files: about as much as OpenOffice's fwkmi.dll was
/// read of its 1.9 MB.
fn statics_everywhere() -> (Vec<PlacedFunction>, CalledFunctions) {
    let mut functions = functions(&[1600; 30 * 40]);
    for function in functions.iter_mut().step_by(2) {
        function.movability = Movability::InLinkOrder;
    }
    let mut seed = 12_345_u64;
    let mut below = |most: u32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as u32 % most
    };
    let mut calls = Vec::new();
    for visit in 0..24 {
        let object = visit * 11 % 30 * 40;
        calls.extend((0..8).map(|_| object + below(40)));
        calls.push(object + below(20) * 2);
    }
    (functions, run(ids(calls)))
}

/// Windows XP reads up to 32 KiB for a page that is missing; the reads of the published table have
/// 22 KiB on average.
fn forecaster(functions: &[PlacedFunction]) -> Forecaster<'_> {
    let kind = ReadAheadKind::Forward;
    let read_ahead = KernelReadAhead { kind, pages: 8, fault_around_pages: 1 };
    Forecaster { functions, mapping: mapping(30 * 40 * 1600 / 4096 + 1, 0), read_ahead }
}

fn before_and_after(
    functions: &[PlacedFunction],
    run: &CalledFunctions,
) -> (RunForecast, RunForecast, Vec<FunctionId>) {
    let order = order(Algorithm::FirstCall, functions, std::slice::from_ref(run));
    let forecaster = forecaster(functions);
    let before = forecaster.run(&TextPlacement::present(functions), run);
    let after = forecaster.run(&TextPlacement::reordered(functions, &order), run);
    (before, after, order)
}

#[test]
fn fewer_reads_with_a_longer_way_between_them_as_in_fwkmi() {
    // Published: 70 reads with 21.7 MB between them, then 65 with 28.9 MB.
    let (functions, run) = statics_everywhere();
    let (before, after, order) = before_and_after(&functions, &run);
    assert!((65..=75).contains(&before.replay.reads.len()), "{}", before.replay.reads.len());
    assert!(after.replay.reads.len() < before.replay.reads.len());
    let rise = distance_rise(&before, &after, &order).unwrap();
    assert!((20_000_000..24_000_000).contains(&rise.before), "{}", rise.before);
    assert!(rise.after * 100 > rise.before * 115, "{} {}", rise.before, rise.after);
    // Nearly all of it is on the way to functions that could not move, and back.
    assert!(rise.crossings > 0 && rise.crossing_distance > 0);
    assert!((rise.crossing_distance + rise.outside_distance) * 10 > rise.after * 9, "{rise:?}");
    assert!(rise.far.iter().all(|far| !functions[far.function.index()].is_free()));
    assert!(rise.far.is_sorted_by(|a, b| a.distance >= b.distance));
    let attributed: u64 = rise.far.iter().map(|far| far.distance).sum();
    assert_eq!(attributed, rise.crossing_distance + rise.outside_distance);
}

#[test]
fn nothing_rises_where_the_linker_moves_statics_too() {
    let (mut functions, run) = statics_everywhere();
    functions.iter_mut().for_each(|function| function.movability = Movability::Free);
    let (before, after, order) = before_and_after(&functions, &run);
    assert_eq!(distance_rise(&before, &after, &order), None);
    assert!(after.replay.reads.len() * 3 < before.replay.reads.len() * 2);
}
