//! The program linked again, by the user's command.

use super::{AttemptError, AttemptRequest, Old, build_line};
use crate::shell;
use crate::subject::Subject;
use files::Stamp;
use os::launcher::Launcher;
use std::path::Path;

/// Links the program again and checks that it was. Gives the old one, which is put back after an error,
/// or else with the value that is given.
pub fn relinked(request: &AttemptRequest, mut launcher: Launcher) -> Result<Old, AttemptError> {
    let old = Old::keep(request, &launcher)?;
    let new = request.new_program();
    let before = Stamp::now(&new);
    let linked = run(request, &mut launcher).and_then(|()| check(&old, &new, before));
    match linked {
        Ok(()) => Ok(old),
        Err(error) => Err(error.with(old.put_back())),
    }
}

fn run(request: &AttemptRequest, launcher: &mut Launcher) -> Result<(), AttemptError> {
    let line = build_line(&request.relink, &request.order, request.out.as_deref());
    match shell::run(&line, launcher)? {
        None => Ok(()),
        Some(ending) => Err(AttemptError::Relink { command: line, ending }),
    }
}

/// Whether the command has made another program of it; `before` is what there was in its place.
fn check(old: &Old, new: &Path, before: Option<Stamp>) -> Result<(), AttemptError> {
    let path = || new.to_owned();
    let Some(now) = Stamp::now(new) else {
        return Err(AttemptError::Missing { path: path() });
    };
    if before.is_some_and(|before| now.has_data_of(&before)) {
        return Err(AttemptError::Unwritten { path: path() });
    }
    old.check()?;
    // What is no program would be found to be none when it is launched: too late to put one back.
    Subject::open(new)?;
    let content = |path: &Path| std::fs::read(path).ok();
    match content(&old.path()) == content(new) {
        true => Err(AttemptError::Unchanged { path: path() }),
        false => Ok(()),
    }
}
