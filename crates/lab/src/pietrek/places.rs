//! Folders on the file systems that the forms are launched from.

use super::forms::{Form, words};
use super::{PietrekError, PietrekPath, PietrekRequest, bound};
use crate::LabError;
use files::Permit;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use workload::{Format, Pietrek};

/// What a prepared folder holds, in words.
const WHAT: &str = "workload.txt";

/// A folder on a file system, with the files of every form.
pub struct Place {
    /// Type of the file system; with the folder where several have the same.
    pub name: String,
    kind: String,
    folder: PathBuf,
    /// Goes away with this value; none where the folder was prepared by its owner.
    _temporary: Option<TempDir>,
}

impl Place {
    /// Whether files here can be evicted from memory.
    pub fn leaves_memory(&self) -> bool {
        !matches!(self.kind.as_str(), "tmpfs" | "ramfs")
    }

    /// The program of a form.
    pub fn program(&self, form: &Form) -> PathBuf {
        self.folder.join(&form.folder).join(form.files.program())
    }
}

/// The places named, or the run folder where none is; the workloads are written to each that does
/// not hold them already.
pub fn places(
    request: &PietrekRequest,
    run: &Path,
    forms: &[Form],
) -> Result<Vec<Place>, PietrekError> {
    let here = [run.to_owned()];
    let folders = if request.on.is_empty() { &here } else { request.on.as_slice() };
    let places = folders.iter().map(|folder| place(folder, &request.workload, forms));
    let mut places: Vec<Place> = places.collect::<Result<_, _>>()?;
    let names: Vec<String> = places.iter().map(|place| place.kind.clone()).collect();
    for (place, named) in places.iter_mut().zip(folders) {
        if names.iter().filter(|name| **name == place.kind).count() > 1 {
            place.name = format!("{} {}", place.kind, named.display());
        }
    }
    Ok(places)
}

fn place(named: &Path, base: &Pietrek, forms: &[Form]) -> Result<Place, PietrekError> {
    let failed = |used| move |error| PietrekError::io(named, used, error);
    let kind = os::host::file_system(named).map_err(failed(PietrekPath::Place))?;
    let name = kind.clone();
    if let Ok(held) = std::fs::read_to_string(named.join(WHAT)) {
        let (held, wanted) = (held.trim().to_owned(), written(base, forms));
        if held != wanted {
            return Err(PietrekError::OtherWorkload { folder: named.to_owned(), held, wanted });
        }
        return Ok(Place { name, kind, folder: named.to_owned(), _temporary: None });
    }
    let temporary = tempfile::Builder::new().prefix("headstart-pietrek-").tempdir_in(named);
    let temporary = temporary.map_err(failed(PietrekPath::Workloads))?;
    write(temporary.path(), forms)?;
    Ok(Place { name, kind, folder: temporary.path().to_owned(), _temporary: Some(temporary) })
}

/// Writes the files of all forms, for a file system that will be read-only.
pub fn prepare(folder: &Path, base: &Pietrek, forms: &[Form]) -> Result<(), PietrekError> {
    let failed = |error| PietrekError::io(folder, PietrekPath::Kept, error);
    std::fs::create_dir_all(folder).map_err(failed)?;
    write(folder, forms)?;
    let what = format!("{}\n", written(base, forms));
    let made = files::write_over(&folder.join(WHAT), what.as_bytes(), Permit::Created(0o666));
    made.map_err(|error| failed(error.into()))
}

/// What a folder is said to hold.
fn written(base: &Pietrek, forms: &[Form]) -> String {
    let bound = forms.iter().any(|form| form.bound);
    match (base.format, bound) {
        (Format::Elf, _) => words(base),
        (Format::Pe, false) => format!("{}, PE", words(base)),
        (Format::Pe, true) => format!("{}, PE with bound forms", words(base)),
    }
}

fn write(folder: &Path, forms: &[Form]) -> Result<(), PietrekError> {
    for form in forms {
        let folder = folder.join(&form.folder);
        if folder.exists() {
            continue;
        }
        match form.bound {
            true => bound::write(form, &folder)?,
            false => drop(form.files.write_to(&folder).map_err(LabError::from)?),
        }
    }
    Ok(())
}
