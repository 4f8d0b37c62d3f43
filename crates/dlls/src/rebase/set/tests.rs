//! Tests of laying out a set of DLLs at new bases.

use super::*;

const MIB: u64 = 1 << 20;

fn dll(name: &str, base: u64, memory_bytes: u64) -> Candidate {
    let (mobility, recorded) = (Mobility::Moves, None);
    let base = Va(base);
    let address_end = if base < END_32_BIT { END_32_BIT } else { Va(1 << 47) };
    Candidate { name: name.to_owned(), base, memory_bytes, address_end, mobility, recorded }
}

fn bases(set: &[Candidate], policy: Policy) -> Vec<u64> {
    let places = lay_out(set, &[], policy).expect("room");
    places.iter().map(|place| place.base.0).collect()
}

#[test]
fn from_a_base_upwards_in_slots() {
    let set = [
        dll("a", 0x1_8000_0000, 0x1234),
        dll("b", 0x1_8000_0000, 0x1_0001),
        dll("c", 0x1_8000_0000, 0x1_0000),
        dll("d", 0x1_8000_0000, 1),
    ];
    let expected = [0x7_0000_0000, 0x7_0001_0000, 0x7_0003_0000, 0x7_0004_0000];
    assert_eq!(bases(&set, Policy::From(Va(0x7_0000_0000))), expected);
    let error = lay_out(&set, &[], Policy::From(Va(0x7_0000_1000))).unwrap_err();
    assert!(error.to_string().contains("0x700001000 is not a multiple of 64 KiB"), "{error}");
}

#[test]
fn images_that_stay_are_kept_clear_of() {
    let mut set = [
        dll("a", 0x1_8000_0000, MIB),
        dll("fixed", 0x5_0001_0000, MIB),
        dll("b", 0x1_8000_0000, SLOT),
        dll("also fixed", 0x5_0002_0000, MIB),
    ];
    set[1].mobility = Mobility::Stays;
    set[3].mobility = Mobility::Stays;
    let taken = vec![Va(0x5_0013_0000)..Va(0x5_0014_0000); 2];
    let places = lay_out(&set, &taken, Policy::From(Va(0x5_0000_0000)));
    let places = places.expect("room");
    let found: Vec<u64> = places.iter().map(|place| place.base.0).collect();
    assert_eq!(found, [0x5_0014_0000, 0x5_0001_0000, 0x5_0000_0000, 0x5_0002_0000]);
    let collides: Vec<bool> = places.iter().map(|place| place.collides).collect();
    assert_eq!(collides, [false, false, false, true]);
}

#[test]
fn auto_moves_only_what_collides_or_is_where_linkers_put_it() {
    let set = [
        dll("default", 0x1_8000_0000, MIB),
        dll("apart", 0x2_5000_0000, MIB),
        dll("collides", 0x2_5000_0000, MIB),
        dll("default 32", 0x1000_0000, MIB),
        dll("apart 32", 0x6200_0000, MIB),
        dll("too high 32", 0x9000_0000, MIB),
        dll("between slots", 0x2_6000_1000, MIB),
    ];
    let once = bases(&set, Policy::Auto);
    let first = 0x20_0000_0000;
    let expected = [
        first,
        0x2_5000_0000,
        first + MIB,
        0x3000_0000,
        0x6200_0000,
        0x3000_0000 + MIB,
        first + 2 * MIB,
    ];
    assert_eq!(once, expected);
    let again: Vec<Candidate> = set
        .into_iter()
        .zip(&once)
        .map(|(candidate, base)| Candidate { base: Va(*base), ..candidate })
        .collect();
    assert_eq!(bases(&again, Policy::Auto), once, "nothing has to move twice");
}

#[test]
fn cygwin_goes_downwards_and_keeps_clear_of_its_own_dll() {
    let set = [
        dll("a", 0x1_8000_0000, MIB),
        dll("b", 0x4_1000_0000, 2 * MIB),
        dll("c", 0x2_1000_0000, MIB),
        dll("a 32", 0x1000_0000, MIB),
        dll("large 32", 0x1000_0000, 0xe00_0000),
    ];
    let expected = [0x3_fff0_0000, 0x3_ffd0_0000, 0x2_1000_0000, 0x6ff0_0000, 0x61f0_0000];
    assert_eq!(bases(&set, Policy::Cygwin), expected);
    // Another one of that size is not put across the Cygwin DLL at 0x6100_0000.
    let large = dll("large 32", 0x1000_0000, 0xe00_0000);
    let set = [set[3].clone(), set[4].clone(), large];
    assert_eq!(bases(&set, Policy::Cygwin)[2], 0x60fc_0000 - 0xe00_0000);
    assert!(is_cygwin_runtime("CYGWIN1.dll") && !is_cygwin_runtime("cygz.dll"));
}

#[test]
fn a_set_too_large_is_refused_by_name() {
    let thousand: Vec<Candidate> =
        (0..1000).map(|n| dll(&format!("{n}.dll"), 0x1000_0000, 2 * MIB)).collect();
    let error = lay_out(&thousand, &[], Policy::Auto).unwrap_err().to_string();
    // 1 GiB, and then 496 MiB.
    assert!(
        error.contains("no room left for 760.dll (2097152 bytes) between 0x11000000"),
        "{error}"
    );
    let error = lay_out(&thousand, &[], Policy::From(Va(0xf000_0000))).unwrap_err().to_string();
    assert!(error.contains("no room left for 128.dll"), "{error}");
    let huge = [dll("huge", 0x1_8000_0000, u64::MAX - 5)];
    lay_out(&huge, &[], Policy::Auto).unwrap_err();
    lay_out(&huge, &[], Policy::From(Va(SLOT))).unwrap_err();
}

#[test]
fn recorded_places_are_kept_and_one_that_has_grown_moves_alone() {
    let place = |base, slots| Some(Va(base)..Va(base + slots * SLOT));
    let mut set = [
        dll("new", 0x1_8000_0000, SLOT),
        dll("a", 0x1_8000_0000, SLOT),
        dll("b", 0x1_8000_0000, SLOT + 1),
        dll("c", 0x20_0005_0000, SLOT),
    ];
    set[1].recorded = place(0x20_0000_0000, 1);
    set[2].recorded = place(0x20_0001_0000, 1);
    set[3].recorded = place(0x20_0003_0000, 2);
    let places = lay_out(&set, &[], Policy::Auto).expect("room");
    let found: Vec<(u64, u64)> =
        places.iter().map(|place| (place.base.0, place.slot_bytes / SLOT)).collect();
    let expected =
        [(0x20_0001_0000, 1), (0x20_0000_0000, 1), (0x20_0005_0000, 2), (0x20_0003_0000, 2)];
    assert_eq!(found, expected);
}
