//! The folder of a program with private copies of its libraries.
//!
//! ```text
//! DIR/bin/NAME        the program, under its own name, as some do by it what they do
//! DIR/run             a link to it, made last
//! DIR/lib/NAME        a copy, under the name by which the loader knows it (DT_SONAME)
//! DIR/libraries.json  which files were copied
//! ```

use crate::{ElfRewriteError, origin};
use bundle::{BundleError, kept_files, sources};
use files::{Permit, WriteError};
use image::elf::edit::Edit;
use image::elf::spec;
use loader::origin::replaced;
use loader::{Graph, Module};
use model::ModuleId;
use model::bundle::Inventory;
use model::text::{name as name_of, text};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

const RUN: &str = "run";
const PROGRAM: &str = "bin";
const LIBRARIES: &str = "lib";
/// What was written into the folder, and of which files.
pub const MANIFEST: &str = "libraries.json";
/// Version of the shape of the manifest.
pub const SCHEMA: u32 = 1;

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
    pub fn claim(folder: &Path, program: &OsStr) -> Result<Folder, ElfRewriteError> {
        let failed = ElfRewriteError::io(folder);
        let made = !folder.exists();
        fs::create_dir_all(folder).map_err(&failed)?;
        if fs::read_dir(folder).map_err(&failed)?.next().is_some() {
            return Err(failed(ErrorKind::DirectoryNotEmpty.into()));
        }
        let path = files::real_path(folder).map_err(&failed)?;
        if let Some(reason) = origin::cannot_be_named(&path) {
            if made {
                let _ = fs::remove_dir(folder);
            }
            return Err(WriteError::refused(&path, reason).into());
        }
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
        self.path.join(LIBRARIES).join(name_of(&name))
    }

    /// Makes the program look for its libraries here before anywhere else that it names, but
    /// behind LD_LIBRARY_PATH where it does so now.
    pub fn search_first(&self, edit: &mut Edit<'_>, program: &Module) {
        let Module { image: program, origin, .. } = program;
        let own = text(self.path.join(LIBRARIES));
        let old = program.rpath.as_ref().filter(|_| program.runpath.is_none());
        let (tag, rest) = match (old, &program.runpath) {
            (Some(rpath), _) => (spec::DT_RPATH, Some(rpath)),
            (None, runpath) => (spec::DT_RUNPATH, runpath.as_ref()),
        };
        let rest = rest.map(|rest| replaced(rest, &text(origin)));
        let all = own + &rest.map_or(String::new(), |rest| format!(":{rest}"));
        let at = edit.add_name(&all);
        edit.set_value(tag, at);
    }

    /// Says what was written, of which files, and which of them were copied (`copied`).
    ///
    /// # Errors
    /// It cannot be written, or one of the files cannot be read.
    pub fn write_manifest(
        &self,
        graph: &Graph,
        copied: &[ModuleId],
    ) -> Result<(), ElfRewriteError> {
        let path = self.path.join(MANIFEST);
        let failed = ElfRewriteError::io(&path);
        let unread = |error| match error {
            BundleError::Io { path, source } => ElfRewriteError::unread(&path)(source),
            error => failed(io::Error::other(error.to_string())),
        };
        let mut files = Vec::new();
        for part in [PROGRAM, LIBRARIES] {
            files.extend(kept_files::below(&self.path, Path::new(part)).map_err(&failed)?);
        }
        files.push(kept_files::link(Path::new(RUN), &self.target()));
        let kept = Inventory {
            files,
            modules: sources::of_modules(&graph.modules).map_err(unread)?,
            stays_in: Some(text(&self.path)),
            checked_at_start: Some(false),
        };
        let mut manifest = serde_json::to_value(kept).map_err(|error| failed(error.into()))?;
        let program = graph.modules.first().map(|module| &module.path);
        let program = program.and_then(|path| std::path::absolute(path).ok());
        manifest["schema"] = SCHEMA.into();
        manifest["headstart"] = env!("CARGO_PKG_VERSION").into();
        manifest["program"] = program.map(text).into();
        manifest["libraries"] = copied.iter().map(|&module| self.entry(&graph[module])).collect();
        files::write_new(&path, format!("{manifest:#}\n").as_bytes(), Permit::Exactly(0o644))?;
        Ok(())
    }

    /// What `run` leads to.
    fn target(&self) -> PathBuf {
        Path::new(PROGRAM).join(&self.program)
    }

    fn entry(&self, module: &Module) -> Value {
        let data = fs::metadata(&module.path).ok();
        let changed = data.as_ref().map(|data| (data.mtime(), data.mtime_nsec()));
        let copy = self.copy_of(module);
        json!({
            "copy": text(copy.strip_prefix(&self.path).unwrap_or(&copy)),
            "original": text(&module.path),
            "bytes": module.image.bytes().len(),
            "modified_ns": changed.map(|(s, ns)| s.saturating_mul(1_000_000_000) + ns),
            "build_id": module.image.build_id,
        })
    }

    /// Makes the link to the program and leaves what has been written.
    ///
    /// # Errors
    /// The link cannot be made.
    pub fn keep(mut self) -> Result<(), ElfRewriteError> {
        let run = self.path.join(RUN);
        symlink(self.target(), &run).map_err(ElfRewriteError::io(&run))?;
        self.kept = true;
        Ok(())
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
