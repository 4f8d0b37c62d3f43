//! The folder that the best variant is kept in.
//!
//! ```text
//! DIR/files/          what the optimization builds, in its final place: it may hold absolute paths
//! DIR/headstart.json  what was done
//! DIR/run             a link to the program in files; made last, so that what it starts is whole
//! ```
//!
//! Where the original is the best, `run` is a script that starts it by its path: through a link it
//! would be called by another name, and programs go by that.

use super::current;
use crate::trials::attempt;
use crate::verify::Verifier;
use crate::{
    Baseline, BuildRemedy, Built, NotBuilt, Optimization, OptimizeError, Program, TrialOutcome,
};
use bundle::kept_files;
use files::Permit;
use model::bundle::Inventory;
use model::optimization::{Manifest, OriginalFile};
use model::text::text;
use std::fs::{self, File};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

pub(crate) const FILES: &str = "files";
pub(crate) const MANIFEST: &str = "headstart.json";
/// Variants of other programs of the launch.
const PARTS: &str = "parts";
/// Links to these by the programs' names, in a folder for each variable.
const BY_NAME: &str = "by-name";
const RUN: &str = "run";
/// Has a link of that very name while it is tried: programs may go by it.
const TRIED: &str = ".tried";

/// A folder of the user's for one result. What is not [kept](ResultFolder::keep) is removed with this
/// value, the folder itself too where it was made for this.
pub struct ResultFolder {
    folder: PathBuf,
    /// The first folder that did not exist before.
    made: Option<PathBuf>,
    /// Folders in it that were made for this, and are not to be kept. Others of headstart may be at
    /// work in it, too.
    ours: Vec<PathBuf>,
    starts: Option<Starts>,
    /// What it was made of.
    kept: Inventory,
    /// Links by which a launch finds variants of other programs, from the folder.
    links: Vec<(PathBuf, PathBuf)>,
}

/// How `run` starts the program.
enum Starts {
    /// As a link to this.
    Linked(PathBuf),
    /// As a script.
    Scripted(PathBuf),
    /// As a script that lists folders first in these variables.
    Listed(PathBuf, Vec<(String, PathBuf)>),
}

impl ResultFolder {
    /// Claims a folder that does not exist or is empty.
    ///
    /// # Errors
    /// It is not empty, cannot be written, or programs cannot be executed from there.
    pub fn claim(folder: &Path) -> Result<ResultFolder, OptimizeError> {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let failed = |error: io::Error| unwritten(&folder, error);
        let made = folder.ancestors().take_while(|path| !path.exists()).last().map(Path::to_owned);
        fs::create_dir_all(&folder).map_err(failed)?;
        let mut entries = fs::read_dir(&folder).map_err(failed)?;
        if entries.next().is_some() {
            return Err(wrong(&folder, "it is not empty", BuildRemedy::AnotherResult));
        }
        let kept = Inventory::default();
        let mut place =
            ResultFolder { folder, made, ours: Vec::new(), starts: None, kept, links: Vec::new() };
        // Better now than after minutes of measuring.
        let probe = tempfile::tempfile_in(&place.folder);
        probe.map_err(|error| unwritten(&place.folder, error))?;
        if os::program::is_on_noexec(&place.folder) {
            let problem = "its file system is mounted with noexec, so nothing in it can be started";
            return Err(wrong(&place.folder, problem, BuildRemedy::AnotherResult));
        }
        place.folder = place.folder.canonicalize().unwrap_or(place.folder.clone());
        Ok(place)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Builds the variant here and verifies it again, as it is to be started.
    ///
    /// # Errors
    /// It cannot be built here, or does something else than the original.
    pub fn build(
        &mut self,
        baseline: &Baseline,
        verifier: &mut Verifier<'_>,
        optimization: Optimization,
        step: &mut dyn FnMut(&'static str),
    ) -> Result<Built, OptimizeError> {
        let files = self.folder.join(FILES);
        fs::create_dir(&files).map_err(|error| unwritten(&files, error))?;
        self.ours.push(files.clone());
        let link = self.tried_link()?;
        // The program is started through a link beside its folder.
        let through_link = |program: &Program, folder: &Path| {
            let built = (optimization.build)(program, folder)?;
            symlink(&built.run, &link).map_err(NotBuilt::io(&link))?;
            Ok(Built { run: link.clone(), ..built })
        };
        let tried = attempt(baseline, verifier, optimization, &through_link, &files, step)?;
        let reason = match tried {
            TrialOutcome::Verified(built) => {
                let run = built.run.canonicalize().unwrap_or_else(|_| built.run.clone());
                // Relative, so that the folder can be looked at from elsewhere.
                let target = run.strip_prefix(&self.folder).unwrap_or(&run).to_owned();
                self.starts = Some(Starts::Linked(target));
                let kept = current::made_of(baseline, &built, &self.folder);
                self.kept = kept
                    .map_err(|error| wrong(&self.folder, &error.to_string(), BuildRemedy::Retry))?;
                return Ok(built);
            }
            TrialOutcome::Failed(reason)
            | TrialOutcome::Declined(reason)
            | TrialOutcome::NotTried(reason) => reason,
        };
        let (name, folder) = (optimization.name.to_owned(), self.folder.clone());
        Err(OptimizeError::NotAgain { name, folder, reason })
    }

    /// Makes the original what is to be started, where no variant is better.
    pub fn start_original(&mut self, baseline: &Baseline) {
        self.start_program(&baseline.program.path);
    }

    /// Makes this program what is to be started.
    pub fn start_program(&mut self, program: &Path) {
        self.starts = Some(Starts::Scripted(program.to_owned()));
    }

    /// A new and empty folder for a variant of another program of the launch.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn part(&mut self, name: &str) -> Result<PathBuf, OptimizeError> {
        let parts = self.folder.join(PARTS);
        if !self.ours.contains(&parts) {
            self.ours.push(parts.clone());
        }
        let place = (1..).map(|number| parts.join(format!("{number}-{name}")));
        let place = place.into_iter().find(|place| !place.exists()).unwrap_or(parts);
        fs::create_dir_all(&place).map_err(|error| unwritten(&place, error))?;
        Ok(place)
    }

    /// Links `run` of a variant in `place` by the program's name in a folder for this variable, which
    /// `run` of this folder will list first; that folder.
    ///
    /// # Errors
    /// The link cannot be made, or nothing was chosen that is to be started.
    pub(crate) fn link_part(
        &mut self,
        variable: &str,
        name: &str,
        place: &Path,
        run: &Path,
    ) -> Result<PathBuf, OptimizeError> {
        let listed = self.folder.join(BY_NAME).join(variable);
        let failed = |error| unwritten(&listed, error);
        let tried = place.join(BY_NAME);
        if tried.exists() {
            fs::remove_dir_all(&tried).map_err(failed)?;
        }
        fs::create_dir_all(&listed).map_err(failed)?;
        let by_name = self.folder.join(BY_NAME);
        if !self.ours.contains(&by_name) {
            self.ours.push(by_name);
        }
        let target = run.strip_prefix(&self.folder).unwrap_or(run);
        let target = Path::new("../..").join(target);
        symlink(&target, listed.join(name)).map_err(failed)?;
        self.links.push((Path::new(BY_NAME).join(variable).join(name), target));
        let folder = (variable.to_owned(), listed.clone());
        self.starts = match self.starts.take() {
            Some(Starts::Linked(target)) => {
                Some(Starts::Listed(self.folder.join(target), vec![folder]))
            }
            Some(Starts::Scripted(program)) => Some(Starts::Listed(program, vec![folder])),
            Some(Starts::Listed(program, mut listed)) => {
                if !listed.contains(&folder) {
                    listed.push(folder);
                }
                Some(Starts::Listed(program, listed))
            }
            None => None,
        };
        Ok(listed)
    }

    /// Where a link goes that is tried.
    fn tried_link(&mut self) -> Result<PathBuf, OptimizeError> {
        let tried = self.folder.join(TRIED);
        fs::create_dir(&tried).map_err(|error| unwritten(&tried, error))?;
        self.ours.push(tried.clone());
        Ok(tried.join(RUN))
    }

    /// Keeps what was made to be started, described by `manifest`, whose `kept` is filled in here.
    /// Whatever has come into the folder meanwhile is not replaced.
    ///
    /// # Errors
    /// The files cannot be written, something is in their place, or nothing was made.
    pub fn keep(mut self, manifest: &Manifest) -> Result<PathBuf, OptimizeError> {
        let run = self.folder.join(RUN);
        let folder = self.folder.clone();
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::AlreadyExists => wrong(&folder, COME, BuildRemedy::AnotherResult),
            _ => unwritten(&folder, error),
        };
        self.ours.retain(|folder| !folder.ends_with(TRIED) || fs::remove_dir_all(folder).is_err());
        let manifest = self.described(manifest).map_err(failed)?;
        let text = serde_json::to_string_pretty(&manifest).map_err(|error| failed(error.into()))?;
        let written = write(&self.folder.join(MANIFEST), format!("{text}\n").as_bytes(), 0o666);
        written.map_err(failed)?;
        let made = match &self.starts {
            Some(Starts::Linked(target)) => symlink(target, &run),
            Some(Starts::Scripted(program)) => write(&run, &script(program, &[]), 0o777),
            Some(Starts::Listed(program, listed)) => write(&run, &script(program, listed), 0o777),
            None => Err(io::Error::other("nothing was built in it")),
        };
        if let Err(error) = made {
            // It is this one, as it could be written.
            let _ = fs::remove_file(self.folder.join(MANIFEST));
            return Err(failed(error));
        }
        self.ours.clear();
        self.made = None;
        File::open(&self.folder).and_then(|folder| folder.sync_all()).map_err(failed)?;
        Ok(run)
    }

    /// The manifest with all that is left.
    fn described(&self, manifest: &Manifest) -> io::Result<Manifest> {
        let of_bundle = self.kept.checked_at_start == Some(true);
        let path = Path::new(RUN);
        let run = match &self.starts {
            Some(Starts::Linked(target)) => kept_files::link(path, target),
            Some(Starts::Scripted(program)) => kept_files::program(path, &script(program, &[])),
            Some(Starts::Listed(program, listed)) => {
                kept_files::program(path, &script(program, listed))
            }
            None => return Err(io::Error::other("nothing was built in it")),
        };
        let mut files = current::files(&self.folder, of_bundle, run)?;
        files.extend(self.links.iter().map(|(path, target)| kept_files::link(path, target)));
        // Its script names the folder.
        let is_listed = matches!(&self.starts, Some(Starts::Listed(..)));
        let stays_in = is_listed.then(|| text(&self.folder)).or_else(|| self.kept.stays_in.clone());
        Ok(Manifest {
            kept: Inventory { files, stays_in, ..self.kept.clone() },
            ..manifest.clone()
        })
    }
}

/// Starts `program` by its path, with the arguments that it is given. Variables list these folders
/// before what they list.
fn script(program: &Path, listed: &[(String, PathBuf)]) -> Vec<u8> {
    let quoted = |path: &Path| {
        let quoted = shlex::bytes::try_quote(path.as_os_str().as_bytes());
        quoted.expect("a path has no zero bytes").into_owned()
    };
    let mut script = b"#!/bin/sh\n".to_vec();
    for (variable, folder) in listed {
        let before = format!("${{{variable}:+\":${variable}\"}}\nexport {variable}\n");
        script.extend(
            [format!("{variable}=").as_bytes(), &quoted(folder), before.as_bytes()].concat(),
        );
    }
    script.extend([b"exec ", &*quoted(program), b" \"$@\"\n"].concat());
    script
}

impl Drop for ResultFolder {
    fn drop(&mut self) {
        for folder in &self.ours {
            // What cannot be removed is only untidy: nothing of it is called run.
            let _ = fs::remove_dir_all(folder);
        }
        let Some(made) = &self.made else { return };
        for folder in self.folder.ancestors().take_while(|folder| folder.starts_with(made)) {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The program's file as it is.
pub fn original(baseline: &Baseline) -> OriginalFile {
    let file = &baseline.program.file;
    OriginalFile {
        path: text(&baseline.program.path),
        file: text(file),
        bytes: fs::metadata(file).map_or(0, |data| data.len()),
        build_id: image::elf::facts(file).ok().and_then(|facts| facts.build_id),
    }
}

const COME: &str = "a file of another process exists in it now, and is not replaced";

fn unwritten(path: &Path, source: io::Error) -> OptimizeError {
    OptimizeError::unwritten(path, source, BuildRemedy::AnotherResult)
}

fn wrong(folder: &Path, problem: &str, remedy: BuildRemedy) -> OptimizeError {
    OptimizeError::Folder { folder: folder.to_owned(), problem: problem.to_owned(), remedy }
}

/// Writes a new file, with a mode that the umask is taken off.
fn write(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    files::write_new(path, content, Permit::Created(mode)).map_err(io::Error::from)
}
