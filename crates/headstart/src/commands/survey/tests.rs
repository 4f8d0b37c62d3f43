//! Tests of what is said of DLLs that are loaded together.

use super::words::in_words;
use model::{GuardFacts, PeFacts, PeKind, PeSet, StrongNameFacts};

fn survey(files: Vec<PeFacts>) -> PeSet {
    in_words(dlls::survey::survey(files))
}

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

fn ids(set: &PeSet) -> Vec<&str> {
    set.findings.iter().map(|finding| &*finding.id).collect()
}

#[test]
fn large_guard_tables_are_told_with_an_estimate() {
    let mut files = vec![dll("d", 0x100_0000), program("p", 0x40_0000)];
    let guard = GuardFacts {
        functions: 1_279_999,
        stride: 0,
        flags: 0x500,
        sorted: true,
        outside_code: 0,
        bitmap_bytes: 0,
        address_taken_imports: 0,
        long_jump_targets: 0,
        exception_continuations: 0,
    };
    files[1].guard = Some(GuardFacts { functions: 179_999, ..guard.clone() });
    assert!(!ids(&survey(files.clone())).contains(&"guard"));
    files[1].guard = Some(guard);
    let set = survey(files);
    let finding = set.findings.iter().find(|finding| finding.id == "guard").unwrap();
    assert!(finding.evidence[0].contains("about 50.6 times"), "{:?}", finding.evidence);
    assert!(finding.evidence[0].contains("estimate") && finding.files == ["p"]);
}

#[test]
fn sections_that_wine_reads_are_counted() {
    let mut set = survey(vec![dll("d", 0x100_0000)]);
    let finding = set.findings.iter().find(|finding| finding.id == "file-alignment").unwrap();
    assert!(finding.evidence[0].contains("2.0 KiB"), "{:?}", finding.evidence);
    for section in &mut set.files[0].sections {
        section.offset = model::FileOffset(4096);
    }
    assert!(!ids(&survey(set.files)).contains(&"file-alignment"));
}

fn remedy(set: &PeSet, id: &str) -> String {
    let finding = set.findings.iter().find(|finding| finding.id == id);
    finding.unwrap_or_else(|| panic!("no {id}: {:?}", ids(set))).remedy.clone()
}

/// What headstart would refuse is not advised, and what it could do in part is said in part.
#[test]
fn no_advice_is_given_that_cannot_work() {
    let signed = |file: PeFacts| PeFacts { certificates: 1, ..file };
    let named = |file: PeFacts| PeFacts { strong_name: Some(StrongNameFacts::Signed), ..file };
    let fixed = |mut file: PeFacts| {
        file.flags.relocations_stripped = true;
        file
    };
    let plain = |file: PeFacts| file;
    let enforced = |mut file: PeFacts| {
        file.flags.force_integrity = true;
        file
    };
    type Change<'a> = &'a dyn Fn(PeFacts) -> PeFacts;
    let rebase = "headstart pe rebase --auto --out DIR FILE…";
    let own = "give each a base of its own when linking";
    let cases: [(&str, [Change<'_>; 3], String); 7] = [
        ("all can move", [&plain, &plain, &plain], rebase.to_owned()),
        ("one may stay", [&signed, &plain, &plain], rebase.to_owned()),
        (
            "two stay",
            [&signed, &named, &plain],
            format!("{rebase}; 1 image stays colliding: --strip-signature moves 1 signed image"),
        ),
        (
            "all are signed",
            [&signed, &named, &signed],
            format!("{own}; or {rebase} with --strip-signature, which moves 2 signed images"),
        ),
        ("none can", [&fixed, &enforced, &fixed], own.to_owned()),
        (
            "two cannot",
            [&fixed, &fixed, &plain],
            format!("{rebase}; 1 image stays colliding, and cannot be moved"),
        ),
        (
            "the second is loaded only signed",
            [&plain, &enforced, &enforced],
            format!("{rebase}; 1 image stays colliding, and cannot be moved"),
        ),
    ];
    for (case, changes, expected) in cases {
        let files = changes.iter().zip(["a", "b", "c"]);
        let files = files.map(|(change, name)| change(dll(name, 0x1000_0000))).collect();
        assert_eq!(remedy(&survey(files), "collisions"), expected, "{case}");
    }
    let realign = |file: PeFacts| remedy(&survey(vec![file]), "file-alignment");
    let command = "headstart pe realign --file-alignment 4096 --out DIR FILE…";
    let file = || dll("a", 0x1000_0000);
    assert_eq!(realign(file()), command);
    assert_eq!(
        realign(signed(file())),
        format!(
            "{command}, but 1 image is signed (change such images before they are signed, or add \
             --strip-signature)"
        )
    );
    assert!(realign(PeFacts { overlay_bytes: 9, ..file() }).contains("add --keep-overlay"));
    let never = "build them again: headstart cannot change them";
    assert_eq!(realign(enforced(file())), never);
    assert_eq!(realign(PeFacts { section_alignment: 512, ..file() }), never);
    assert_eq!(realign(PeFacts { overlay_bytes: 9, ..signed(file()) }), never);
    assert_eq!(realign(PeFacts { problems: vec!["cut short".to_owned()], ..file() }), never);
}

/// Each advice as it is given for files of one name in several folders.
#[test]
fn files_of_one_name_are_changed_folder_by_folder() {
    let files: Vec<PeFacts> = ["one/a.dll", "one/b.dll", "two/a.dll"]
        .map(|path| PeFacts { wrong_hints: Some(1), hints_checked: 2, ..dll(path, 0x1000_0000) })
        .into();
    let set = survey(files.clone());
    let by_folder = "headstart pe realign --file-alignment 4096 --out DIR FILE… (folder by folder: \
                     some files have the same name)";
    assert_eq!(remedy(&set, "file-alignment"), by_folder);
    let advice = remedy(&set, "collisions");
    assert!(advice.starts_with("headstart pe rebase --auto --database PLACES --out"), "{advice}");
    assert!(remedy(&set, "wrong-hints").contains("with --search for the others"));
    // Two spellings in one folder.
    let mut twins = files[..2].to_vec();
    twins[1].path = "one/A.DLL".to_owned();
    let advice = remedy(&survey(twins), "wrong-hints");
    assert!(advice.starts_with("remove one/a.dll or one/A.DLL, of which only"), "{advice}");
    // Signed ones are left out, and counted once.
    let mut some = files;
    some[0].certificates = 1;
    some[1].certificates = 1;
    some[1].overlay_bytes = 1;
    let advice = remedy(&survey(some), "file-alignment");
    let expected = ", leaving out 1 image that is signed (change such images before they are \
                    signed, or add --strip-signature), and 1 image that is signed and has \
                    appended data (change such images when they are built)";
    assert_eq!(advice, by_folder.to_owned() + expected);
}

#[test]
fn binding_anew_is_advised_only_where_it_would_hold() {
    let bound = |name: &str| model::BoundDll {
        name: name.to_owned(),
        time_stamp: 1,
        forwarders: Vec::new(),
        valid: Some(false),
        state: model::BoundState::Stale,
    };
    let stale = |moved: bool| {
        let mut files = vec![program("p.exe", 0x40_0000), dll("d.dll", 0x1000_0000)];
        files[0].bound = vec![bound("D.DLL")];
        files[1].flags.dynamic_base = moved;
        remedy(&survey(files), "stale-bindings")
    };
    assert!(stale(false).starts_with("headstart pe bind"));
    assert_eq!(stale(true), "headstart pe unbind --out DIR FILE…");
}
