//! What one has to know after a launcher was written.

use crate::output::quoted;
use model::Command;
use prefetch::store::Store;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether the name of a launcher leads to it. A name that only the launcher has is of use in any
/// folder.
pub fn of_path(at: &Path, program: &Path) -> Option<String> {
    let name = at.file_name()?;
    let folder = quoted(at.parent()?);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let same = |one: &Path, other: &Path| match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    };
    let is_on_path =
        std::env::split_paths(&path).any(|it| at.parent().is_some_and(|at| same(&it, at)));
    if !is_on_path {
        return Some(format!(
            "{folder} is not on PATH: start {}, or put that folder first on PATH",
            quoted(at)
        ));
    }
    let found = os::program::resolve(&[name]).ok()?;
    if same(&found.program, at) {
        return None;
    }
    let what = if same(&found.program, program) { "the program itself" } else { "another program" };
    Some(format!(
        "{folder} comes later on PATH than {}, which is {what}: put that folder first, or start {}",
        quoted(&found.program),
        quoted(at)
    ))
}

/// Whether a launcher cannot be started where it is.
pub fn of_execution(at: &Path) -> Option<String> {
    if os::program::is_on_noexec(at) {
        return Some(format!(
            "{} is on a file system that is mounted with noexec, so it cannot be started; choose \
             another place with --to",
            quoted(at)
        ));
    }
    let mode = at.metadata().ok()?.mode();
    (mode & 0o111 == 0)
        .then(|| format!("your umask lets nobody start it; permit it: chmod a+rx {}", quoted(at)))
}

/// Whether somebody else records, whose headstart does not know this launcher.
pub fn of_others_record(record: &Path) -> Option<String> {
    let owner = record.metadata().ok()?.uid();
    (owner != os::host::user()).then(|| {
        format!(
            "{} belongs to user {owner}: when that user records again, install the launcher again",
            quoted(record)
        )
    })
}

/// Whether there is something to read ahead.
pub fn of_recording(command: &Command, is_named: bool) -> Option<String> {
    if is_named {
        return None;
    }
    let store = Store::of_user(lab::default_folder::cache()).ok()?;
    let real = command.program.canonicalize().unwrap_or_else(|_| command.program.clone());
    let arguments = command.argv.get(1..).unwrap_or_default();
    match store.find(&real, arguments) {
        Ok(Some(_)) => None,
        Ok(None) => Some(format!(
            "nothing is read ahead yet, as there is no recording; make one: headstart record -- {}",
            command.line()
        )),
        Err(error) => Some(format!("nothing is read ahead yet: {error}")),
    }
}
