//! The state of a program, which is on the disk before anything is changed for it.

use crate::{ProgramError, hash, swap};
use files::Permit;
use model::{InstallStep, InstalledProgram, PROGRAMS_SCHEMA, quoted_path, text};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const STATE: &str = "state.json";
const BUNDLE: &str = "bundle";
const NEXT: &str = "next";
const WRITTEN_TO: &str = "somebody has written another program to this file, perhaps by the name of the installed \
                          one or through its link; copy it elsewhere if it is needed, and delete it to go on; \
                          nothing was changed";
/// The largest state file that is read; real ones have a few hundred bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The state of a program and the folder that it is in.
#[derive(Clone, Debug)]
pub(crate) struct Journal {
    pub(crate) folder: PathBuf,
    pub(crate) state: InstalledProgram,
}

impl Journal {
    /// Begins one, of a program that is not in place.
    pub(crate) fn begin(all: &Path, state: InstalledProgram) -> Result<Journal, ProgramError> {
        let folder = all.join(text::name(&state.name));
        swap::make_folder(&folder)?;
        let journal = Journal { folder, state };
        match journal.write() {
            Ok(()) => Ok(journal),
            Err(error) => {
                sweep(&journal.folder);
                Err(error)
            }
        }
    }

    /// Puts the state on the disk.
    pub(crate) fn write(&self) -> Result<(), ProgramError> {
        let path = self.folder.join(STATE);
        let bytes = serde_json::to_vec_pretty(&self.state);
        let mut bytes = bytes.map_err(|error| ProgramError::io(&path)(error.into()))?;
        bytes.push(b'\n');
        Ok(files::write_over(&path, &bytes, Permit::Exactly(0o644))?)
    }

    /// A step is done.
    pub(crate) fn reach(&mut self, step: InstallStep) -> Result<(), ProgramError> {
        self.state.step = step;
        self.write()
    }

    /// Where the bundle is.
    pub(crate) fn bundle(&self) -> PathBuf {
        self.folder.join(BUNDLE)
    }

    /// Where the next one is made, and verified before it is started by anybody.
    pub(crate) fn next(&self) -> PathBuf {
        self.folder.join(NEXT)
    }

    /// What is started.
    pub(crate) fn run(&self) -> PathBuf {
        self.bundle().join(bundle::RUN)
    }

    /// LD_LIBRARY_PATH of its launches, where it is set.
    pub(crate) fn library_path(&self) -> Option<OsString> {
        self.state.library_path.as_ref().map(|path| text::name(path))
    }

    /// The program's path.
    pub(crate) fn program(&self) -> PathBuf {
        text::name(&self.state.program).into()
    }

    /// Whether the bundle is one that was verified: what is there where headstart was killed may not be.
    ///
    /// # Errors
    /// Somebody has written to it, as by its other name. That is not to be lost.
    pub(crate) fn is_verified(&self) -> Result<bool, ProgramError> {
        let run = self.run();
        if !swap::is_there(&run)? {
            return Ok(false);
        }
        match self.is_ours(&run)? {
            true => Ok(true),
            false if bundle::is_as_made(&self.bundle()) => Ok(false),
            false => Err(ProgramError::in_the_way(&run, WRITTEN_TO)),
        }
    }

    /// Whether headstart has put the file there.
    pub(crate) fn is_ours(&self, path: &Path) -> Result<bool, ProgramError> {
        Ok(self.state.ours.contains(&hash::of(path)?))
    }

    /// Nothing of the program is in place any more: its folder goes, the state last.
    pub(crate) fn forget(self) -> Result<(), ProgramError> {
        for folder in [self.next(), self.bundle()] {
            remove_folder(&folder)?;
        }
        let state = self.folder.join(STATE);
        std::fs::remove_file(&state).map_err(ProgramError::io(&state))?;
        sweep(&self.folder);
        Ok(())
    }
}

/// Removes a folder with all that is in it, if it is there.
pub(crate) fn remove_folder(folder: &Path) -> Result<(), ProgramError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(ProgramError::io(folder)(error)),
        _ => Ok(()),
    }
}

/// Removes a folder without a state, as it is left where headstart is killed at its very beginning or
/// end. What others have put there stays.
fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(b".state.json.headstart-new") {
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir(folder);
}

/// The state in a folder; `None` where there is none.
fn read(folder: &Path) -> Result<Option<Journal>, ProgramError> {
    let path = folder.join(STATE);
    let wrong = |found: String| ProgramError::State { path: path.clone(), found };
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ProgramError::io(&path)(error)),
        Ok(data) if !data.is_file() || data.len() > MOST_BYTES => {
            return Err(wrong(
                "it is not a state file that headstart wrote; inspect it".to_owned(),
            ));
        }
        Ok(_) => {}
    }
    let bytes = std::fs::read(&path).map_err(ProgramError::io(&path))?;
    let state: Result<InstalledProgram, _> = serde_json::from_slice(&bytes);
    let state = state.map_err(|error| {
        wrong(format!("it is no state of an installed program ({error}); nothing was changed"))
    })?;
    if state.schema > PROGRAMS_SCHEMA {
        let newer = format!(
            "a newer headstart ({}) has written it; use that one, nothing was changed",
            state.headstart
        );
        return Err(wrong(newer));
    }
    if Some(text::name(&state.name).as_os_str()) != folder.file_name() {
        let folder = quoted_path(folder);
        return Err(wrong(format!("it is that of another folder than {folder}; move it back")));
    }
    Ok(Some(Journal { folder: folder.to_owned(), state }))
}

/// The states of all programs in the order of their names, and why others cannot be read.
pub(crate) fn all(all: &Path) -> Result<(Vec<Journal>, Vec<ProgramError>), ProgramError> {
    let entries = match std::fs::read_dir(all) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((Vec::new(), Vec::new())),
        entries => entries.map_err(ProgramError::io(all))?,
    };
    let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    folders.sort();
    let (mut journals, mut unreadable) = (Vec::new(), Vec::new());
    for folder in folders.into_iter().filter(|folder| folder.is_dir()) {
        match read(&folder) {
            Ok(journal) => journals.extend(journal),
            Err(error) => unreadable.push(error),
        }
    }
    Ok((journals, unreadable))
}

/// Removes the folders that have no state.
pub(crate) fn sweep_all(all: &Path) {
    for entry in std::fs::read_dir(all).into_iter().flatten().flatten() {
        if matches!(read(&entry.path()), Ok(None)) {
            sweep(&entry.path());
        }
    }
}

/// A name for the folder of a program that no other has.
pub(crate) fn free_name(all: &Path, program: &Path) -> String {
    let name = text::text(program.file_name().unwrap_or_default());
    let mut names = (1..).map(|number| match number {
        1 => name.clone(),
        number => format!("{name}.{number}"),
    });
    let is_free = |name: &String| all.join(text::name(name)).symlink_metadata().is_err();
    names.find(is_free).unwrap_or(name)
}
