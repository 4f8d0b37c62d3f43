//! A launcher: an executable of its own that reads ahead and becomes its program (crate `ahead`).
//!
//! What it starts stands in it as text, too, so that headstart can read it again:
//! ```text
//! A launcher made by headstart; undo: …
//! program: /usr/bin/emacs
//! argument: --fg-daemon
//! record: /srv/emacs.record
//! disk: hdd
//! ```
//!
//! Only the program has to be there. Names are written as [`model::text`] writes them.

use super::{Front, InstallError, Installed, place, plans};
use crate::store::Store;
use ahead::{LauncherData, LauncherPlan};
use files::Permit;
use model::{Command, Disk, InstalledKind, text};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

const MARK: &str = "A launcher made by headstart; undo: ";

/// What a launcher starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramLauncher {
    /// The program, absolute.
    pub program: PathBuf,
    /// Arguments before those of the launch.
    pub arguments: Vec<OsString>,
    /// The recording, absolute; else those that are kept of the program.
    pub record: Option<PathBuf>,
    /// The disk, if it is not to be the one that the recording shows.
    pub disk: Option<Disk>,
}

/// Writes a launcher where nothing is, or over an older one.
///
/// # Errors
/// Its program is unfit, the recording cannot be used, or there is another file.
pub fn install(
    front: &Front,
    launcher: &ProgramLauncher,
    store: &Store,
    at: &Path,
) -> Result<Installed, InstallError> {
    fit(&launcher.program)?;
    let plans = plans::of(launcher, store)?;
    let bytes = written(launcher, format!("{MARK}{}", front.undo(at)), plans, at)?;
    place::put(at, &bytes, InstalledKind::Launcher, Permit::Created(0o777))
}

/// Writes a launcher with this first line again, with the recordings as they are now, if that makes a
/// difference.
///
/// # Errors
/// As [`install`].
pub(super) fn renew(
    launcher: &ProgramLauncher,
    first: String,
    store: &Store,
    at: &Path,
) -> Result<bool, InstallError> {
    let plans = plans::of(launcher, store)?;
    let bytes = written(launcher, first, plans, at)?;
    let present = place::content(at, ahead::MOST_BYTES).map_err(InstallError::io(at))?;
    if present.as_deref() == Some(&bytes[..]) {
        return Ok(false);
    }
    place::put(at, &bytes, InstalledKind::Launcher, Permit::Created(0o777))?;
    Ok(true)
}

/// Whether a program can have something in front of it.
///
/// # Errors
/// It is a launcher itself, or has privileges of its own.
pub fn fit(program: &Path) -> Result<(), InstallError> {
    if read(program)?.is_some() {
        return Err(InstallError::refused(program, "it is a launcher itself; name its program"));
    }
    if let Some(privilege) = files::privilege(program) {
        let reason = format!(
            "it is {}; headstart puts nothing in front of programs that have more privileges than \
             their users",
            privilege.name()
        );
        return Err(InstallError::refused(program, reason));
    }
    Ok(())
}

fn written(
    launcher: &ProgramLauncher,
    first: String,
    plans: Vec<LauncherPlan>,
    at: &Path,
) -> Result<Vec<u8>, InstallError> {
    let mut lines = vec![first];
    lines.push(format!("program: {}", text::text(&launcher.program)));
    lines.extend(launcher.arguments.iter().map(|word| format!("argument: {}", text::text(word))));
    lines.extend(launcher.record.iter().map(|path| format!("record: {}", text::text(path))));
    lines.extend(launcher.disk.map(|disk| format!("disk: {}", disk.name())));
    if lines.iter().any(|line| line.contains('\n')) {
        let reason = "a name or argument has a line break, which a launcher cannot hold";
        return Err(InstallError::refused(at, reason));
    }
    let text = lines.join("\n") + "\n";
    if text.len() as u64 > ahead::BEGINNING_BYTES / 2 {
        return Err(InstallError::refused(at, "its arguments are too long; shorten them"));
    }
    let bytes = |word: &OsString| word.as_bytes().to_vec();
    let data = LauncherData {
        text,
        program: launcher.program.as_os_str().as_bytes().to_vec(),
        arguments: launcher.arguments.iter().map(bytes).collect(),
        plans,
    };
    ahead::write(&data).map_err(|problem| InstallError::refused(at, problem.to_string()))
}

/// The launcher in this file; `None` for any other file, or if there is none.
///
/// # Errors
/// Headstart has made it as a launcher, and it is damaged.
pub fn read(path: &Path) -> Result<Option<ProgramLauncher>, InstallError> {
    Ok(read_with_line(path)?.map(|(launcher, _)| launcher))
}

/// The same with its first line.
pub(super) fn read_with_line(
    path: &Path,
) -> Result<Option<(ProgramLauncher, String)>, InstallError> {
    let bytes = place::beginning(path, ahead::MOST_BYTES, ahead::BEGINNING_BYTES);
    let bytes = bytes.ok().flatten().unwrap_or_default();
    let Some(text) = marked_text(&bytes) else { return Ok(None) };
    let launcher = parsed(text).map_err(|found| {
        let reason = format!("it is a launcher of headstart, but {found}; install it again");
        InstallError::refused(path, reason)
    })?;
    let first = text.split('\n').next().unwrap_or_default().to_owned();
    Ok(Some((launcher, first)))
}

fn marked_text(bytes: &[u8]) -> Option<&str> {
    ahead::text(bytes).filter(|text| text.starts_with(MARK))
}

/// Whether headstart has made a file with this content as a launcher.
pub(super) fn is_marked(bytes: &[u8]) -> bool {
    marked_text(bytes).is_some()
}

fn parsed(text: &str) -> Result<ProgramLauncher, String> {
    let mut launcher = ProgramLauncher::default();
    // Not lines(), which takes a carriage return for a part of the line's end.
    for line in text.split('\n').skip(1).filter(|line| !line.is_empty()) {
        match line.split_once(": ") {
            Some(("program", path)) => launcher.program = text::name(path).into(),
            Some(("argument", word)) => launcher.arguments.push(text::name(word)),
            Some(("record", path)) => launcher.record = Some(text::name(path).into()),
            Some(("disk", name)) if Disk::named(name).is_some() => {
                launcher.disk = Disk::named(name)
            }
            _ => return Err(format!("'{}' says nothing", line.escape_debug())),
        }
    }
    if !launcher.program.is_absolute() {
        return Err("it names no program by an absolute path".to_owned());
    }
    Ok(launcher)
}

/// The command that is meant, and the recording for it: of a launcher, its program.
///
/// # Errors
/// The launcher is damaged, or starts another one.
pub fn meant(command: Command) -> Result<(Command, Option<PathBuf>), InstallError> {
    let Some(launcher) = read(&command.program)? else { return Ok((command, None)) };
    if read(&launcher.program)?.is_some() {
        let reason = format!(
            "this launcher starts another launcher, '{}'; install it again for the program itself",
            launcher.program.display()
        );
        return Err(InstallError::refused(&command.program, reason));
    }
    let mut argv = vec![launcher.program.clone().into_os_string()];
    argv.extend(launcher.arguments);
    argv.extend(command.argv.into_iter().skip(1));
    Ok((Command { argv, program: launcher.program, ..command }, launcher.record))
}

#[cfg(test)]
mod tests;
