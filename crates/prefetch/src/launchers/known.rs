//! The launchers of a user, so that they can be written again when a recording changes. Their paths stand in
//! a file beside the recordings, one a line.

use super::{InstallError, launcher};
use crate::store::{self, Store, StoreError};
use files::{Lock, Permit};
use model::text;
use os::prefetch::WITHOUT_WAITING;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

const FILE: &str = "launchers";

/// What became of the launchers of a program.
#[derive(Debug, Default)]
pub struct Renewed {
    /// These read ahead what is in the recordings now.
    pub renewed: Vec<PathBuf>,
    /// These are as they were, and why.
    pub failed: Vec<InstallError>,
}

/// Notes that there is a launcher.
///
/// # Errors
/// The list cannot be written; the launcher is not renewed by itself then.
pub fn add(store: &Store, at: &Path) -> Result<(), InstallError> {
    store.make_folder()?;
    let _lock = locked(store)?;
    let mut known = paths(store)?;
    if known.insert(at.to_owned()) {
        keep(store, &known)?;
    }
    Ok(())
}

/// Notes that files are no launchers any more.
///
/// # Errors
/// The list cannot be read or written.
pub fn remove(store: &Store, gone: &[PathBuf]) -> Result<(), InstallError> {
    let _lock = locked(store)?;
    let known = paths(store)?;
    let left: BTreeSet<PathBuf> =
        known.iter().filter(|path| !gone.contains(path)).cloned().collect();
    if left.len() < known.len() { keep(store, &left) } else { Ok(()) }
}

/// Writes the launchers again that use a recording: this file, or one that is kept of this program.
///
/// # Errors
/// The list cannot be read, or is not trusted.
pub fn renew(
    store: &Store,
    program: Option<&Path>,
    record: &Path,
) -> Result<Renewed, InstallError> {
    let _lock = locked(store)?;
    let known = paths(store)?;
    let (mut renewed, mut left) = (Renewed::default(), known.clone());
    for at in &known {
        match renew_one(store, program, record, at) {
            Ok(Use::Gone) => drop(left.remove(at)),
            Ok(Use::Renewed) => renewed.renewed.push(at.clone()),
            Ok(Use::Other) => {}
            Err(error) => renewed.failed.push(error),
        }
    }
    if left.len() < known.len()
        && let Err(error) = keep(store, &left)
    {
        renewed.failed.push(error);
    }
    Ok(renewed)
}

/// What a file on the list has to do with a recording.
enum Use {
    /// It was removed, or something else is in its place.
    Gone,
    /// It has another recording, or has this one already.
    Other,
    /// It uses the recording, and was written again.
    Renewed,
}

fn renew_one(
    store: &Store,
    program: Option<&Path>,
    record: &Path,
    at: &Path,
) -> Result<Use, InstallError> {
    let data = match at.symlink_metadata() {
        // Its file system may not be mounted now.
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(if files::folder_of(at).is_dir() { Use::Gone } else { Use::Other });
        }
        found => found.map_err(InstallError::io(at))?,
    };
    if !data.is_file() {
        return Ok(Use::Gone);
    }
    // It would belong to this user afterwards.
    if data.uid() != os::host::user() {
        return Ok(Use::Other);
    }
    let readable = File::options().read(true).custom_flags(WITHOUT_WAITING).open(at);
    readable.map_err(InstallError::io(at))?;
    let Some((launcher, first)) = launcher::read_with_line(at)? else { return Ok(Use::Gone) };
    let same = |one: &Path, other: &Path| {
        one == other
            || one.canonicalize().is_ok_and(|one| other.canonicalize().is_ok_and(|it| it == one))
    };
    let uses = match &launcher.record {
        Some(named) => same(named, record),
        None => program.is_some_and(|program| same(&launcher.program, program)),
    };
    Ok(match uses && launcher::renew(&launcher, first, store, at)? {
        true => Use::Renewed,
        false => Use::Other,
    })
}

/// Keeps other runs from changing the list meanwhile, and what is read from becoming out of date.
fn locked(store: &Store) -> Result<Option<Lock>, InstallError> {
    let folder = store.beside("");
    match File::open(&folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(InstallError::io(&folder)(error)),
        // Some file systems have no locks.
        Ok(folder) => Ok(Lock::wait(folder).ok()),
    }
}

fn paths(store: &Store) -> Result<BTreeSet<PathBuf>, InstallError> {
    let file = store.beside(FILE);
    let bytes = match store::trusted_bytes(&file) {
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Vec::new(),
        bytes => bytes?,
    };
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.split('\n').filter(|line| !line.is_empty());
    Ok(lines.map(|line| text::name(line).into()).collect())
}

fn keep(store: &Store, known: &BTreeSet<PathBuf>) -> Result<(), InstallError> {
    let file = store.beside(FILE);
    if known.is_empty() {
        return std::fs::remove_file(&file).map_err(InstallError::io(&file));
    }
    let lines = known.iter().map(text::text).filter(|line| !line.contains('\n'));
    let text: String = lines.map(|line| line + "\n").collect();
    store.make_folder()?;
    Ok(files::write_over(&file, text.as_bytes(), Permit::Created(0o600))?)
}
