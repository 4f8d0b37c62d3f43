//! Programs that are started through a link, and their desktop entries.

use super::tree::{BUNDLE, World, ended_everywhere};
use crate::journal::Journal;
use crate::placed::Placed;
use crate::stop::Stop;
use crate::{ProgramError, linked};
use std::fs;

const ENTRY: &str = "[Desktop Entry]\nType=Application\nName=x\nExec=@ %F\nTryExec=@\n";

fn install(world: &World, stop: &Stop) -> Result<(), ProgramError> {
    let mut journal = Journal::begin(&world.places.state, world.linked())?;
    world.make(&journal, BUNDLE);
    stop.here()?;
    linked::put_in_place(&mut journal, &world.places, stop)
}

/// A world in which an entry starts the program.
fn world() -> Option<World> {
    let world = World::new()?;
    let program = world.program().display().to_string();
    fs::write(world.path("share/x.desktop"), ENTRY.replace('@', &program)).unwrap();
    Some(world)
}

#[test]
fn wherever_it_is_killed_all_is_undone() {
    let Some(world) = world() else { return };
    let before = world.tree();
    let steps = ended_everywhere(
        |stop| install(&world, stop),
        |number| {
            for again in 0.. {
                let Some(journal) = world.journal() else { break };
                let done = linked::undo(journal, &Stop::at(again));
                assert!(matches!(done, Ok(()) | Err(ProgramError::Stopped)), "{done:?}");
            }
            Placed::forget(&world.places.state);
            assert_eq!(world.tree(), before, "{number}");
        },
    );
    assert!(steps > 3, "{steps}");
}

#[test]
fn a_link_and_entries_start_the_bundle() {
    let Some(world) = world() else { return };
    install(&world, &Stop::default()).unwrap();
    let journal = world.journal().unwrap();
    let link = world.path("home/bin/prog");
    assert_eq!(fs::read_link(&link).unwrap(), journal.run());
    assert!(linked::is_in_place(&journal));
    let text = fs::read_to_string(world.path("home/share/applications/x.desktop")).unwrap();
    let wanted = format!("Exec={0} %F\nTryExec={0}\n", link.display());
    assert!(text.ends_with(&wanted) && text.contains("X-Headstart-Undo=undo prog\n"), "{text}");
}

#[test]
fn what_is_there_already_stays() {
    let Some(world) = world() else { return };
    for (path, text) in [("home/bin/prog", "own"), ("home/share/applications/x.desktop", "own")] {
        let path = world.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let before = world.tree();
    let refused = install(&world, &Stop::default());
    assert!(matches!(refused, Err(ProgramError::InTheWay { .. })), "{refused:?}");
    linked::undo(world.journal().unwrap(), &Stop::default()).unwrap();
    Placed::forget(&world.places.state);
    assert_eq!(world.tree(), before);
    fs::remove_file(world.path("home/bin/prog")).unwrap();
    install(&world, &Stop::default()).unwrap();
    let own = fs::read_to_string(world.path("home/share/applications/x.desktop")).unwrap();
    assert_eq!(own, "own");
}

#[test]
fn a_folder_that_is_not_first_in_path_is_told() {
    let Some(world) = world() else { return };
    install(&world, &Stop::default()).unwrap();
    let (link, program) = (world.path("home/bin/prog"), world.program());
    let told = |folders: [&str; 2]| {
        let path = std::env::join_paths(folders.map(|name| world.path(name))).unwrap();
        // A link to what is no program leads to a file all the same.
        linked::advice(&link, &program, &path)
    };
    assert_eq!(told(["home/bin", "usr/bin"]), None);
    assert!(told(["usr/bin", "home/bin"]).unwrap().contains("home/bin:$PATH"));
}
