//! Tests of surveying DLLs that are loaded together.

use super::*;
use model::{Checksum, PeFacts, PeKind};

/// A DLL that the reader has read: the facts of a committed one, changed.
fn dll(path: &str, base: u64) -> PeFacts {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/pe");
    let mut facts = image::pe::facts(&file.join("x86_64.dll")).unwrap();
    facts.path = path.to_owned();
    facts.base = model::Va(base);
    facts.time_stamp = base as u32;
    facts
}

fn program(path: &str, base: u64) -> PeFacts {
    PeFacts { kind: PeKind::Program, ..dll(path, base) }
}

fn moved(set: &Survey) -> Vec<(&str, &str)> {
    set.collisions.moved.iter().map(|moved| (&*moved.path, &*moved.by)).collect()
}

fn ids(set: &Survey) -> Vec<&str> {
    set.findings.iter().map(|finding| finding.kind.id()).collect()
}

#[test]
fn images_that_overlap_are_moved_in_the_order_in_which_they_are_named() {
    // Five pages each.
    let set = survey(vec![
        dll("a", 0x1000_0000),
        dll("b", 0x1000_0000),
        dll("c", 0x1000_4000),
        dll("d", 0x1000_5000),
        dll("e", 0x0fff_c000),
    ]);
    assert_eq!(moved(&set), [("b", "a"), ("c", "a"), ("e", "a")]);
    let one = set.files[0].relocation_count();
    assert_eq!((set.collisions.relocations, set.collisions.pages), (3 * one, 3));
    assert!(ids(&set).contains(&"collisions"));
    assert!(!ids(&set).contains(&"immovable"));
}

#[test]
fn of_dlls_of_one_name_only_one_is_loaded() {
    let set = survey(vec![
        dll("one/a.dll", 0x1000_0000),
        dll("two/A.DLL", 0x1000_0000),
        dll("one/b.dll", 0x1000_0000),
        dll("two/b.dll", 0x1000_0000),
        dll("two/a", 0x1000_0000),
    ]);
    let expected = [("one/b.dll", "one/a.dll"), ("two/b.dll", "two/A.DLL"), ("two/a", "two/A.DLL")];
    assert_eq!(moved(&set), expected);
    let copies = survey(vec![dll("one/a.dll", 0x1000_0000), dll("two/a.dll", 0x1000_0000)]);
    assert_eq!(moved(&copies), []);
    assert!(!ids(&copies).contains(&"collisions"));
}

#[test]
fn programs_stay_where_they_are_and_are_not_in_each_others_way() {
    let set = survey(vec![
        dll("d", 0x40_0000),
        program("p", 0x40_0000),
        program("q", 0x40_0000),
        dll("other machine", 0x40_0000),
    ]);
    assert_eq!(moved(&set), [("d", "p"), ("other machine", "p")]);
    let mut files = set.files;
    files[3].machine = "aarch64".to_owned();
    files[0].flags.relocations_stripped = true;
    let set = survey(files);
    assert_eq!(moved(&set), [("d", "p")]);
    assert_eq!(set.collisions.immovable, ["d"]);
    assert_eq!(set.collisions.relocations, 0);
    assert_eq!(ids(&set)[0], "immovable");
}

#[test]
fn wine_compares_images_of_one_stamp_and_one_checksum() {
    let mut files: Vec<PeFacts> = (1..=5).map(|n| dll(&n.to_string(), n * 0x100_0000)).collect();
    assert!(survey(files.clone()).twins.is_empty());
    files.iter_mut().take(4).for_each(|file| file.time_stamp = 7);
    files[3].checksum = Checksum { stored: 1, computed: 2 };
    // Copies of one file are not each other's fault.
    assert!(!ids(&survey(files.clone())).contains(&"same-stamps"));
    files[0].checksum.computed = 9;
    let set = survey(files);
    assert_eq!(set.twins.len(), 1);
    assert_eq!((set.twins[0].files.len(), set.twins[0].extra_system_calls), (3, 6));
    assert!(ids(&set).contains(&"same-stamps") && ids(&set).contains(&"checksums"));
}
