//! Who is at work, and state files that are not as they were written.

use super::tree::World;
use crate::journal::{self, Journal};
use crate::workshop::Workshop;
use crate::{ProgramError, Which, list, remove};
use model::{InstalledProgram, ProgramOutcome};
use std::fs;

#[test]
fn a_second_one_waits_a_while_and_says_who_is_at_work() {
    let Some(world) = World::new() else { return };
    let held = Workshop::enter(&world.places).unwrap();
    let refused = Workshop::enter(&world.places).unwrap_err().to_string();
    let own = std::process::id();
    assert!(
        refused.contains(&format!("another headstart is at work (process {own}: ")),
        "{refused}"
    );
    drop(held);
    Workshop::enter(&world.places).unwrap().close(&world.places.state);
    assert!(!world.places.state.exists());
}

#[test]
fn state_files_that_are_damaged_or_newer_change_nothing() {
    let Some(world) = World::new() else { return };
    let journal = Journal::begin(&world.places.state, world.linked()).unwrap();
    let path = journal.folder.join("state.json");
    let good = fs::read_to_string(&path).unwrap();
    for (text, words) in [
        ("{".to_owned(), "no state of an installed program"),
        (good.replace("\"schema\": 1", "\"schema\": 99"), "a newer headstart (0)"),
        (good.replace("\"name\": \"prog\"", "\"name\": \"other\""), "another folder"),
    ] {
        fs::write(&path, text).unwrap();
        let found = list(&world.places).unwrap();
        assert!(found.programs.is_empty() && found.unreadable[0].contains(words), "{found:?}");
        let report = remove(&world.places, &Which::All).unwrap();
        let [one] = &report.programs[..] else { panic!("{report:?}") };
        let reason = one.reason.as_deref().unwrap_or_default();
        assert!(one.outcome == ProgramOutcome::Failed && reason.contains(words), "{report:?}");
        assert!(path.exists());
    }
    fs::write(&path, good).unwrap();
    assert!(
        list(&world.places).unwrap().programs[0].reason.as_ref().unwrap().contains("interrupted")
    );
}

#[test]
fn two_programs_of_one_name_have_folders_of_their_own() {
    let Some(world) = World::new() else { return };
    let name = || journal::free_name(&world.places.state, &world.program());
    assert_eq!(name(), "prog");
    Journal::begin(&world.places.state, world.linked()).unwrap();
    assert_eq!(name(), "prog.2");
}

#[test]
fn a_name_that_several_programs_have_removes_none() {
    let Some(world) = World::new() else { return };
    let other = InstalledProgram { program: "/opt/prog".to_owned(), ..world.linked() };
    for state in [world.linked(), InstalledProgram { name: "prog.2".to_owned(), ..other }] {
        Journal::begin(&world.places.state, state).unwrap();
    }
    let removed = |name: &str| remove(&world.places, &Which::Named(vec![name.to_owned()])).unwrap();
    let report = removed("prog");
    let [one] = &report.programs[..] else { panic!("{report:?}") };
    let reason = one.reason.as_deref().unwrap_or_default();
    assert!(reason.ends_with("prog and /opt/prog; name one by its path"), "{reason}");
    assert_eq!(list(&world.places).unwrap().programs.len(), 2);
    assert!(removed("/opt/prog").programs[0].outcome.is_good());
    let left = list(&world.places).unwrap().programs;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].name, "prog");
}

#[test]
fn a_program_that_is_not_installed_is_told() {
    let Some(world) = World::new() else { return };
    let report = remove(&world.places, &Which::Named(vec!["prog".to_owned()])).unwrap();
    assert!(!report.programs[0].outcome.is_good(), "{report:?}");
    assert!(!world.places.state.exists());
}

#[test]
fn dpkg_that_is_at_work_is_waited_for_in_vain() {
    let Some(world) = World::new() else { return };
    let dpkg = world.dpkg();
    let held = dpkg.locked(world.places.patience).unwrap();
    assert!(held.is_some());
    // A lock of fcntl(2) is one of a process, so another one has to look.
    let lock = world.path("admin/lock-frontend");
    assert_eq!(os::locks::record_holder(&lock), i32::try_from(std::process::id()).ok());
    drop(held);
    assert_eq!(os::locks::record_holder(&lock), None);
    fs::remove_file(lock).unwrap();
    let locked = dpkg.locked(world.places.patience);
    assert!(matches!(locked, Ok(None)), "{:?}", locked.err().map(|error: ProgramError| error));
}
