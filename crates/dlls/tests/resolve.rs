//! Imports led to functions, as loaders do it.

#![allow(clippy::unwrap_used)]

mod tiny;

use dlls::{FoundBy, MemberId, Missing, OpenFiles, Unresolved, hints};
use image::pe::imports::ImportBy;
use model::Rva;
use std::path::Path;
use tiny::{Made, Tiny, Want, wine_files};

fn name(name: &[u8], hint: u16) -> ImportBy<'_> {
    ImportBy::Name { hint, rva: Rva(0), name }
}

fn exports() -> Tiny {
    Tiny {
        first_ordinal: 5,
        ..Tiny::dll(&[
            (Some("beta"), None),
            (None, None),
            (Some("alpha"), None),
            (Some("gone"), Some("B.beta")),
            (Some("by_number"), Some("b.dotted.#7")),
        ])
    }
}

#[test]
fn by_ordinal_by_hint_and_by_binary_search() {
    let made = Made::of(&[("/x/a.exe", &Tiny::default()), ("/x/A.DLL", &exports())]);
    let set = made.set();
    let found =
        |by| set.resolve(MemberId(0), b"A", by).map(|found| (found.rva, found.export.found));
    assert_eq!(found(ImportBy::Ordinal(6)), Ok((Rva(0x1001), FoundBy::Ordinal)), "without a name");
    assert_eq!(found(name(b"alpha", 0)), Ok((Rva(0x1002), FoundBy::Hint)));
    assert_eq!(found(name(b"alpha", 1)), Ok((Rva(0x1002), FoundBy::BinarySearch)));
    assert_eq!(
        found(name(b"alpha", 9999)),
        Ok((Rva(0x1002), FoundBy::BinarySearch)),
        "beyond the names"
    );
    let none = |by| found(by).unwrap_err().to_string();
    assert_eq!(none(ImportBy::Ordinal(4)), "A.DLL does not export #4", "below the first");
    assert_eq!(none(ImportBy::Ordinal(10)), "A.DLL does not export #10");
    assert_eq!(none(name(b"Alpha", 0)), "A.DLL does not export Alpha", "case counts");
    let missing = set.resolve(MemberId(0), b"missing", ImportBy::Ordinal(1)).unwrap_err();
    assert_eq!(missing, Unresolved::Dll(Missing::NotAtHand("missing".to_owned())));
    let api =
        set.resolve(MemberId(0), b"api-ms-win-core-file-l1-1-0", ImportBy::Ordinal(1)).unwrap_err();
    assert!(matches!(api, Unresolved::Dll(Missing::ApiSet(_))), "{api}");
}

#[test]
fn forwarders_lead_on() {
    let b = Tiny::dll(&[(Some("beta"), Some("b.dotted.gamma"))]);
    let dotted = Tiny { first_ordinal: 7, ..Tiny::dll(&[(Some("gamma"), None)]) };
    let made = Made::of(&[
        ("a.exe", &Tiny::default()),
        ("a.dll", &exports()),
        ("b.dll", &b),
        ("b.dotted", &dotted),
    ]);
    let set = made.set();
    let found = set.resolve(MemberId(0), b"a.dll", name(b"gone", 0)).unwrap();
    assert_eq!(
        (found.dll, found.rva, found.forwarders),
        (MemberId(3), Rva(0x1000), vec![MemberId(2), MemberId(3)])
    );
    assert_eq!((found.export.dll, found.export.index), (MemberId(1), 3));
    let found = set.resolve(MemberId(0), b"a.dll", name(b"by_number", 0)).unwrap();
    assert_eq!(
        (found.dll, found.rva, found.forwarders),
        (MemberId(3), Rva(0x1000), vec![MemberId(3)])
    );
}

#[test]
fn forwarders_that_lead_nowhere_are_sentences() {
    let a = Tiny::dll(&[
        (Some("circle"), Some("b.circle")),
        (Some("itself"), Some("a.itself")),
        (Some("nothing"), Some("nodot")),
        (Some("no_dll"), Some(".x")),
        (Some("no_number"), Some("b.#x")),
        (Some("not_there"), Some("b.zzz")),
        (Some("elsewhere"), Some("c.x")),
    ]);
    let b = Tiny::dll(&[(Some("circle"), Some("a.circle"))]);
    let made = Made::of(&[("x.exe", &Tiny::default()), ("a.dll", &a), ("b.dll", &b)]);
    let set = made.set();
    let error = |function: &[u8]| {
        set.resolve(MemberId(0), b"a", name(function, 0)).unwrap_err().to_string()
    };
    assert!(error(b"circle").ends_with("leads back to itself"), "{}", error(b"circle"));
    assert!(error(b"itself").contains("a.itself"));
    assert_eq!(error(b"nothing"), "a.dll forwards to \"nodot\", which does not name a DLL");
    assert!(error(b"no_dll").contains("does not name a DLL"));
    assert!(error(b"no_number").contains("b.#x"));
    assert_eq!(error(b"not_there"), "b.dll does not export zzz");
    assert!(error(b"elsewhere").starts_with("c cannot be found"), "{}", error(b"elsewhere"));
}

#[test]
fn names_out_of_order_are_found_by_hint_only() {
    let a = Tiny {
        unsorted: true,
        ..Tiny::dll(&[(Some("z"), None), (Some("m"), None), (Some("a"), None)])
    };
    let program = Tiny::importing(&[(
        "a.dll",
        vec![Want::Name("z", 0), Want::Name("a", 1), Want::Name("m", 0)],
    )]);
    let made = Made::of(&[("x.exe", &program), ("a.dll", &a)]);
    let set = made.set();
    assert_eq!(set.resolve(MemberId(0), b"a", name(b"z", 0)).unwrap().export.found, FoundBy::Hint);
    let error = set.resolve(MemberId(0), b"a", name(b"z", 1)).unwrap_err();
    assert!(matches!(error, Unresolved::OutOfOrder { .. }), "{error}");
    let check = hints::check(&set, MemberId(0)).unwrap();
    assert_eq!((check.checked, check.wrong, check.only_by_hint), (3, 2, 2));
}

#[test]
fn machines_are_kept_apart_and_twins_refused() {
    let small = Tiny { wide: false, machine: 0x14c, base: 0x1000_0000, ..exports() };
    let program = Tiny { wide: false, machine: 0x14c, base: 0x40_0000, ..Tiny::default() };
    let made = Made::of(&[
        ("x.exe", &Tiny::default()),
        ("y.exe", &program),
        ("64/a.dll", &exports()),
        ("32/A.dll", &small),
    ]);
    let set = made.set();
    assert_eq!(
        (set.dll(MemberId(0), b"a"), set.dll(MemberId(1), b"a")),
        (Ok(MemberId(2)), Ok(MemberId(3)))
    );
    assert!(set.unambiguous().is_ok());
    let made =
        Made::of(&[("x.exe", &Tiny::default()), ("1/a.dll", &exports()), ("2/A.DLL", &exports())]);
    let set = made.set();
    let error = set.unambiguous().unwrap_err().to_string();
    assert!(error.starts_with("2/A.DLL: 1/a.dll has the same name and machine"), "{error}");
    assert_eq!(set.dll(MemberId(0), b"a"), Err(Missing::Ambiguous("a".to_owned())));
    // Each program's own one is meant, where each has one.
    let program = Tiny::default();
    let made = Made::of(&[
        ("1/x.exe", &program),
        ("1/a.dll", &exports()),
        ("2/x.exe", &program),
        ("2/A.DLL", &exports()),
        ("3/x.exe", &program),
    ]);
    let set = made.set();
    assert_eq!(
        (set.dll(MemberId(0), b"a"), set.dll(MemberId(2), b"a")),
        (Ok(MemberId(1)), Ok(MemberId(3)))
    );
    assert_eq!(set.dll(MemberId(4), b"a"), Err(Missing::Ambiguous("a".to_owned())));
}

#[test]
fn other_dlls_are_looked_for_in_folders() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let wants = |dll| (dll, vec![Want::Name("alpha", 0)]);
    let program =
        Tiny::importing(&[wants("A"), wants("far.dll"), wants("text.dll"), wants("../up.dll")]);
    let program = write("own/x.exe", &program.bytes());
    write("own/a.dll", &Tiny { wide: false, machine: 0x14c, ..exports() }.bytes());
    let a = write("far/A.Dll", &exports().bytes());
    write("far/FAR.dll", &exports().bytes());
    write("later/far.dll", &exports().bytes());
    write("own/text.dll", b"no image");
    write("up.dll", &exports().bytes());
    let b = write("later/b.dll", &exports().bytes());
    let search = ["far", "later"].map(|name| folder.path().join(name));
    let files = OpenFiles::open(&[program], &search).unwrap();
    let set = files.set();
    let path =
        |name: &[u8]| set.dll(MemberId(0), name).map(|dll| set.member(dll).path().to_owned());
    assert_eq!(path(b"a.dll").unwrap(), a, "not the one of another machine");
    assert_eq!(path(b"FAR.DLL").unwrap(), folder.path().join("far/FAR.dll"), "in order");
    assert_eq!(path(b"b.dll").unwrap(), b, "only a forwarder needs it");
    assert!(path(b"text.dll").is_err());
    assert!(path(b"../up.dll").is_err(), "names are no paths");
    assert_eq!((set.named().len(), set.members().len()), (1, 4));
}

#[test]
fn damage_is_a_sentence() {
    let program = Tiny::importing(&[("a.dll", vec![Want::Name("alpha", 0)])]);
    let mut bytes = program.bytes();
    bytes.truncate(bytes.len() - 512);
    let a = exports();
    let mut cut = a.bytes();
    cut.truncate(0x400 + 64 + 20);
    let made = Made::of(&[("x.exe", &program), ("a.dll", &a)]).with(0, bytes).with(1, cut);
    let set = made.set();
    let error = hints::check(&set, MemberId(0)).unwrap_err().to_string();
    assert!(error.contains("its imports cannot be read"), "{error}");
    let error = set.resolve(MemberId(0), b"a", name(b"alpha", 0)).unwrap_err().to_string();
    assert!(error.starts_with("a.dll: the export directory at"), "{error}");
}

/// Every import of every program and DLL of Wine leads somewhere.
#[test]
fn wine_resolves() {
    let Some(paths) = wine_files() else { return };
    let files = OpenFiles::open(&paths, &[]).unwrap();
    let set = files.set();
    let (mut resolved, mut elsewhere) = (0_u64, 0_u64);
    for id in set.named() {
        let member = set.member(id);
        for dll in dlls::tables::read(&member.name(), member.pe()).unwrap() {
            for import in &dll.imports {
                match set.resolve(id, dll.from.name, import.by) {
                    Ok(found) => {
                        assert!(found.rva.0 < set.member(found.dll).pe().headers().image_bytes);
                        resolved += 1;
                    }
                    Err(Unresolved::Dll(_)) => elsewhere += 1,
                    Err(error) => panic!("{}: {error}", member.name()),
                }
            }
        }
        assert!(hints::check(&set, id).unwrap().missing.is_empty());
    }
    assert!(resolved > 40_000 && elsewhere < 100, "{resolved}, {elsewhere}");
    assert!(Path::new(&paths[0]).is_file());
}
