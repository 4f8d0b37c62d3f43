//! The folder of a program with private copies of its libraries.
//!
//! ```text
//! DIR/bin/NAME        the program, under its own name, as some do by it what they do
//! DIR/run             a link to it, made last
//! DIR/lib/NAME        a copy, under the name by which the loader knows it (DT_SONAME)
//! DIR/libraries.json  which files were copied
//! ```

use crate::LinkError;
use image::elf::edit::Edit;
use image::elf::{Loadable, spec};
use loader::Module;
use loader::origin::replaced;
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

const RUN: &str = "run";
const PROGRAM: &str = "bin";
const LIBRARIES: &str = "lib";
const MANIFEST: &str = "libraries.json";
/// Version of the shape of the manifest.
const SCHEMA: u32 = 1;

/// The folder, which is emptied again with this value unless it is kept.
pub struct Folder {
    path: PathBuf,
    program: OsString,
    made: bool,
    kept: bool,
}

impl Folder {
    /// Takes an empty folder, or makes it, for a program of this name.
    ///
    /// # Errors
    /// It is not empty, or cannot be written.
    pub fn claim(folder: &Path, program: &OsStr) -> Result<Folder, LinkError> {
        let failed = LinkError::io(folder);
        let made = !folder.exists();
        fs::create_dir_all(folder).map_err(&failed)?;
        if fs::read_dir(folder).map_err(&failed)?.next().is_some() {
            return Err(failed(ErrorKind::DirectoryNotEmpty.into()));
        }
        let path = folder.canonicalize().map_err(&failed)?;
        let folder = Folder { path, program: program.to_owned(), made, kept: false };
        for part in [LIBRARIES, PROGRAM] {
            fs::create_dir(folder.path.join(part)).map_err(&failed)?;
        }
        Ok(folder)
    }

    /// Where the program is.
    pub fn program(&self) -> PathBuf {
        self.path.join(PROGRAM).join(&self.program)
    }

    /// Where the copy of a module is.
    pub fn copy_of(&self, module: &Module) -> PathBuf {
        let name = module.image.soname.clone().unwrap_or_default();
        self.path.join(LIBRARIES).join(name)
    }

    /// Makes the program look for its libraries here before anywhere else that it names, but
    /// behind LD_LIBRARY_PATH where it does so now. `origin`: its present folder.
    pub fn search_first(&self, edit: &mut Edit<'_>, program: &Loadable, origin: &Path) {
        let own = self.path.join(LIBRARIES).display().to_string();
        let old = program.rpath.as_ref().filter(|_| program.runpath.is_none());
        let (tag, rest) = match (old, &program.runpath) {
            (Some(rpath), _) => (spec::DT_RPATH, Some(rpath)),
            (None, runpath) => (spec::DT_RUNPATH, runpath.as_ref()),
        };
        let rest = rest.map(|rest| replaced(rest, &origin.display().to_string()));
        let all = own + &rest.map_or(String::new(), |rest| format!(":{rest}"));
        let at = edit.add_string(all.as_bytes());
        edit.set_value(tag, at);
    }

    /// Says which files were copied, and what tells whether they are still the same.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write_manifest<'a>(
        &self,
        modules: impl Iterator<Item = &'a Module>,
    ) -> Result<(), LinkError> {
        let libraries: Vec<Value> = modules.map(|module| self.entry(module)).collect();
        let manifest = json!({ "schema": SCHEMA, "libraries": libraries });
        let path = self.path.join(MANIFEST);
        fs::write(&path, format!("{manifest:#}\n")).map_err(LinkError::io(&path))
    }

    fn entry(&self, module: &Module) -> Value {
        let data = fs::metadata(&module.path).ok();
        let changed = data.as_ref().map(|data| (data.mtime(), data.mtime_nsec()));
        let copy = self.copy_of(module);
        json!({
            "copy": copy.strip_prefix(&self.path).unwrap_or(&copy),
            "original": module.path,
            "bytes": module.image.bytes().len(),
            "modified_ns": changed.map(|(s, ns)| s.saturating_mul(1_000_000_000) + ns),
            "build_id": build_id(&module.image),
        })
    }

    /// Makes the link to the program and leaves what has been written.
    ///
    /// # Errors
    /// The link cannot be made.
    pub fn keep(mut self) -> Result<PathBuf, LinkError> {
        let run = self.path.join(RUN);
        symlink(Path::new(PROGRAM).join(&self.program), &run).map_err(LinkError::io(&run))?;
        self.kept = true;
        Ok(self.program())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.kept {
            // Why it is not kept matters more than what is left of it.
            let _ = fs::remove_dir_all(self.path.join(LIBRARIES));
            let _ = fs::remove_dir_all(self.path.join(PROGRAM));
            let _ = fs::remove_file(self.path.join(MANIFEST));
            if self.made {
                let _ = fs::remove_dir(&self.path);
            }
        }
    }
}

/// NT_GNU_BUILD_ID in hexadecimal, if there is one (elf(5), "Notes").
fn build_id(image: &Loadable) -> Option<String> {
    const BUILD_ID: u32 = 3;
    let notes = image.segments().iter().filter(|segment| segment.kind == spec::PT_NOTE);
    for segment in notes {
        let mut rest = image.segment_bytes(segment);
        while let Some((header, after)) = rest.split_at_checked(12) {
            let word = |at: usize| header.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
            let (name, size, kind) = (word(0)? as usize, word(4)? as usize, word(8)?);
            let described = after.get(name.checked_next_multiple_of(4)?..)?;
            if kind == BUILD_ID && after.get(..name) == Some(&b"GNU\0"[..]) {
                let id = described.get(..size)?;
                return Some(id.iter().map(|byte| format!("{byte:02x}")).collect());
            }
            let alignment = usize::try_from(segment.alignment).ok()?.clamp(4, 8);
            rest = described.get(size.checked_next_multiple_of(alignment)?..)?;
        }
    }
    None
}
