//! Which files of a folder headstart made: those and no others are replaced.
//!
//! The manifest says what `run` is by its content. A new manifest is on the disk, under another
//! name, before a new `run` takes its place, and gets its own name afterwards. So, whenever
//! headstart is killed, one of the two manifests is that of the `run` that is there.

use crate::carry::{self, UNFINISHED};
use crate::error::{BundleAdvice, BundleError};
use crate::make::RUN;
use crate::toolchain::{self, TOOLCHAIN};
use crate::write::content::Content;
use crate::write::debugger::SYMBOLS;
use crate::write::manifest::{self, MANIFEST, PENDING};
use crate::write::product;
use crate::write::spare::SPARE;
use model::bundle::{BundleManifest, BundleProduct};
use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What other verbs leave in their folders.
pub(crate) const OF_OTHERS: [(&str, &str); 5] = [
    (TOOLCHAIN, "the tools of a compiler"),
    ("headstart-ordinals.json", "files whose imports are by ordinal"),
    ("libraries.json", "a program with libraries of its own"),
    ("experiment.json", "a run that headstart kept"),
    ("sweep.json", "a run that headstart kept"),
];

/// A folder whose files may be replaced.
pub(crate) struct Owned {
    folder: PathBuf,
    /// The manifest of what is there; `None` where there is no bundle yet.
    pub(crate) manifest: Option<BundleManifest>,
    /// What stat(2) said of `run`; `None` where it is not there.
    run: Option<(u64, u64, u64, i64, i64)>,
}

impl Owned {
    /// Looks at a folder that is locked. `program` must not be in the way.
    ///
    /// # Errors
    /// A file there is not headstart's, or not of a bundle; nothing was changed.
    pub(crate) fn of(folder: &Path, program: Option<&Path>) -> Result<Owned, BundleError> {
        if folder.canonicalize().is_ok_and(|folder| folder.parent().is_none()) {
            return Err(taken(folder, "is the root folder, and a bundle needs its own"));
        }
        let program = program.and_then(|program| program.metadata().ok());
        for name in [RUN, MANIFEST, PENDING, SYMBOLS, SPARE] {
            let path = folder.join(name);
            if let (Some(program), Ok(data)) = (&program, path.symlink_metadata())
                && (program.dev(), program.ino()) == (data.dev(), data.ino())
                && data.is_file()
            {
                return Err(taken(&path, "is the program itself, which is not replaced"));
            }
            plain(&path)?;
        }
        let unfinished = folder.join(UNFINISHED);
        carry::check(folder).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                occupied(&unfinished, "is not a folder that headstart has made")
            }
            _ => BundleError::io(&unfinished, error),
        })?;
        for (name, of) in OF_OTHERS {
            let path = folder.join(name);
            if path.symlink_metadata().is_ok() {
                return Err(taken(&path, &format!("is there: this is the folder of {of}")));
            }
        }
        let manifests = Manifests::read(folder).map_err(|error| match error {
            BundleError::NotABundle { found, .. } => {
                taken(folder, &format!("has a manifest that is not of a bundle ({found})"))
            }
            error => error,
        })?;
        let run = folder.join(RUN);
        let at_run = lstat(&run)?.as_ref().map(identity);
        let manifest = match at_run {
            None => manifests.all().next().cloned(),
            Some(_) => Some(manifests.of_run(&run)?.clone()),
        };
        manifests.may_replace_symbols(&folder.join(SYMBOLS))?;
        manifests.may_replace_spare(&folder.join(SPARE))?;
        Ok(Owned { folder: folder.to_owned(), manifest, run: at_run })
    }

    /// Refuses a folder of a toolchain's tools, where the bundle that is made is none.
    ///
    /// # Errors
    /// It is one.
    pub(crate) fn is_no_tool(&self) -> Result<(), BundleError> {
        let is_tool = self.manifest.as_ref().is_some_and(|manifest| manifest.tool.is_some());
        match is_tool || toolchain::is_for_tools(&self.folder) {
            true => Err(taken(&self.folder, "is the folder of a tool of a toolchain")),
            false => Ok(()),
        }
    }

    /// Whether there is a bundle.
    pub(crate) fn has_bundle(&self) -> bool {
        self.run.is_some()
    }

    /// Makes the manifest that is right the only one, where headstart was killed between its two
    /// last steps.
    pub(crate) fn settle(&self) -> io::Result<()> {
        let (pending, settled) = (self.folder.join(PENDING), self.folder.join(MANIFEST));
        if !pending.exists() {
            return Ok(());
        }
        let of_pending = manifest::read_at(&pending).ok();
        let is_pending = self.run.is_some() && of_pending.is_some() && of_pending == self.manifest;
        if !is_pending {
            return std::fs::remove_file(&pending);
        }
        // It may still be that of the bundle before, which the other manifest owns.
        let symbols = self.folder.join(SYMBOLS);
        let own = self.manifest.as_ref().and_then(|manifest| manifest.symbols_sha256.as_ref());
        if Content::read(&symbols).is_ok_and(|now| Some(&now.sha256) != own) {
            std::fs::remove_file(&symbols)?;
        }
        std::fs::rename(&pending, &settled)?;
        Ok(files::sync_folder_of(&settled)?)
    }

    /// Whether `run` is still what it was when the folder was looked at.
    ///
    /// # Errors
    /// Somebody has put another file there.
    pub(crate) fn still(&self) -> Result<bool, BundleError> {
        let run = self.folder.join(RUN);
        let now = lstat(&run)?.as_ref().map(identity);
        if now != self.run {
            return Err(occupied(&run, "was put there or changed meanwhile"));
        }
        Ok(now.is_some())
    }
}

/// The manifest, and the next one.
pub(crate) struct Manifests {
    folder: PathBuf,
    settled: Option<BundleManifest>,
    pending: Option<BundleManifest>,
}

impl Manifests {
    /// Both of them, as far as they are there.
    ///
    /// # Errors
    /// One is not that of a bundle.
    pub(crate) fn read(folder: &Path) -> Result<Manifests, BundleError> {
        let read = |name: &str| match lstat(&folder.join(name))? {
            Some(_) => manifest::read_at(&folder.join(name)).map(Some),
            None => Ok(None),
        };
        let (settled, pending) = (read(MANIFEST)?, read(PENDING)?);
        Ok(Manifests { folder: folder.to_owned(), settled, pending })
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &BundleManifest> {
        self.settled.iter().chain(&self.pending)
    }

    /// That of a `run` with this content.
    pub(crate) fn of(&self, run: &BundleProduct) -> Option<&BundleManifest> {
        let is = |manifest: &&BundleManifest| {
            manifest.product.as_ref().is_some_and(|product| product::same(run, product))
        };
        self.all().find(is)
    }

    /// That of the `run` that is there.
    fn of_run(&self, run: &Path) -> Result<&BundleManifest, BundleError> {
        let is = |manifest: &&BundleManifest| {
            manifest.product.as_ref().is_some_and(|product| product::is(run, product))
        };
        if let Some(found) = self.all().find(is) {
            return Ok(found);
        }
        Err(occupied(
            run,
            match self.all().next() {
                None => "is not a file that headstart has made",
                Some(manifest) if manifest.product.is_none() => {
                    "was made by a headstart that did not record its content, so it cannot be told \
                 from another file"
                }
                Some(_) => "is not as headstart made it: it was changed or replaced",
            },
        ))
    }

    /// Where headstart was killed, it may be what `run` was before.
    fn may_replace_spare(&self, path: &Path) -> Result<(), BundleError> {
        let ours = |manifest: &BundleManifest| {
            let mut made = manifest.spare.iter().chain(&manifest.product);
            made.any(|made| product::is(path, made))
        };
        if lstat(path)?.is_none() || self.all().any(ours) {
            return Ok(());
        }
        Err(occupied(path, "is not the file that headstart left there"))
    }

    fn may_replace_symbols(&self, path: &Path) -> Result<(), BundleError> {
        let now = match Content::read(path) {
            Ok(now) => now,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(BundleError::io(path, error)),
        };
        let ours =
            |manifest: &BundleManifest| manifest.symbols_sha256.as_ref() == Some(&now.sha256);
        if self.all().any(ours) {
            return Ok(());
        }
        Err(occupied(
            path,
            match self.all().next() {
                None => "is not a file that headstart has made",
                Some(_) => "is not as headstart made it: it was changed or replaced",
            },
        ))
    }

    /// Whether `symbols.gdb` is that of one of them, or not there.
    pub(crate) fn symbols_are_right(&self) -> bool {
        self.may_replace_symbols(&self.folder.join(SYMBOLS)).is_ok()
    }
}

/// A regular file, or nothing.
fn plain(path: &Path) -> Result<(), BundleError> {
    match lstat(path)? {
        None => Ok(()),
        Some(data) if data.is_file() => Ok(()),
        Some(data) if data.is_symlink() => {
            Err(occupied(path, "is a link, which headstart does not make"))
        }
        Some(data) if data.is_dir() => Err(occupied(path, "is a folder")),
        Some(_) => Err(occupied(path, "is not a regular file")),
    }
}

pub(crate) fn lstat(path: &Path) -> Result<Option<Metadata>, BundleError> {
    match path.symlink_metadata() {
        Ok(data) => Ok(Some(data)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound) => Ok(None),
        Err(error) => Err(BundleError::io(path, error)),
    }
}

fn identity(data: &Metadata) -> (u64, u64, u64, i64, i64) {
    (data.dev(), data.ino(), data.len(), data.mtime(), data.mtime_nsec())
}

pub(crate) fn occupied(path: &Path, found: &str) -> BundleError {
    BundleError::Occupied {
        path: path.to_owned(),
        found: found.to_owned(),
        advice: BundleAdvice::MoveAway,
    }
}

/// As `occupied`, where what is there has to stay.
pub(crate) fn taken(path: &Path, found: &str) -> BundleError {
    BundleError::Occupied {
        path: path.to_owned(),
        found: found.to_owned(),
        advice: BundleAdvice::AnotherFolder,
    }
}
