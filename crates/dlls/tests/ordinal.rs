//! Imports by name made imports by ordinal, and the record that goes with them.

#![allow(clippy::unwrap_used)]

mod tiny;

use dlls::elsewhere::{Exclusions, Why};
use dlls::ordinal::{self, ConvertedImports, RECORD, Record};
use dlls::{MemberId, Refusal, Set};
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::imports::ImportBy;
use image::pe::{Pe, PeFile};
use std::path::Path;
use tiny::{Made, Tiny, Want};
use workload::{Arch, Format, PeOptions, Pietrek, pe};

fn convert(set: &Set<'_>, importer: MemberId) -> Result<(Vec<u8>, ConvertedImports), Refusal> {
    let mut draft = set.draft(importer);
    let converted = ordinal::convert(&mut draft, &Exclusions::default())?;
    Ok((PeDraft::from(draft).finish(KeepChecksum::AsItWas), converted))
}

fn library() -> Tiny {
    Tiny {
        first_ordinal: 40,
        ..Tiny::dll(&[
            (Some("b"), None),
            (None, None),
            (Some("a"), None),
            (Some("f"), Some("far.x")),
        ])
    }
}

fn program() -> Tiny {
    Tiny {
        delayed: vec![("lib.dll", vec![Want::Name("b", 0), Want::Ordinal(41)])],
        ..Tiny::importing(&[
            ("Lib", vec![Want::Name("a", 0), Want::Ordinal(41), Want::Name("f", 0)]),
            ("KERNEL32.dll", vec![Want::Name("ExitProcess", 0)]),
            ("lib.DLL", vec![Want::Name("gone", 0)]),
        ])
    }
}

fn made() -> Made {
    Made::of(&[("x.exe", &program()), ("lib.dll", &library())])
}

/// All imports: DLL and what is asked for, as text.
fn asked(bytes: &[u8]) -> Vec<String> {
    let file = Pe::parse("x.exe", bytes).unwrap();
    let mut all = Vec::new();
    for from in dlls::tables::read("x.exe", &file).unwrap() {
        for import in &from.imports {
            all.push(match import.by {
                ImportBy::Ordinal(ordinal) => format!("#{ordinal}"),
                ImportBy::Name { name, .. } => String::from_utf8_lossy(name).into_owned(),
            });
        }
    }
    all
}

#[test]
fn names_become_ordinals_and_lead_to_the_same() {
    let made = made();
    let (bytes, converted) = convert(&made.set(), MemberId(0)).unwrap();
    assert_eq!(asked(&bytes), ["#42", "#41", "#43", "ExitProcess", "gone", "#40", "#41"]);
    assert_eq!(converted.functions.len(), 3);
    assert_eq!(converted.by_ordinal_before, 2);
    assert_eq!(converted.outside, [("KERNEL32.dll".to_owned(), 1)].into());
    assert_eq!(converted.left, ["lib.DLL!gone: lib.dll does not export gone"]);
    let file = Pe::parse("x.exe", &bytes).unwrap();
    assert_eq!(file.headers().checksum, file.computed_checksum());
    // Both tables of imports made at once, and of delayed ones the address table stays.
    let tables = dlls::tables::read("x.exe", &file).unwrap();
    let [loaded, .., delayed] = &tables[..] else { panic!("{tables:?}") };
    assert_eq!(file.pointer(loaded.imports[0].iat_entry), Some(1 << 63 | 42));
    assert_eq!(file.pointer(delayed.imports[0].iat_entry), Some(0x1_8000_1000));
    let (again, converted) = convert(&made.with(0, bytes.clone()).set(), MemberId(0)).unwrap();
    assert!(again == bytes && converted.functions.is_empty());
}

#[test]
fn by_ordinal_is_the_same_as_by_name() {
    for arch in [Arch::X86_64, Arch::I686] {
        let size = Pietrek { dlls: 3, functions: 500, globals: 1, ..Pietrek::default() };
        let pe = PeOptions::default();
        let asked =
            Pietrek { by: workload::By::Name, format: Format::Pe, arch, lazy: false, pe, ..size };
        let file = |index| pe::pietrek::file(&asked, index).unwrap();
        let made = Made((0..=3).map(file).map(|(name, bytes)| (name.into(), bytes)).collect());
        let set = made.set();
        let (bytes, converted) = convert(&set, MemberId(0)).unwrap();
        assert_eq!(converted.functions.len(), 1500);
        let after = made.with(0, bytes);
        let (after, mut compared) = (after.set(), 0);
        let tables = |set: &Set<'_>| {
            let tables = dlls::tables::read("", set.member(MemberId(0)).pe()).unwrap();
            let each = |from: &dlls::tables::FromDll<'_>| {
                let resolve =
                    |by| set.resolve(MemberId(0), from.from.name, by).map(|to| (to.dll, to.rva));
                from.imports.iter().map(|import| resolve(import.by)).collect::<Vec<_>>()
            };
            tables.iter().flat_map(each).collect::<Vec<_>>()
        };
        for (before, now) in tables(&set).into_iter().zip(tables(&after)) {
            assert_eq!(before, now);
            compared += u64::from(now.is_ok());
        }
        assert_eq!(compared, 1500);
    }
}

#[test]
fn what_is_not_converted() {
    let wants = ("lib", vec![Want::Name("a", 0)]);
    let program = Tiny::importing(&[wants]);
    let made = Made::of(&[("x.exe", &program), ("lib.dll", &library())]);
    // Bound.
    let set = made.set();
    let mut draft = set.draft(MemberId(0));
    dlls::bind::bind(&mut draft).unwrap();
    let bound = made.with(0, PeDraft::from(draft).finish(KeepChecksum::AsItWas));
    let error = convert(&bound.set(), MemberId(0)).unwrap_err();
    assert!(error.to_string().contains("it is bound"), "{error}");
    assert_eq!(error.advice(), Some(dlls::Advice::UnbindFirst));
    // Beyond 65535.
    let high = Tiny { first_ordinal: 65_534, ..library() };
    let (bytes, converted) = convert(&made.with(1, high.bytes()).set(), MemberId(0)).unwrap();
    assert!(bytes == made.0[0].1 && converted.left[0].contains("above 65535"));
    // A lookup table of delayed imports with virtual addresses.
    let old = Tiny { delayed: vec![("lib", vec![Want::Name("a", 0)])], ..Tiny::default() };
    let mut bytes = Tiny { base: 0x10_0000, ..old }.bytes();
    let file = Pe::parse("x.exe", &bytes).unwrap();
    let from = file.delay_imported().next().unwrap().unwrap();
    let at = file.offset(from.descriptor).unwrap().index();
    let thunk = file.offset(from.ilt.unwrap()).unwrap().index();
    let mut fields = [(at, 0_u32); 5];
    for (index, field) in fields.iter_mut().enumerate().skip(1) {
        let at = at + 4 * index;
        *field = (at, u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) + 0x10_0000);
    }
    fields[0].1 = 0;
    for (at, value) in fields {
        bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    bytes[thunk + 2] += 0x10;
    let made = made.with(0, bytes);
    assert_eq!(asked(&made.0[0].1), ["a"]);
    let (bytes, converted) = convert(&made.set(), MemberId(0)).unwrap();
    assert!(bytes == made.0[0].1 && converted.left[0].contains("virtual addresses"));
}

fn write(folder: &Path, name: &str, image: &Tiny) {
    std::fs::write(folder.join(name), image.bytes()).unwrap();
}

/// A converted set in a folder.
fn shipped() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let made = made();
    let set = made.set();
    let (bytes, converted) = convert(&set, MemberId(0)).unwrap();
    let record = Record::of(&set, &[(MemberId(0), &converted)], &[]).unwrap();
    assert_eq!((record.importers.len(), record.dlls.len()), (1, 1));
    std::fs::write(folder.path().join("x.exe"), bytes).unwrap();
    write(folder.path(), "lib.dll", &library());
    std::fs::write(folder.path().join(RECORD), record.to_json()).unwrap();
    folder
}

#[test]
fn what_ordinals_meant_is_verified() {
    let folder = shipped();
    let look = || ordinal::verify(folder.path()).unwrap();
    let wrong = || look().mismatches.iter().map(|one| one.reason.clone()).collect::<Vec<_>>();
    let found = look();
    assert!(found.current && found.changed.is_empty() && found.functions == 3, "{found:?}");
    // More functions behind the others change nothing that matters.
    let mut more = library();
    more.exports.push((Some("zz"), None));
    write(folder.path(), "lib.dll", &more);
    assert!(look().current);
    assert_eq!(look().changed, ["lib.dll"]);
    // One in front of the others moves them all.
    let mut moved = library();
    moved.exports.insert(2, (Some("new"), None));
    write(folder.path(), "lib.dll", &moved);
    assert_eq!(
        wrong(),
        [
            "x.exe imports a as ordinal 42 of lib.dll, and a now has ordinal 43 there",
            "x.exe imports f as ordinal 43 of lib.dll, and f now has ordinal 44 there",
        ]
    );
    assert!(!look().current);
    write(folder.path(), "lib.dll", &Tiny { exports: vec![(Some("q"), None)], ..library() });
    assert!(wrong()[0].ends_with("is no longer exported there"), "{:?}", wrong());
    write(folder.path(), "lib.dll", &Tiny { wide: false, machine: 0x14c, base: 0, ..library() });
    assert_eq!(wrong(), ["lib.dll is now for a different machine"]);
    std::fs::remove_file(folder.path().join("lib.dll")).unwrap();
    assert_eq!(wrong(), ["lib.dll is missing"]);
    // An importer that was built anew imports by name again.
    write(folder.path(), "lib.dll", &moved);
    write(folder.path(), "x.exe", &program());
    assert!(look().current);
}

#[test]
fn damaged_records_are_sentences() {
    let folder = shipped();
    let record = folder.path().join(RECORD);
    let text = std::fs::read_to_string(&record).unwrap();
    let error = |text: &str| {
        std::fs::write(&record, text).unwrap();
        ordinal::verify(folder.path()).unwrap_err().to_string()
    };
    assert!(error("{}").contains("not a record of ordinals"));
    assert!(error(&text.replace("\"schema\":1", "\"schema\":2")).contains("schema 2"));
    assert!(
        error(&text.replace("\"lib.dll\"", "\"../lib.dll\"")).contains("not a file next to it")
    );
    let empty = tempfile::tempdir().unwrap();
    let missing = ordinal::verify(empty.path()).unwrap_err().to_string();
    let expected = format!("{}/{}: No such file", empty.path().display(), RECORD);
    assert!(missing.starts_with(&expected), "{missing}");
    assert!(PeFile::open(&folder.path().join("x.exe")).is_ok());
}

/// A program that imports from a DLL of its own, from a copy of the Visual C++ runtime, and from one
/// of a library of Windows.
fn with_runtime() -> Made {
    let wants = |name| (name, vec![Want::Name("a", 0), Want::Name("b", 0)]);
    let program = Tiny {
        delayed: vec![wants("VCRUNTIME140_1.dll")],
        ..Tiny::importing(&[wants("lib"), wants("MSVCP140.dll"), wants("User32.dll")])
    };
    let names = ["x.exe", "lib.dll", "msvcp140.dll", "vcruntime140_1.dll", "user32.dll"];
    let library = library();
    let images = [&program, &library, &library, &library, &library];
    Made::of(&names.into_iter().zip(images).collect::<Vec<_>>())
}

#[test]
fn nothing_is_imported_by_ordinal_from_dlls_of_which_another_copy_may_be_loaded() {
    let made = with_runtime();
    let (bytes, converted) = convert(&made.set(), MemberId(0)).unwrap();
    assert_eq!(asked(&bytes), ["#42", "#40", "a", "b", "a", "b", "a", "b"]);
    let excluded: Vec<(&str, (u64, Why))> =
        converted.excluded.iter().map(|(dll, why)| (dll.as_str(), *why)).collect();
    assert_eq!(
        excluded,
        [
            ("MSVCP140.dll", (2, Why::Redistributed)),
            ("User32.dll", (2, Why::Wine)),
            ("VCRUNTIME140_1.dll", (2, Why::Redistributed)),
        ]
    );
    assert!(converted.left.is_empty() && converted.outside.is_empty());
    // With a DLL that the user names, nothing is left to be converted.
    let set = made.set();
    let mut draft = set.draft(MemberId(0));
    let exclusions = Exclusions::new(&["LIB".to_owned()]).unwrap();
    let converted = ordinal::convert(&mut draft, &exclusions).unwrap();
    assert!(PeDraft::from(draft).finish(KeepChecksum::AsItWas) == made.0[0].1);
    assert_eq!(converted.excluded["lib"], (2, Why::Excluded));
}

/// What was converted before such DLLs were left out.
#[test]
fn a_set_with_ordinals_of_a_runtime_is_not_current() {
    let folder = shipped();
    let program = Tiny::importing(&[("msvcp140.dll", vec![Want::Ordinal(42)])]);
    write(folder.path(), "x.exe", &program);
    std::fs::rename(folder.path().join("lib.dll"), folder.path().join("msvcp140.dll")).unwrap();
    let record = folder.path().join(RECORD);
    let text = std::fs::read_to_string(&record).unwrap();
    std::fs::write(&record, text.replace("lib.dll", "msvcp140.dll")).unwrap();
    let found = ordinal::verify(folder.path()).unwrap();
    assert!(!found.current && found.needs_originals, "{found:?}");
    assert_eq!(
        found.mismatches[0].reason,
        "x.exe imports 1 function by ordinal from msvcp140.dll, whose ordinals differ from version to \
         version: many products ship their own version, and another copy may be loaded"
    );
    // Without such an import it does not matter.
    write(folder.path(), "x.exe", &Tiny::importing(&[("msvcp140.dll", vec![Want::Name("a", 0)])]));
    assert!(ordinal::verify(folder.path()).unwrap().current);
}

#[test]
fn two_dlls_of_one_name_are_not_current() {
    let folder = shipped();
    write(folder.path(), "LIB.DLL", &library());
    let found = ordinal::verify(folder.path()).unwrap();
    assert!(!found.current);
    assert_eq!(
        found.mismatches[0].reason,
        "to a loader, lib.dll and LIB.DLL have the same name, and it loads only one of them"
    );
}

/// The list of Wine's libraries is complete for the Wine that is installed.
#[test]
fn every_library_of_wine_is_known() {
    let Some(files) = tiny::wine_files() else { return };
    let known = |path: &&std::path::PathBuf| {
        let key = dlls::names::key_of_file(path);
        Exclusions::default().why(&key).is_some()
    };
    let libraries = files.iter().filter(|path| {
        path.extension().is_some_and(|end| ["dll", "drv", "ocx"].iter().any(|one| end == *one))
    });
    let (known, unknown): (Vec<_>, Vec<_>) = libraries.partition(known);
    assert!(known.len() > 400, "{}", known.len());
    assert!(unknown.is_empty(), "add these to crates/dlls/src/elsewhere/wine.txt: {unknown:?}");
}

/// An import that is by ordinal already is recorded too, with what the DLL exports there; an old
/// record knows better.
#[test]
fn imports_that_were_by_ordinal_before_are_recorded() {
    let first = Tiny::importing(&[("lib.dll", vec![Want::Ordinal(40), Want::Ordinal(41)])]);
    let second = Tiny::importing(&[("lib.dll", vec![Want::Name("a", 0)])]);
    let made = Made::of(&[("old.exe", &first), ("new.exe", &second), ("lib.dll", &library())]);
    let set = made.set();
    let converted: Vec<(MemberId, ConvertedImports)> =
        (0..2).map(MemberId).map(|id| (id, convert(&set, id).unwrap().1)).collect();
    let all: Vec<_> = converted.iter().map(|(id, converted)| (*id, converted)).collect();
    let record = Record::of(&set, &all, &[]).unwrap();
    let meant = |record: &Record| record.importers[0].imports[0].functions.clone();
    assert_eq!(record.importers.len(), 2);
    assert_eq!(meant(&record), [(40, "b".to_owned())], "41 has no name");
    let mut old = record.clone();
    old.importers[0].imports[0].functions = vec![(40, "was".to_owned())];
    assert_eq!(meant(&Record::of(&set, &all, &[old.clone()]).unwrap()), [(40, "was".to_owned())]);
    let kept = Record::carried(&[old], &["/x/OLD.exe".into()]).unwrap();
    assert_eq!((kept.importers.len(), meant(&kept)), (1, vec![(40, "was".to_owned())]));
    assert_eq!(Record::carried(&[record], &["/x/lib.dll".into()]), None);
    // On the disk: the library changes under the importer that was not converted now.
    let folder = tempfile::tempdir().unwrap();
    for (index, name) in ["old.exe", "new.exe"].iter().enumerate() {
        std::fs::write(folder.path().join(name), convert(&set, MemberId::at(index)).unwrap().0)
            .unwrap();
    }
    write(folder.path(), "lib.dll", &library());
    let text = Record::of(&set, &all, &[]).unwrap().to_json();
    std::fs::write(folder.path().join(RECORD), text).unwrap();
    let found = ordinal::verify(folder.path()).unwrap();
    assert!(found.current && found.functions == 2, "{found:?}");
    assert_eq!(found.unrecorded, 1, "the one without a name");
    let swapped = Tiny {
        exports: vec![(Some("c"), None), (Some("b"), None), (Some("a"), None)],
        ..library()
    };
    write(folder.path(), "lib.dll", &swapped);
    let found = ordinal::verify(folder.path()).unwrap();
    assert!(!found.current, "{found:?}");
    assert!(found.reason.unwrap().starts_with("old.exe imports b as ordinal 40"));
}
