//! Binding and unbinding, on images made to measure and generated ones.

#![allow(clippy::unwrap_used)]

mod tiny;

use dlls::bind::{self, Bound};
use dlls::realign::{RealignOptions, realign};
use dlls::{Advice, MemberId, Refusal, Set};
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{Pe, spec};
use model::{BoundState, FileOffset, Rva};
use tiny::{Made, Tiny, Want};
use workload::{Arch, By, Format, PeOptions, Pietrek, pe};

fn bound(set: &Set<'_>, importer: MemberId) -> Result<(Vec<u8>, Bound), Refusal> {
    let mut draft = set.draft(importer);
    let bound = bind::bind(&mut draft)?;
    Ok((PeDraft::from(draft).finish(KeepChecksum::AsItWas), bound))
}

fn unbound(bytes: &[u8]) -> Result<Vec<u8>, Refusal> {
    let mut draft = PeDraft::of(&Pe::parse("x.exe", bytes).unwrap());
    bind::unbind(&mut draft, "x.exe")?;
    Ok(draft.finish(KeepChecksum::AsItWas))
}

/// The address table's entries for one DLL.
fn addresses(bytes: &[u8], dll: usize) -> Vec<u64> {
    let file = Pe::parse("x.exe", bytes).unwrap();
    let tables = dlls::tables::read("x.exe", &file).unwrap();
    tables[dll].imports.iter().map(|import| file.pointer(import.iat_entry).unwrap()).collect()
}

fn library() -> Tiny {
    Tiny {
        first_ordinal: 3,
        base: 0x1_9000_0000,
        time_stamp: 0xabc,
        ..Tiny::dll(&[
            (Some("b"), None),
            (None, None),
            (Some("a"), None),
            (Some("f"), Some("far.#1")),
        ])
    }
}

fn far() -> Tiny {
    Tiny { base: 0x2_0000_0000, time_stamp: 0xdef, ..Tiny::dll(&[(Some("there"), None)]) }
}

fn program() -> Tiny {
    let wants = vec![Want::Name("a", 0), Want::Ordinal(4), Want::Name("f", 0), Want::Name("b", 0)];
    Tiny {
        delayed: vec![("far", vec![Want::Ordinal(1)])],
        ..Tiny::importing(&[("Lib", wants), ("KERNEL32.dll", vec![Want::Name("ExitProcess", 0)])])
    }
}

fn set_of(program: &Tiny) -> Made {
    Made::of(&[("x.exe", program), ("lib.dll", &library()), ("far.dll", &far())])
}

#[test]
fn addresses_stamps_and_directory() {
    let made = set_of(&program());
    let (bytes, done) = bound(&made.set(), MemberId(0)).unwrap();
    let lib = 0x1_9000_1000;
    assert_eq!(addresses(&bytes, 0), [lib + 2, lib + 1, 0x2_0000_1000, lib]);
    assert_eq!(addresses(&bytes, 1), addresses(&made.0[0].1, 1), "not at hand: as it was");
    let file = Pe::parse("x.exe", &bytes).unwrap();
    assert_eq!(file.headers().checksum, file.computed_checksum());
    let stamps: Vec<u32> = file.imported().map(|from| from.unwrap().time_stamp).collect();
    assert_eq!(stamps, [u32::MAX, 0]);
    let descriptor = file.imported().next().unwrap().unwrap().descriptor;
    assert_eq!(file.range(descriptor + 4, 8), Some(&[0xff; 8][..]), "ForwarderChain too");
    let entries: Vec<_> = file.bound_imports().map(Result::unwrap).collect();
    let told: Vec<_> =
        entries.iter().map(|one| (one.name, one.time_stamp, one.forwarders.clone())).collect();
    assert_eq!(
        told,
        [(&b"Lib"[..], 0xabc, vec![(&b"far.dll"[..], 0xdef)]), (&b"KERNEL32.dll"[..], 0, vec![]),]
    );
    // Behind the section table, within the headers, and found at the same place in memory.
    let directory = file.directory(spec::BOUND_IMPORT).unwrap();
    assert_eq!(directory.rva.0 as usize, file.headers().section_offset(1).index());
    assert!((directory.rva + directory.size).0 < file.headers().header_bytes);
    assert_eq!(file.offset(directory.rva), Some(FileOffset(directory.rva.0.into())));
    assert_eq!((done.dlls[0].imports, &done.dlls[0].forwarders), (4, &vec!["far.dll".to_owned()]));
    assert_eq!((done.left.len(), done.delayed_left, done.was_bound), (1, 1, false));
    assert!(done.left[0].reason.text.contains("cannot be found"), "{}", done.left[0].reason.text);
    assert!(unbound(&bytes).unwrap() == made.0[0].1);
    // Bound anew it is the same.
    let again = made.with(0, bytes.clone());
    let (twice, done) = bound(&again.set(), MemberId(0)).unwrap();
    assert!(twice == bytes && done.was_bound);
}

#[test]
fn narrow_images_are_bound_too() {
    let narrow = |one: Tiny, base| Tiny { wide: false, machine: 0x14c, base, ..one };
    let made = Made::of(&[
        ("x.exe", &narrow(program(), 0x40_0000)),
        ("lib.dll", &narrow(library(), 0x1000_0000)),
        ("far.dll", &narrow(far(), 0x2000_0000)),
    ]);
    let (bytes, _) = bound(&made.set(), MemberId(0)).unwrap();
    assert_eq!(addresses(&bytes, 0), [0x1000_1002, 0x1000_1001, 0x2000_1000, 0x1000_1000]);
    assert!(unbound(&bytes).unwrap() == made.0[0].1);
}

#[test]
fn state_follows_the_dlls() {
    let made = set_of(&program());
    let (bytes, _) = bound(&made.set(), MemberId(0)).unwrap();
    let made = made.with(0, bytes);
    let states = |made: &Made| -> Vec<BoundState> {
        bind::state(&made.set(), MemberId(0)).unwrap().into_iter().map(|one| one.state).collect()
    };
    let now = states(&made);
    assert_eq!(now[0], BoundState::Valid);
    assert_eq!((now[1], now[1].valid()), (BoundState::Unbound, None));
    let state = |index, image: Tiny| states(&made.with(index, image.bytes()))[0];
    let moved = Tiny { dll_characteristics: 0x140, ..library() };
    assert_eq!(state(1, moved.clone()), BoundState::Moved, "it is the one that was bound to");
    assert_eq!(state(1, Tiny { time_stamp: 1, ..library() }), BoundState::Stale);
    assert_eq!(state(2, Tiny { time_stamp: 1, ..far() }), BoundState::Stale, "the forwarder's");
    let (_, done) = bound(&made.with(1, moved.bytes()).set(), MemberId(0)).unwrap();
    assert!(done.dlls[0].moved);
    assert_eq!(bind::state(&set_of(&program()).set(), MemberId(0)).unwrap(), []);
}

#[test]
fn what_cannot_be_bound_is_a_sentence() {
    let refuse = |made: &Made| bound(&made.set(), MemberId(0)).unwrap_err().to_string();
    let left = |made: &Made| {
        let (bytes, done) = bound(&made.set(), MemberId(0)).unwrap();
        assert!(done.dlls.is_empty() && bytes == made.0[0].1);
        done.left.first().map(|left| left.reason.text.clone()).unwrap_or_default()
    };
    let no_bind = Tiny { dll_characteristics: 0x800, ..program() };
    assert!(refuse(&set_of(&no_bind)).contains("NO_BIND"));
    let without = Tiny { without_lookups: true, ..program() };
    assert!(refuse(&set_of(&without)).contains("no lookup table for Lib"));
    // 144 bytes behind the section table.
    let many: Vec<(&'static str, Vec<Want>)> =
        ["Lib", "a", "b", "c", "d", "e", "f", "g", "h", "i", "long_name_of_a_library.dll"]
            .map(|name| (name, vec![Want::Name("a", 0)]))
            .into();
    let full = Tiny { header_bytes: 0x200, ..Tiny::importing(&many) };
    let error = bound(&set_of(&full).set(), MemberId(0)).unwrap_err();
    assert_eq!(error.advice(), Some(Advice::Realign));
    let error = error.to_string();
    assert!(error.contains("not enough room") && error.contains("144 are free"), "{error}");
    let made = set_of(&full);
    let mut roomy = PeDraft::of(&Pe::parse("x.exe", &made.0[0].1).unwrap());
    let options = RealignOptions { file_alignment: 4096, keep_overlay: false };
    realign(&mut roomy, "x.exe", &options).unwrap();
    let made = made.with(0, roomy.finish(KeepChecksum::AsItWas));
    assert!(!bound(&made.set(), MemberId(0)).unwrap().1.dlls.is_empty(), "the advice works");
    let made = set_of(&program());
    let mut bytes = made.0[0].1.clone();
    bytes[0x3ff] = 1;
    assert!(refuse(&made.with(0, bytes)).contains("is already in use"));
    let nothing = Tiny::importing(&[("KERNEL32.dll", vec![Want::Name("ExitProcess", 0)])]);
    assert!(left(&set_of(&nothing)).contains("KERNEL32.dll cannot be found"));
    assert_eq!(left(&set_of(&Tiny::default())), "");
    let never = Tiny { time_stamp: 0, ..library() };
    let error = left(&Made::of(&[
        ("x.exe", &Tiny::importing(&[("lib", vec![Want::Name("a", 0)])])),
        ("lib.dll", &never),
    ]));
    assert!(error.contains("time stamp 0"), "{error}");
    let twice = Tiny::importing(&[
        ("lib", vec![Want::Name("a", 0)]),
        ("LIB.dll", vec![Want::Name("b", 0)]),
    ]);
    assert!(refuse(&set_of(&twice)).contains("in two places"));
    let missing = Tiny::importing(&[("lib", vec![Want::Name("a", 0), Want::Name("gone", 0)])]);
    assert!(left(&set_of(&missing)).contains("does not export gone"));
}

/// As images were bound before there was a directory: the DLL's own stamp in the descriptor.
#[test]
fn old_bindings_are_understood() {
    let made = set_of(&program());
    let (bytes, _) = bound(&made.set(), MemberId(0)).unwrap();
    let file = Pe::parse("x.exe", &bytes).unwrap();
    let descriptor = file.imported().next().unwrap().unwrap().descriptor;
    let stamp = file.offset(descriptor + 4).unwrap().index();
    let directory = file.headers().directory_offset(spec::BOUND_IMPORT).index();
    let room = file.directory(spec::BOUND_IMPORT).unwrap();
    let mut old = bytes.clone();
    old[stamp..stamp + 4].copy_from_slice(&0xabc_u32.to_le_bytes());
    old[directory..directory + 8].fill(0);
    old[room.rva.0 as usize..(room.rva + room.size).0 as usize].fill(0);
    let old = made.with(0, old);
    let state = bind::state(&old.set(), MemberId(0)).unwrap();
    assert_eq!((state[0].name.as_str(), state[0].state.valid()), ("Lib", Some(true)));
    let restored = unbound(&old.0[0].1).unwrap();
    let sum = Pe::parse("x.exe", &restored).unwrap().headers().checksum_offset().index();
    let without_sum = |bytes: &[u8]| [&bytes[..sum], &bytes[sum + 4..]].concat();
    assert!(without_sum(&restored) == without_sum(&made.0[0].1));
    // Without a lookup table nothing says what it was.
    let ilt = file.offset(descriptor).unwrap().index();
    let mut lost = old.0[0].1.clone();
    lost[ilt..ilt + 4].fill(0);
    let error = unbound(&lost).unwrap_err().to_string();
    assert!(error.contains("no lookup table from which"), "{error}");
}

#[test]
fn tables_that_overlap_are_refused() {
    let made = set_of(&program());
    let bytes = &made.0[0].1;
    let file = Pe::parse("x.exe", bytes).unwrap();
    let from: Vec<_> = file.imported().map(Result::unwrap).collect();
    let at = |rva: Rva| file.offset(rva).unwrap().index();
    // The address table of one DLL is the lookup table of the same, and of another.
    for ilt in [from[0].ilt.unwrap(), from[1].ilt.unwrap()] {
        let mut bytes = bytes.clone();
        let field = at(from[0].descriptor + 16);
        bytes[field..field + 4].copy_from_slice(&ilt.0.to_le_bytes());
        let error = bound(&made.with(0, bytes).set(), MemberId(0)).unwrap_err().to_string();
        let told = ["overlap", "differs from the lookup table", "cannot be read"];
        assert!(told.iter().any(|told| error.contains(told)), "{error}");
    }
    // The directory of the bound image reaches over the section table: it goes, the table stays.
    let (mut damaged, _) = bound(&made.set(), MemberId(0)).unwrap();
    let entry = file.headers().directory_offset(spec::BOUND_IMPORT).index();
    damaged[entry..entry + 4].copy_from_slice(&0x100_u32.to_le_bytes());
    let restored = unbound(&damaged).unwrap();
    assert_eq!(Pe::parse("x.exe", &restored).unwrap().headers().sections, file.headers().sections);
}

#[test]
fn generated_sets_are_bound_to_each_other() {
    for arch in [Arch::X86_64, Arch::I686] {
        for by in [By::Name, By::Ordinal] {
            let asked = Pietrek {
                dlls: 7,
                functions: 90,
                globals: 3,
                by,
                format: Format::Pe,
                arch,
                lazy: false,
                pe: PeOptions {
                    bases: workload::Bases::Chosen,
                    file_alignment: 4096,
                    ..PeOptions::default()
                },
            };
            let file = |index| pe::pietrek::file(&asked, index).unwrap();
            let made = Made((0..=7).map(file).map(|(name, bytes)| (name.into(), bytes)).collect());
            let (bytes, done) = bound(&made.set(), MemberId(0)).unwrap();
            assert_eq!((done.dlls.len(), done.left.len()), (7, 1));
            assert_eq!(done.dlls.iter().map(|dll| dll.imports).sum::<u64>(), 630);
            assert_eq!(done.overlapping, Vec::<String>::new());
            let after = made.with(0, bytes.clone());
            let state = bind::state(&after.set(), MemberId(0)).unwrap();
            assert_eq!(state.iter().filter(|one| one.state == BoundState::Valid).count(), 7);
            assert!(unbound(&bytes).unwrap() == made.0[0].1, "{arch:?}");
        }
    }
}
