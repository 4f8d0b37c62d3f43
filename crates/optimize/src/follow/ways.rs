//! How a variant takes the place of a program: by a variable where the launch looks the program up, or
//! else by a mount.

use super::FollowedProgram;
use super::launch::{starts_of, traced};
use super::scene::{Scene, Way};
use crate::{BuildRemedy, OptimizeError, Terms};
use model::{Command, quoted};
use os::trace::TracedLaunch;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Variables that list folders in which programs are looked up.
const LOOKED_UP: [Way; 2] = [Way::Path, Way::CompilerPath];

/// How each of `programs` is replaced in launches of `command`. In `folder`, which is empty, scripts
/// take their names and start them: a variable is a way to a program if all its starts come by them.
pub(super) fn ways(
    command: &Command,
    programs: &[&FollowedProgram],
    terms: &Terms,
    folder: &Path,
) -> Result<Vec<Way>, OptimizeError> {
    let mut ways = vec![Way::Mounted; programs.len()];
    let mut scripted = vec![false; programs.len()];
    for (scripted, program) in scripted.iter_mut().zip(programs) {
        let path = folder.join(program.base_name());
        // Of two of one name, the first.
        if path.exists() {
            continue;
        }
        *scripted = true;
        let script = format!("#!/bin/sh\nexec {} \"$@\"\n", quoted(&program.path));
        let written = fs::write(&path, script)
            .and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(0o755)));
        written.map_err(|error| {
            OptimizeError::unwritten(&path, error, BuildRemedy::AnotherTemporary)
        })?;
    }
    for way in LOOKED_UP {
        let Some(variable) = way.variable().filter(|_| ways.contains(&Way::Mounted)) else {
            continue;
        };
        let scene = Scene::looked_up(command, variable, folder);
        let launch = match traced(&scene.command, terms, None) {
            Err(error @ os::LaunchError::Interrupted) => return Err(error.into()),
            Err(_) => continue,
            Ok(launch) => launch,
        };
        let found = ways.iter_mut().zip(programs).zip(&scripted).filter(|(_, scripted)| **scripted);
        for ((found, program), _) in found {
            let by_name = through(&launch, &folder.join(program.base_name()));
            if *found == Way::Mounted && by_name > 0 && by_name == starts_of(&launch, &program.path)
            {
                *found = way;
            }
        }
    }
    Ok(ways)
}

/// How many processes execute the script at `path`.
fn through(launch: &TracedLaunch, path: &Path) -> usize {
    let path = model::text::text(path);
    let images = launch.trace.processes.iter().flat_map(|process| &process.images);
    images.filter(|image| image.argv.get(1) == Some(&path)).count()
}
