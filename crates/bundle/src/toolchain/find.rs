//! Programs along PATH that are no bundles, the names of a file, and what a compiler answers.

use crate::error::BundleError;
use crate::verify::is_already;
use image::elf::Loadable;
use model::Command;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Longer than a compiler takes that has to be read from a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// PATH without folders of toolchains, this one and others: none is made of another.
pub(super) fn search_path(folder: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = folder.canonicalize().ok();
    let is_own = |other: &PathBuf| own.is_some() && other.canonicalize().ok() == own;
    let is_other = |folder: &PathBuf| super::is_toolchain(folder);
    let folders = std::env::split_paths(&path).filter(|it| it.is_absolute());
    folders.filter(|it| !is_own(it) && !is_other(it)).collect()
}

/// The first program of that name that is no bundle.
pub(super) fn along(path: &[PathBuf], name: &OsStr) -> Option<PathBuf> {
    let candidates = path.iter().map(|folder| folder.join(name));
    candidates.into_iter().find(|candidate| is_executable(candidate) && !is_bundle(candidate))
}

/// The program of a name with the highest number behind it (`clang-19`).
pub(super) fn numbered(path: &[PathBuf], name: &str) -> Option<PathBuf> {
    let entries = path.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten();
    let number = |file: &OsStr| -> Option<u32> {
        file.to_str()?.strip_prefix(name)?.strip_prefix('-')?.parse().ok()
    };
    let found = entries.flatten().filter_map(|entry| {
        let found = Some((number(&entry.file_name())?, entry.path()));
        found.filter(|(_, path)| is_executable(path) && !is_bundle(path))
    });
    // Of the same number, the first along PATH.
    let best = found.fold(None, |best: Option<(u32, PathBuf)>, next| match best {
        Some(best) if best.0 >= next.0 => Some(best),
        _ => Some(next),
    });
    best.map(|(_, path)| path)
}

/// The program that is named, by its path or as one along PATH, or the compiler of that name.
///
/// # Errors
/// There is none.
pub(super) fn driver(
    named: Option<&Path>,
    name: &str,
    path: &[PathBuf],
) -> Result<PathBuf, BundleError> {
    let found = match named {
        Some(named) if named.is_absolute() => return Ok(named.to_owned()),
        Some(named) => along(path, named.as_os_str()),
        None => along(path, name.as_ref()).or_else(|| numbered(path, name)),
    };
    let sought = named.unwrap_or(Path::new(name));
    found.ok_or_else(|| BundleError::declined(sought, "it is not along PATH; name its path"))
}

/// Every name in these folders that leads to the file at `program`, with the first path of it.
pub(super) fn names_of(program: &Path, folders: &[&Path]) -> BTreeMap<OsString, PathBuf> {
    let mut names = BTreeMap::new();
    let Ok(file) = program.metadata() else { return names };
    for folder in folders {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let path = folder.join(entry.file_name());
            if path.metadata().is_ok_and(|it| (it.dev(), it.ino()) == (file.dev(), file.ino())) {
                names.entry(entry.file_name()).or_insert(path);
            }
        }
    }
    names
}

/// The names of a program in the folder in which it was found, and in that of its file.
pub(super) fn own_names(program: &Path) -> BTreeMap<OsString, PathBuf> {
    let file = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let folders: Vec<&Path> = [program.parent(), file.parent()].into_iter().flatten().collect();
    names_of(program, &folders)
}

/// The first line of what a program answers to these arguments; none where it fails.
pub(super) fn answer(
    program: &Path,
    arguments: &[&str],
    path: &[PathBuf],
) -> Result<Option<OsString>, BundleError> {
    let answer = whole_answer(program, arguments, path, Vec::new())?;
    let line = answer.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Ok((!line.is_empty()).then(|| OsStr::from_bytes(line).to_owned()))
}

/// What a program answers to these arguments; nothing where it fails.
pub(super) fn whole_answer(
    program: &Path,
    arguments: &[&str],
    path: &[PathBuf],
    mut environment: Vec<(String, Option<OsString>)>,
) -> Result<Vec<u8>, BundleError> {
    let words = arguments.iter().map(OsString::from);
    let argv = std::iter::once(program.into()).chain(words).collect();
    environment.push(("PATH".to_owned(), std::env::join_paths(path).ok()));
    // What rustup finds missing it is not to install.
    environment.push(("RUSTUP_AUTO_INSTALL".to_owned(), Some("0".into())));
    let command = Command { argv, program: program.to_owned(), directory: None, environment };
    let asked = os::asked::ask(&command, PATIENCE).map_err(|error| {
        BundleError::declined(program, format!("it cannot be asked what it starts: {error}"))
    })?;
    let ended_well = asked.ending == model::Ending::Code(0);
    Ok(if ended_well { asked.stdout } else { Vec::new() })
}

/// What a compiler says is its program of that name; where it says the name, the one along PATH.
pub(super) fn program_of(
    driver: &Path,
    name: &str,
    path: &[PathBuf],
) -> Result<Option<PathBuf>, BundleError> {
    let argument = format!("-print-prog-name={name}");
    let Some(said) = answer(driver, &[&argument], path)? else { return Ok(None) };
    let said = PathBuf::from(said);
    if !said.is_absolute() {
        return Ok(along(path, name.as_ref()));
    }
    Ok(Some(said).filter(|said| is_executable(said) && !is_bundle(said)))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

fn is_bundle(path: &Path) -> bool {
    Loadable::open(path).is_ok_and(|image| is_already(&image).is_some())
}
