//! Hints repaired, held against generated images and llvm-readobj.

#![allow(clippy::unwrap_used)]

mod tiny;

use dlls::hints::{self, HintCheck, Repaired};
use dlls::{MemberId, OpenFiles, Refusal, Set};
use image::pe::Pe;
use image::pe::edit::{KeepChecksum, PeDraft};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use tiny::{Made, Tiny, Want, wine_files};
use workload::{Arch, By, Format, Hints, PeOptions, Pietrek, pe};

fn repair(set: &Set<'_>, importer: MemberId) -> Result<(Vec<u8>, Repaired), Refusal> {
    let mut draft = set.draft(importer);
    let repaired = hints::repair(&mut draft)?;
    Ok((PeDraft::from(draft).finish(KeepChecksum::AsItWas), repaired))
}

#[test]
fn generated_programs_become_those_with_right_hints() {
    for arch in [Arch::X86_64, Arch::I686] {
        let asked = |hints| Pietrek {
            dlls: 4,
            functions: 1200,
            globals: 1,
            by: By::Name,
            format: Format::Pe,
            arch,
            lazy: false,
            pe: PeOptions { hints, ..PeOptions::default() },
        };
        let file = |hints, index| pe::pietrek::file(&asked(hints), index).unwrap();
        let files: Vec<(PathBuf, Vec<u8>)> =
            (0..=4).map(|index| file(Hints::Zero, index)).map(|(n, b)| (n.into(), b)).collect();
        let made = Made(files);
        let (repaired, counts) = repair(&made.set(), MemberId(0)).unwrap();
        assert!(repaired == file(Hints::Right, 0).1, "{arch:?}");
        // The first name of every library is at the position 0.
        assert_eq!((counts.right_before, counts.repaired), (4, 4796));
        assert_eq!(counts.unknown, [("KERNEL32.dll".to_owned(), 3)].into());
        let after = made.with(0, repaired.clone());
        let (again, counts) = repair(&after.set(), MemberId(0)).unwrap();
        assert!(again == repaired && (counts.right_before, counts.repaired) == (4800, 0));
    }
}

fn names() -> Tiny {
    Tiny::dll(&[(Some("m"), None), (Some("a"), None), (None, None), (Some("z"), Some("b.z"))])
}

#[test]
fn delayed_unknown_and_missing_are_told_apart() {
    let program = Tiny {
        imports: vec![
            ("A", vec![Want::Name("z", 9), Want::Ordinal(3), Want::Name("a", 0)]),
            ("other.dll", vec![Want::Name("x", 3)]),
            ("a.dll", vec![Want::Name("nothing", 3)]),
        ],
        delayed: vec![("a.dll", vec![Want::Name("m", 0)])],
        ..Tiny::default()
    };
    let made = Made::of(&[("x.exe", &program), ("a.dll", &names())]);
    let before = hints::check(&made.set(), MemberId(0)).unwrap();
    let unknown = [("other.dll".to_owned(), 1)].into();
    let missing = vec!["a.dll!nothing".to_owned()];
    let expected = HintCheck { checked: 3, wrong: 2, only_by_hint: 0, unknown, missing };
    assert_eq!(before, expected);
    let (bytes, repaired) = repair(&made.set(), MemberId(0)).unwrap();
    assert_eq!((repaired.right_before, repaired.repaired), (1, 2));
    assert_eq!((&repaired.unknown, &repaired.missing), (&before.unknown, &before.missing));
    let file = Pe::parse("x.exe", &bytes).unwrap();
    assert_eq!(file.headers().checksum, file.computed_checksum());
    let changed = bytes.iter().zip(&made.0[0].1).filter(|(new, old)| new != old).count();
    assert!(changed <= 2 + 4, "two hints and the checksum: {changed}");
    assert_eq!(hints::check(&made.with(0, bytes).set(), MemberId(0)).unwrap().wrong, 0);
}

/// Where imports of the first two DLLs are, and where the first one's name is.
fn thunks(bytes: &[u8]) -> (usize, usize, u64) {
    let file = Pe::parse("x.exe", bytes).unwrap();
    let tables = dlls::tables::read("x.exe", &file).unwrap();
    let (first, second) = (tables[0].imports[0], tables[1].imports[0]);
    let record = file.pointer(first.ilt_entry).unwrap();
    (
        file.offset(second.ilt_entry).unwrap().index(),
        file.offset(second.iat_entry).unwrap().index(),
        record,
    )
}

#[test]
fn a_record_of_several_dlls_is_left_where_they_differ() {
    let program = |hint| {
        Tiny::importing(&[("a", vec![Want::Name("z", hint)]), ("b", vec![Want::Name("z", 0)])])
    };
    let b = Tiny::dll(&[(Some("z"), None)]);
    for (hint, left) in [(7, 2), (0, 2)] {
        let mut bytes = program(hint).bytes();
        let (lookup, slot, record) = thunks(&bytes);
        bytes[lookup..lookup + 8].copy_from_slice(&record.to_le_bytes());
        bytes[slot..slot + 8].copy_from_slice(&record.to_le_bytes());
        let made = Made::of(&[("x.exe", &program(hint)), ("a.dll", &names()), ("b.dll", &b)])
            .with(0, bytes);
        let (bytes, repaired) = repair(&made.set(), MemberId(0)).unwrap();
        assert_eq!((repaired.shared, repaired.repaired), (left, 0));
        assert!(bytes == made.0[0].1);
    }
}

#[test]
fn a_hint_within_another_name_is_refused() {
    let program =
        Tiny::importing(&[("a", vec![Want::Name("zza", 1)]), ("a.dll", vec![Want::Name("a", 0)])]);
    let a = Tiny::dll(&[(Some("a"), None), (Some("zza"), None)]);
    let mut bytes = program.bytes();
    let (lookup, slot, record) = thunks(&bytes);
    for at in [lookup, slot] {
        bytes[at..at + 8].copy_from_slice(&(record + 2).to_le_bytes());
    }
    let made = Made::of(&[("x.exe", &program), ("a.dll", &a)]).with(0, bytes);
    let error = repair(&made.set(), MemberId(0)).unwrap_err().to_string();
    assert!(error.contains("overlap"), "{error}");
}

#[test]
fn positions_that_no_hint_can_say_are_left() {
    let texts = (0..66_000).map(|n| (Some(&*format!("f{n:05}").leak()), None));
    let a = Tiny { exports: texts.collect(), ..Tiny::default() };
    let program = Tiny::importing(&[("a", vec![Want::Name("f65535", 0), Want::Name("f65536", 0)])]);
    let made = Made::of(&[("x.exe", &program), ("a.dll", &a)]);
    let (bytes, repaired) = repair(&made.set(), MemberId(0)).unwrap();
    assert_eq!((repaired.repaired, repaired.beyond), (1, 1));
    assert_eq!(hints::check(&made.with(0, bytes).set(), MemberId(0)).unwrap().wrong, 1);
}

/// A copy of a file all of whose hints are wrong, and how many there are.
fn spoilt(name: &str, file: &Pe<'_>) -> (Vec<u8>, u64) {
    let mut bytes = file.bytes().to_vec();
    let mut records = std::collections::BTreeSet::new();
    for from in dlls::tables::read(name, file).unwrap() {
        records.extend(from.imports.iter().filter_map(|import| match import.by {
            image::pe::imports::ImportBy::Name { rva, .. } => {
                file.offset(rva).map(model::FileOffset::index)
            }
            image::pe::imports::ImportBy::Ordinal(_) => None,
        }));
    }
    records.iter().for_each(|&at| bytes[at..at + 2].fill(0xff));
    (bytes, records.len() as u64)
}

/// All of Wine; what llvm-readobj says of a part of it.
#[test]
fn wine() {
    let (Some(paths), Some(readobj)) = (wine_files(), testkit::tool("llvm-readobj-19")) else {
        return;
    };
    assert!(paths.len() >= 500, "{}", paths.len());
    let files = OpenFiles::open(&paths, &[]).unwrap();
    let set = files.set();
    let folder = tempfile::tempdir().unwrap();
    let counts = paths.par_iter().enumerate().map(|(index, path)| {
        let id = MemberId::at(index);
        let before = hints::check(&set, id).unwrap();
        let (bytes, repaired) = repair(&set, id).unwrap();
        assert_eq!((repaired.repaired, repaired.shared), (before.wrong, 0), "{path:?}");
        let mut compared = 0;
        if before.wrong > 0 || index % 50 == 0 {
            let copy = folder.path().join(path.file_name().unwrap());
            std::fs::write(&copy, &bytes).unwrap();
            compared = hints_equal_readobj(&readobj, &copy, path.parent().unwrap());
        }
        (before.checked, before.wrong, compared)
    });
    let add = |a: (u64, u64, usize), b: (u64, u64, usize)| (a.0 + b.0, a.1 + b.1, a.2 + b.2);
    let (checked, wrong, compared) = counts.reduce(|| (0, 0, 0), add);
    assert!(checked > 40_000 && wrong < 1_000, "{checked}, {wrong}");
    assert!(compared > 1_000, "{compared}");
}

/// Hints made wrong become those that Wine's linker wrote.
#[test]
fn wines_hints_are_found_again() {
    let Some(paths) = wine_files() else { return };
    let files = OpenFiles::open(&paths, &[]).unwrap();
    let set = files.set();
    let spoilt: BTreeMap<MemberId, (Vec<u8>, u64)> =
        set.named().step_by(12).map(|id| (id, spoilt("spoilt", set.member(id).pe()))).collect();
    let wrong = Set::of(set.named().map(|id| {
        let member = set.member(id);
        let bytes = spoilt.get(&id).map_or(member.pe().bytes(), |(bytes, _)| bytes);
        (member.path(), Pe::parse("spoilt", bytes).unwrap())
    }));
    let mut same = 0;
    for (&id, (_, hints)) in &spoilt {
        let check = hints::check(&set, id).unwrap();
        if check.wrong > 0 || check.checked != *hints {
            continue;
        }
        let original = set.member(id).pe();
        let mut draft = wrong.draft(id);
        let repaired = hints::repair(&mut draft).unwrap();
        assert_eq!(repaired.repaired, *hints, "{:?}", paths[id.index()]);
        assert!(draft.bytes() == original.bytes(), "{:?}", paths[id.index()]);
        same += 1;
    }
    assert!(same > 30, "{same}");
}

/// Every hint that readobj reads is the name's position among the DLL's, which are in order. How
/// many there were.
fn hints_equal_readobj(readobj: &Path, file: &Path, folder: &Path) -> usize {
    let run = |flag: &str, path: &Path| {
        let output = Command::new(readobj).arg(flag).arg(path).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let imports = run("--coff-imports", file);
    let mut names: Vec<String> = Vec::new();
    let mut compared = 0;
    for line in imports.lines().map(str::trim) {
        if let Some(dll) = line.strip_prefix("Name: ") {
            let exports = run("--coff-exports", &folder.join(dll.to_lowercase()));
            let all = exports.lines().filter_map(|line| line.trim().strip_prefix("Name: "));
            names = all.filter(|name| !name.is_empty()).map(str::to_owned).collect();
            names.sort();
        } else if let Some(symbol) = line.strip_prefix("Symbol: ") {
            let (name, hint) = symbol.rsplit_once(" (").unwrap();
            let hint: usize = hint.trim_end_matches(')').parse().unwrap();
            if name.is_empty() || names.is_empty() {
                continue;
            }
            assert_eq!(names.get(hint).map(String::as_str), Some(name), "{file:?}");
            compared += 1;
        }
    }
    compared
}
