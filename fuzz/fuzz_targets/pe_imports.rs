//! Any bytes at all as two PE images, the first of which imports from the second: no panic, no
//! work out of proportion, and whatever is accepted keeps its promise.
#![no_main]

use dlls::elsewhere::Exclusions;
use dlls::{MemberId, Set, bind, hints, names, ordinal, tables};
use image::pe::Pe;
use image::pe::edit::{KeepChecksum, PeDraft};
use libfuzzer_sys::fuzz_target;
use std::path::Path;

/// Where the second image may begin.
const SECTOR: usize = 512;

fuzz_target!(|bytes: &[u8]| {
    let starts = (SECTOR..bytes.len()).step_by(SECTOR);
    let second = starts.into_iter().find(|&at| bytes[at..].starts_with(b"MZ"));
    let (first, second) = bytes.split_at(second.unwrap_or(bytes.len()));
    let Ok(program) = Pe::parse("x.exe", first) else { return };
    // By the name that is imported first, so that something is found.
    let wanted = program.imported().flatten().map(|from| names::key(from.name)).next();
    let wanted = wanted.and_then(|name| String::from_utf8(name).ok());
    let name = wanted.filter(|name| names::is_plain(name)).unwrap_or("a.dll".to_owned());
    let library = Pe::parse(&name, second).unwrap_or_else(|_| program.clone());
    let set = Set::of([(Path::new("x.exe"), program.clone()), (Path::new(&name), library)]);
    let _ = set.unambiguous();
    let _ = bind::state(&set, MemberId(0));
    bound(&set, first);
    repaired(&set);
    converted(&set, &program);
});

fn bound(set: &Set<'_>, original: &[u8]) {
    let mut draft = set.draft(MemberId(0));
    let Ok(done) = bind::bind(&mut draft) else { return };
    if done.dlls.is_empty() {
        return assert!(draft.bytes() == original);
    }
    bind::unbind(draft.as_mut(), "x.exe").expect("it was bound");
    assert!(done.was_bound || draft.bytes() == original);
}

fn repaired(set: &Set<'_>) {
    let before = hints::check(set, MemberId(0));
    let mut draft = set.draft(MemberId(0));
    let Ok(done) = hints::repair(&mut draft) else { return };
    let before = before.expect("it can be repaired");
    assert_eq!(before.wrong, done.repaired + wrong_and_left(&done, before.wrong));
    let new = PeDraft::from(draft).finish(KeepChecksum::AsItWas);
    let file = Pe::parse("x.exe", &new).expect("it could be read before");
    tables::read("x.exe", &file).expect("it could be read before");
}

/// Those left may be right already: all imports of a record are left together.
fn wrong_and_left(done: &hints::Repaired, wrong: u64) -> u64 {
    let left = wrong - done.repaired;
    assert!(left <= done.shared + done.beyond);
    left
}

/// By ordinal they lead where they led by name.
fn converted(set: &Set<'_>, before: &Pe<'_>) {
    let mut draft = set.draft(MemberId(0));
    if ordinal::convert(&mut draft, &Exclusions::none()).is_err() {
        return;
    }
    let after = Pe::parse("x.exe", draft.bytes()).expect("it could be read before");
    let leads = |file: &Pe<'_>| {
        let tables = tables::read("x.exe", file).expect("it was read before");
        let mut all = Vec::new();
        for from in &tables {
            for import in &from.imports {
                let to = set.resolve(MemberId(0), from.from.name, import.by);
                all.push(to.ok().map(|to| (to.dll, to.rva)));
            }
        }
        all
    };
    assert!(leads(before) == leads(&after));
}
