//! Diverted programs.

use super::tree::{BUNDLE, NEW, OLD, World, ended_everywhere};
use crate::diversion::Diversion;
use crate::journal::Journal;
use crate::remove::{Which, remove, undo};
use crate::stop::Stop;
use crate::{ProgramError, list};
use model::InstallStep;
use std::fs;
use std::os::unix::fs::PermissionsExt;

/// All steps of an installation.
fn install(world: &World, stop: &Stop) -> Result<(), ProgramError> {
    let mut journal = Journal::begin(&world.places.state, world.diverted())?;
    let diversion = Diversion::of(&journal, world.dpkg(), stop).unwrap();
    diversion.divert(&mut journal)?;
    world.make(&journal, BUNDLE);
    stop.here()?;
    journal.reach(InstallStep::Made)?;
    stop.here()?;
    diversion.put_in_place(&mut journal)
}

/// What the next headstart does with what it finds, killed at each of its steps and begun again.
fn recover(world: &World) {
    loop {
        for number in 0.. {
            let Some(journal) = world.journal() else {
                crate::journal::sweep_all(&world.places.state);
                let _ = fs::remove_dir(&world.places.state);
                return;
            };
            match undo(&world.places, journal, &Stop::at(number)) {
                Err(ProgramError::Stopped) => assert!(world.program().exists(), "{number}"),
                done => done.unwrap(),
            }
        }
    }
}

#[test]
fn wherever_it_is_killed_a_program_is_there_and_all_is_undone() {
    let Some(world) = World::new() else { return };
    let before = world.tree();
    let steps = ended_everywhere(
        |stop| install(&world, stop),
        |number| {
            let started = world.started();
            assert!([OLD, BUNDLE].contains(&started.as_str()), "{number}: {started}");
            recover(&world);
            assert_eq!(world.tree(), before, "{number}");
            assert_eq!(world.diversions(), "", "{number}");
        },
    );
    assert!(steps > 7, "{steps}");
}

#[test]
fn what_is_put_in_place_has_mode_and_times_of_the_original() {
    let Some(world) = World::new() else { return };
    let before = fs::metadata(world.program()).unwrap();
    install(&world, &Stop::default()).unwrap();
    let now = fs::metadata(world.program()).unwrap();
    assert_eq!(world.started(), BUNDLE);
    assert_eq!(now.permissions(), before.permissions());
    assert_eq!(now.modified().unwrap(), before.modified().unwrap());
    assert_eq!(fs::read_to_string(world.original()).unwrap(), OLD);
    assert_eq!(world.journal().unwrap().state.step, InstallStep::InPlace);
}

#[test]
fn an_upgrade_after_a_kill_is_never_lost() {
    let Some(world) = World::new() else { return };
    ended_everywhere(
        |stop| install(&world, stop),
        |number| {
            world.upgrade();
            recover(&world);
            assert_eq!(world.started(), NEW, "{number}");
            assert!(!world.original().exists() && world.diversions().is_empty(), "{number}");
            fs::write(world.program(), OLD).unwrap();
        },
    );
}

#[test]
fn an_upgrade_while_it_is_taken_out_is_never_lost() {
    let Some(world) = World::new() else { return };
    for number in 0..6 {
        install(&world, &Stop::default()).unwrap();
        let _ = undo(&world.places, world.journal().unwrap(), &Stop::at(number));
        world.upgrade();
        recover(&world);
        assert_eq!(world.started(), NEW, "{number}");
        assert!(!world.original().exists() && world.diversions().is_empty(), "{number}");
        fs::write(world.program(), OLD).unwrap();
    }
}

#[test]
fn with_its_package_everything_of_a_program_goes() {
    let Some(world) = World::new() else { return };
    ended_everywhere(
        |stop| install(&world, stop),
        |number| {
            world.purge();
            if let Some(journal) = world.journal() {
                undo(&world.places, journal, &Stop::default()).unwrap();
            }
            crate::journal::sweep_all(&world.places.state);
            let left: Vec<_> = fs::read_dir(world.path("usr/bin")).unwrap().collect();
            assert!(left.is_empty() && world.diversions().is_empty(), "{number}: {left:?}");
            fs::write(world.program(), OLD).unwrap();
        },
    );
}

#[test]
fn a_renewal_that_is_killed_leaves_the_old_or_the_new_one() {
    let Some(world) = World::new() else { return };
    let before = world.tree();
    let next = "another bundle";
    ended_everywhere(
        |stop| {
            if world.journal().is_none() {
                install(&world, &Stop::default())?;
            }
            let mut journal = world.journal().unwrap();
            world.make(&journal, next);
            Diversion::of(&journal, world.dpkg(), stop).unwrap().put_in_place(&mut journal)
        },
        |number| {
            let started = world.started();
            assert!([BUNDLE, next].contains(&started.as_str()), "{number}: {started}");
            assert!(world.journal().unwrap().is_ours(&world.program()).unwrap(), "{number}");
            recover(&world);
            assert_eq!(world.tree(), before, "{number}");
        },
    );
}

#[test]
fn a_file_that_somebody_else_has_put_there_stays() {
    let Some(world) = World::new() else { return };
    install(&world, &Stop::default()).unwrap();
    fs::remove_file(world.program()).unwrap();
    fs::write(world.program(), "somebody's own").unwrap();
    let before = world.tree();
    let refused = undo(&world.places, world.journal().unwrap(), &Stop::default());
    assert!(matches!(refused, Err(ProgramError::InTheWay { .. })), "{refused:?}");
    assert_eq!(world.tree(), before);
    // Once it is away, all is undone.
    fs::remove_file(world.program()).unwrap();
    undo(&world.places, world.journal().unwrap(), &Stop::default()).unwrap();
    assert_eq!(world.started(), OLD);
}

#[test]
fn a_diversion_that_somebody_has_removed_does_not_cost_the_original() {
    let Some(world) = World::new() else { return };
    install(&world, &Stop::default()).unwrap();
    world.dpkg().remove(&world.program()).unwrap();
    recover(&world);
    assert_eq!(world.started(), OLD);
    assert!(!world.original().exists());
}

#[test]
fn a_file_with_the_second_name_that_is_somebody_elses_stays() {
    let Some(world) = World::new() else { return };
    fs::write(world.original(), "somebody's own").unwrap();
    let mut journal = Journal::begin(&world.places.state, world.diverted()).unwrap();
    let stop = Stop::default();
    let diversion = Diversion::of(&journal, world.dpkg(), &stop).unwrap();
    assert!(diversion.divert(&mut journal).is_err());
    undo(&world.places, journal, &stop).unwrap();
    assert_eq!(fs::read_to_string(world.original()).unwrap(), "somebody's own");
    assert_eq!(world.started(), OLD);
}

/// An administrator means the program, whatever file is at its path.
#[test]
fn changed_rights_go_to_a_newer_bundle_and_to_the_original() {
    let Some(world) = World::new() else { return };
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let change =
        |mode| fs::set_permissions(world.program(), fs::Permissions::from_mode(mode)).unwrap();
    let stop = Stop::default();
    install(&world, &stop).unwrap();
    change(0o700);
    let mut journal = world.journal().unwrap();
    let diversion = Diversion::of(&journal, world.dpkg(), &stop).unwrap();
    diversion.hand_on_rights(&mut journal).unwrap();
    let of_original = || files::Stamp::now(&world.original());
    let handed = of_original();
    assert_eq!(mode(&world.original()), 0o700);
    world.make(&journal, "newer");
    Diversion::of(&journal, world.dpkg(), &stop).unwrap().put_in_place(&mut journal).unwrap();
    assert_eq!((mode(&world.program()), world.started().as_str()), (0o700, "newer"));
    assert_eq!(of_original(), handed, "it would make the bundle stale");
    // Privileges are nothing that a bundle may have.
    change(0o4755);
    let refused = undo(&world.places, world.journal().unwrap(), &stop).unwrap_err().to_string();
    assert!(refused.contains("set-user-ID"), "{refused}");
    assert_eq!((mode(&world.program()), world.started().as_str()), (0o4755, "newer"));
    change(0o750);
    undo(&world.places, world.journal().unwrap(), &stop).unwrap();
    assert_eq!((mode(&world.program()), world.started().as_str()), (0o750, OLD));
}

/// Somebody has removed dpkg's diversion, and the package came again: what it brought is the program.
#[test]
fn a_file_that_came_after_the_diversion_was_removed_is_kept() {
    let Some(world) = World::new() else { return };
    let stop = Stop::default();
    install(&world, &stop).unwrap();
    world.dpkg().remove(&world.program()).unwrap();
    world.upgrade();
    let undone = || undo(&world.places, world.journal().unwrap(), &stop);
    let told = undone().unwrap_err().to_string();
    assert!(told.contains("diversion of it is gone") && world.started() == NEW, "{told}");
    fs::remove_file(crate::diversion::original_of(&world.program())).unwrap();
    undone().unwrap();
    assert!(world.journal().is_none() && world.started() == NEW);
}

#[test]
fn where_the_state_is_gone_it_is_told_how_the_original_comes_back() {
    let Some(world) = World::new() else { return };
    let before = world.tree();
    install(&world, &Stop::default()).unwrap();
    assert!(list(&world.places).unwrap().unreadable.is_empty());
    fs::remove_dir_all(&world.places.state).unwrap();
    let told = list(&world.places).unwrap().unreadable;
    assert!(told.len() == 1 && told[0].contains("dpkg-divert"), "{told:?}");
    for name in [world.program(), world.original()] {
        let which = Which::Named(vec![name.display().to_string()]);
        let report = remove(&world.places, &which).unwrap();
        let reason = report.programs[0].reason.as_deref().unwrap();
        let commands = reason.split_once("to put the original back: ").unwrap().1;
        if name == world.program() {
            assert_eq!(world.started(), BUNDLE);
            continue;
        }
        let admin = format!(" dpkg-divert --admindir '{}' ", world.dpkg().admin.display());
        let commands = commands.replace(" dpkg-divert ", &admin);
        let done = std::process::Command::new("sh").args(["-c", &commands]).status().unwrap();
        assert!(done.success(), "{commands}");
    }
    assert_eq!((world.started(), world.diversions()), (OLD.to_owned(), String::new()));
    assert_eq!(world.tree(), before);
}

/// The bundle and the program are two names of one file.
#[test]
fn what_is_written_over_an_installed_program_is_not_taken_for_a_bundle() {
    let Some(world) = World::new() else { return };
    install(&world, &Stop::default()).unwrap();
    assert!(world.journal().unwrap().is_verified().unwrap());
    fs::write(world.program(), "somebody's own").unwrap();
    let journal = world.journal().unwrap();
    assert_eq!(fs::read_to_string(journal.run()).unwrap(), "somebody's own");
    assert!(matches!(journal.is_verified(), Err(ProgramError::InTheWay { .. })));
    let refused = undo(&world.places, journal, &Stop::default());
    assert!(matches!(refused, Err(ProgramError::InTheWay { .. })), "{refused:?}");
    assert_eq!(world.started(), "somebody's own");
}
