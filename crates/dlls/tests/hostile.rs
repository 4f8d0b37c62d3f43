//! OpenFiles made to do harm: a sentence each, soon.

#![allow(clippy::unwrap_used)]

mod tiny;

use dlls::elsewhere::Exclusions;
use dlls::{MemberId, Set, bind, hints, ordinal, tables};
use image::pe::edit::PeDraft;
use image::pe::imports::ImportBy;
use image::pe::{Pe, spec};
use model::Rva;
use std::time::{Duration, Instant};
use tiny::{Made, Tiny, Want};

/// Far longer than any of these takes.
const SOON: Duration = Duration::from_secs(10);

/// What each of the rewritings says; none may have accepted it.
fn refusals(set: &Set<'_>) -> Vec<String> {
    let draft = || set.draft(MemberId(0));
    let said = [
        hints::repair(&mut draft()).map(drop),
        bind::bind(&mut draft()).map(drop),
        bind::unbind(draft().as_mut(), "x.exe").map(drop),
        ordinal::convert(&mut draft(), &Exclusions::default()).map(drop),
        hints::check(set, MemberId(0)).map(drop),
    ];
    said.into_iter().map(|said| said.unwrap_err().to_string()).collect()
}

fn library() -> Tiny {
    Tiny::dll(&[(Some("a"), None), (Some("b"), None)])
}

/// Two hundred descriptors that share one table of lookups, which is half of the file.
#[test]
fn tables_that_overlap_beyond_measure() {
    let began = Instant::now();
    let wants: Vec<Want> = (0..20_000).map(|n| Want::Ordinal(n as u16)).collect();
    let empty = |_| ("a.dll", vec![Want::Ordinal(1)]);
    let mut imports = vec![("a.dll", wants)];
    imports.extend((0..200).map(empty));
    let program = Tiny::importing(&imports);
    let mut bytes = program.bytes();
    let file = Pe::parse("x.exe", &bytes).unwrap();
    let all: Vec<_> = file.imported().map(Result::unwrap).collect();
    let places: Vec<usize> =
        all.iter().map(|from| file.offset(from.descriptor).unwrap().index()).collect();
    let ilt = all[0].ilt.unwrap().0.to_le_bytes();
    for at in places {
        bytes[at..at + 4].copy_from_slice(&ilt);
    }
    let made = Made::of(&[("x.exe", &program), ("a.dll", &library())]).with(0, bytes);
    for said in refusals(&made.set()) {
        assert!(said.contains("its tables overlap"), "{said}");
    }
    assert!(began.elapsed() < SOON);
}

/// A table of imports that never ends: it goes on to the end of the file.
#[test]
fn tables_without_an_end() {
    let program = Tiny::importing(&[("a.dll", vec![Want::Name("a", 0)])]);
    let made = Made::of(&[("x.exe", &program), ("a.dll", &library())]);
    let mut bytes = made.0[0].1.clone();
    let file = Pe::parse("x.exe", &bytes).unwrap();
    let start = file.offset(file.directory(spec::IMPORT).unwrap().rva).unwrap().index();
    let table = file.directory(spec::IMPORT).unwrap().rva;
    // Lookups that are what follows the descriptors, all of it ordinals.
    bytes[start + 20..].fill(0x80);
    bytes[start..start + 4].copy_from_slice(&(table + 20).0.to_le_bytes());
    let cut = made.with(0, bytes);
    for said in refusals(&cut.set()) {
        assert!(said.contains("its imports cannot be read"), "{said}");
    }
}

/// The import directory is the export directory, the headers, or behind the file.
#[test]
fn directories_that_overlap() {
    let program = Tiny {
        exports: library().exports,
        ..Tiny::importing(&[("a.dll", vec![Want::Name("a", 7)])])
    };
    let made = Made::of(&[("x.exe", &program), ("a.dll", &library())]);
    let bytes = &made.0[0].1;
    let file = Pe::parse("x.exe", bytes).unwrap();
    let entry = file.headers().directory_offset(spec::IMPORT).index();
    let exports = file.directory(spec::EXPORT).unwrap().rva.0;
    for rva in [exports, exports - 4, 0, 2, 64, 0x170, 0xfff_f000, u32::MAX - 3] {
        let mut bytes = bytes.clone();
        bytes[entry..entry + 4].copy_from_slice(&rva.to_le_bytes());
        let made = made.with(0, bytes);
        let set = made.set();
        let mut draft = set.draft(MemberId(0));
        if let Ok(done) = bind::bind(&mut draft) {
            assert!(done.dlls.is_empty(), "{rva:#x}");
            assert!(draft.bytes() == made.0[0].1, "{rva:#x}");
        }
        let mut draft = set.draft(MemberId(0));
        if hints::repair(&mut draft).is_ok() {
            assert!(draft.bytes() == made.0[0].1, "{rva:#x}");
        }
    }
}

/// Names that are all one long text, none in order: looked at once, and not all of them.
#[test]
fn names_that_overlap() {
    let began = Instant::now();
    let long: &'static str = "n".repeat(900).leak();
    let exports: Vec<_> = (0..4000).map(|_| (Some(long), None)).collect();
    let a = Tiny { unsorted: true, ..Tiny::dll(&exports) };
    let mut bytes = a.bytes();
    let file = Pe::parse("a.dll", &bytes).unwrap();
    let directory = file.offset(file.directory(spec::EXPORT).unwrap().rva).unwrap().index();
    let table = u32::from_le_bytes(bytes[directory + 32..directory + 36].try_into().unwrap());
    let names = file.offset(Rva(table)).unwrap().index();
    let one: [u8; 4] = bytes[names..names + 4].try_into().unwrap();
    for at in 0..4000 {
        bytes[names + 4 * at..names + 4 * at + 4].copy_from_slice(&one);
    }
    let wants = (0..3000).map(|_| Want::Name("zzz", 0)).collect();
    let program = Tiny::importing(&[("a.dll", wants)]);
    let made = Made::of(&[("x.exe", &program), ("a.dll", &a)]).with(1, bytes);
    let check = hints::check(&made.set(), MemberId(0)).unwrap();
    assert_eq!((check.checked, check.missing.len()), (0, 3000));
    assert!(began.elapsed() < SOON);
}

#[test]
fn a_chain_of_forwarders_without_an_end_in_sight() {
    let exports: Vec<_> = (0..200)
        .map(|n| (Some(&*format!("f{n:03}").leak()), Some(&*format!("a.f{:03}", n + 1).leak())))
        .chain([(Some("f200"), None)])
        .collect();
    let a = Tiny::dll(&exports);
    let made = Made::of(&[("x.exe", &Tiny::default()), ("a.dll", &a)]);
    let set = made.set();
    let lead = |name: &str| {
        set.resolve(
            MemberId(0),
            b"a.dll",
            ImportBy::Name { hint: 0, rva: Rva(0), name: name.as_bytes() },
        )
    };
    assert_eq!(lead("f137").unwrap().rva, Rva(0x1000 + 200));
    assert!(lead("f000").unwrap_err().to_string().contains("back to itself"));
}

/// A bound-import directory whose names lie anywhere is removed; nothing else is touched.
#[test]
fn damaged_bound_imports_are_removed() {
    let program = Tiny::importing(&[("a.dll", vec![Want::Name("a", 0)])]);
    let made = Made::of(&[("x.exe", &program), ("a.dll", &library())]);
    let bytes = &made.0[0].1;
    let file = Pe::parse("x.exe", bytes).unwrap();
    let entry = file.headers().directory_offset(spec::BOUND_IMPORT).index();
    for (rva, size) in [(0x180_u32, 64_u32), (0x3fc, 8), (0x1000, 0x200), (u32::MAX, u32::MAX)] {
        let mut damaged = bytes.clone();
        damaged[0x180..0x1c0].fill(0xee);
        damaged[entry..entry + 4].copy_from_slice(&rva.to_le_bytes());
        damaged[entry + 4..entry + 8].copy_from_slice(&size.to_le_bytes());
        let mut draft = PeDraft::of(&Pe::parse("x.exe", &damaged).unwrap());
        assert!(bind::unbind(&mut draft, "x.exe").unwrap().directory, "{rva:#x}");
        let after = Pe::parse("x.exe", draft.bytes()).unwrap();
        assert!(after.directory(spec::BOUND_IMPORT).is_none());
        let imports = |file: &Pe<'_>| tables::read("x.exe", file).unwrap().len();
        assert_eq!(imports(&after), 1);
        assert!(draft.bytes()[0x400..] == bytes[0x400..], "{rva:#x}");
    }
}
