//! What holds for any set: binding can be taken back to the byte, ordinals lead where names led,
//! repaired hints are right; and no damage makes anything panic.

#![allow(clippy::unwrap_used)]

mod tiny;

use dlls::elsewhere::Exclusions;
use dlls::rewrite::MemberDraft;
use dlls::{MemberId, Set, bind, hints, ordinal, tables};
use image::pe::Pe;
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::imports::ImportBy;
use model::Rva;
use proptest::prelude::*;
use std::path::Path;
use tiny::{Made, Tiny, Want};

const NAMES: [&str; 6] = ["alpha", "beta", "a", "zeta", "m.n", "_x"];
const FORWARDERS: [&str; 6] = ["b.alpha", "c.#3", "a.beta", "c.zeta", "b.m", "nowhere.x"];
const DLLS: [&str; 7] = ["a.dll", "B", "c.dll", "a.dll", "B.dll", "C", "missing"];

fn exports() -> impl Strategy<Value = Vec<(Option<&'static str>, Option<&'static str>)>> {
    let named = prop::option::weighted(0.9, 0..NAMES.len());
    let forwarded = prop::option::weighted(0.15, 0..FORWARDERS.len());
    let export = (named, forwarded)
        .prop_map(|(name, to)| (name.map(|name| NAMES[name]), to.map(|to| FORWARDERS[to])));
    prop::collection::vec(export, 3..12)
}

fn library() -> impl Strategy<Value = Tiny> {
    (exports(), any::<bool>(), 1_u32..6, any::<bool>()).prop_map(
        |(exports, unsorted, first_ordinal, dynamic)| Tiny {
            unsorted,
            first_ordinal,
            dll_characteristics: if dynamic { 0x140 } else { 0x100 },
            ..Tiny::dll(&exports)
        },
    )
}

fn imports() -> impl Strategy<Value = Vec<(&'static str, Vec<Want>)>> {
    let by_name = (0..3_usize, 0_u16..8).prop_map(|(name, hint)| Want::Name(NAMES[name], hint));
    let want = prop_oneof![3 => by_name, 1 => (3_u16..8).prop_map(Want::Ordinal)];
    let from = (0..DLLS.len(), prop::collection::vec(want, 1..4))
        .prop_map(|(dll, wants)| (DLLS[dll], wants));
    prop::collection::vec(from, 0..4)
}

fn program() -> impl Strategy<Value = Tiny> {
    let header_bytes = prop_oneof![Just(0x200), Just(0x400)];
    (imports(), imports(), header_bytes, any::<bool>(), any::<bool>()).prop_map(
        |(imports, delayed, header_bytes, without_lookups, checksum)| Tiny {
            imports,
            delayed,
            header_bytes,
            checksum,
            without_lookups: without_lookups && checksum,
            ..Tiny::default()
        },
    )
}

fn set() -> impl Strategy<Value = Made> {
    (any::<bool>(), program(), library(), library(), library()).prop_map(|(wide, x, a, b, c)| {
        let one = |image: Tiny, base| match wide {
            true => Tiny { base, ..image },
            false => Tiny { wide: false, machine: 0x14c, base, ..image },
        };
        let images =
            [one(x, 0x40_0000), one(a, 0x1000_0000), one(b, 0x1000_8000), one(c, 0x2000_0000)];
        let names = ["x.exe", "a.dll", "b.dll", "C.DLL"];
        Made::of(&names.into_iter().zip(&images).collect::<Vec<_>>())
    })
}

/// Where every import leads, by DLL and address.
fn resolved(set: &Set<'_>) -> Vec<Result<(MemberId, Rva), ()>> {
    let all = tables::read("x.exe", set.member(MemberId(0)).pe()).unwrap();
    let leads = |dll: &[u8], by: ImportBy<'_>| {
        set.resolve(MemberId(0), dll, by).map(|to| (to.dll, to.rva)).map_err(drop)
    };
    all.iter()
        .flat_map(|from| from.imports.iter().map(|import| leads(from.from.name, import.by)))
        .collect()
}

fn rewrite(
    set: &Set<'_>,
    rewrite: impl FnOnce(&mut MemberDraft<'_, '_>) -> bool,
) -> Option<Vec<u8>> {
    let mut draft = set.draft(MemberId(0));
    rewrite(&mut draft).then(|| PeDraft::from(draft).finish(KeepChecksum::AsItWas))
}

fn unbound(bytes: &[u8]) -> Vec<u8> {
    let mut draft = PeDraft::of(&Pe::parse("x.exe", bytes).unwrap());
    bind::unbind(&mut draft, "x.exe").unwrap();
    draft.finish(KeepChecksum::AsItWas)
}

/// Binding is taken back to the byte, wherever it is accepted; whether it was.
fn binding_is_undone(set: &Set<'_>) -> bool {
    let original = set.member(MemberId(0)).pe().bytes();
    let mut was_bound = false;
    let bound = rewrite(set, |draft| {
        let bound = bind::bind(draft);
        was_bound = bound.as_ref().is_ok_and(|bound| bound.was_bound);
        bound.is_ok()
    });
    let Some(bound) = bound else { return false };
    assert_eq!(bound.len(), original.len());
    if !was_bound {
        assert!(unbound(&bound) == original);
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn binding_can_be_taken_back(made in set()) {
        let set = made.set();
        binding_is_undone(&set);
        if let Some(bytes) = rewrite(&set, |draft| bind::bind(draft).is_ok()) {
            let after = made.with(0, bytes);
            let after = after.set();
            prop_assert_eq!(resolved(&set), resolved(&after));
            for one in bind::state(&after, MemberId(0)).unwrap() {
                let moved = one.time_stamp != 0 && one.state.valid() == Some(false);
                prop_assert!(!moved || one.state == model::BoundState::Moved);
            }
        }
    }

    #[test]
    fn ordinals_lead_where_names_led(made in set()) {
        let set = made.set();
        let bytes = rewrite(&set, |draft| ordinal::convert(draft, &Exclusions::default()).is_ok());
        if let Some(bytes) = bytes {
            let after = made.with(0, bytes);
            prop_assert_eq!(resolved(&set), resolved(&after.set()));
        }
    }

    #[test]
    fn repaired_hints_are_right(made in set()) {
        let set = made.set();
        let before = hints::check(&set, MemberId(0)).unwrap();
        let mut draft = set.draft(MemberId(0));
        let done = hints::repair(&mut draft).unwrap();
        let after = made.with(0, PeDraft::from(draft).finish(KeepChecksum::AsItWas));
        let now = hints::check(&after.set(), MemberId(0)).unwrap();
        prop_assert_eq!((now.wrong, done.repaired + now.wrong), (done.shared, before.wrong));
        prop_assert_eq!(now.checked, before.checked);
    }

    /// Any few bytes of the importer and of a DLL changed.
    #[test]
    fn damage_never_panics(
        made in set(),
        changes in prop::collection::vec((0_usize..4, any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut files = made.0;
        for (file, at, value) in changes {
            let bytes = &mut files[file].1;
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let parsed: Option<Vec<_>> = files
            .iter()
            .map(|(path, bytes)| Some((path.as_path(), Pe::parse("damaged", bytes).ok()?)))
            .collect();
        let Some(parsed) = parsed else { return Ok(()) };
        let set = Set::of(parsed.into_iter().map(|(path, pe): (&Path, _)| (path, pe)));
        binding_is_undone(&set);
        let _ = bind::state(&set, MemberId(0));
        let _ = rewrite(&set, |draft| bind::unbind(draft.as_mut(), "x.exe").is_ok());
        let _ = rewrite(&set, |draft| hints::repair(draft).is_ok());
        let _ = rewrite(&set, |draft| ordinal::convert(draft, &Exclusions::default()).is_ok());
    }
}
