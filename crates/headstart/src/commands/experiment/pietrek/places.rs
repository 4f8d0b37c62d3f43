//! Folders on the file systems that the forms are launched from.

use super::forms::{Form, words};
use crate::exit::Usage;
use crate::output;
use anyhow::{Context, Result};
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
pub fn all(on: &[PathBuf], run: &Path, base: &Pietrek, forms: &[Form]) -> Result<Vec<Place>> {
    let here = [run.to_owned()];
    let folders = if on.is_empty() { &here } else { on };
    let places: Result<Vec<Place>> =
        folders.iter().map(|folder| place(folder, base, forms)).collect();
    let mut places = places?;
    let names: Vec<String> = places.iter().map(|place| place.kind.clone()).collect();
    for (place, named) in places.iter_mut().zip(folders) {
        if names.iter().filter(|name| **name == place.kind).count() > 1 {
            place.name = format!("{} {}", place.kind, named.display());
        }
    }
    Ok(places)
}

fn place(named: &Path, base: &Pietrek, forms: &[Form]) -> Result<Place> {
    let kind = os::host::file_system(named).with_context(|| named.display().to_string())?;
    let name = kind.clone();
    if let Ok(held) = std::fs::read_to_string(named.join(WHAT)) {
        if held.trim() != written(base) {
            let (named, held, wanted) = (named.display(), held.trim(), written(base));
            return Err(Usage(format!(
                "{named} holds {held}, and {wanted} are wanted: give --format, --dlls, \
                 --functions and --globals as they were given to --generate"
            ))
            .into());
        }
        return Ok(Place { name, kind, folder: named.to_owned(), _temporary: None });
    }
    let temporary = tempfile::Builder::new()
        .prefix("headstart-pietrek-")
        .tempdir_in(named)
        .with_context(|| {
            let named = output::quoted(named);
            format!("{named}: the workloads cannot be written there; write them with --generate")
        })?;
    write(temporary.path(), forms)?;
    Ok(Place { name, kind, folder: temporary.path().to_owned(), _temporary: Some(temporary) })
}

/// Writes the files of all forms, for a file system that will be read-only.
pub fn prepare(folder: &Path, base: &Pietrek, forms: &[Form]) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    write(folder, forms)?;
    output::write_file(&folder.join(WHAT), &format!("{}\n", written(base)))
}

/// What a folder is said to hold.
fn written(base: &Pietrek) -> String {
    match base.format {
        Format::Elf => words(base),
        Format::Pe => format!("{}, PE", words(base)),
    }
}

fn write(folder: &Path, forms: &[Form]) -> Result<()> {
    for form in forms {
        let folder = folder.join(&form.folder);
        if !folder.exists() {
            form.files.write_to(&folder)?;
        }
    }
    Ok(())
}
