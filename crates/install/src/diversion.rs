//! A bundle at the original's path, and the original beside it under a name that dpkg knows of.
//!
//! ```text
//! 1 the original's second name   2 dpkg puts its file there   3 a copy at its first name
//! 4 the bundle, made of the file at the second name           5 the bundle at the first name
//! ```
//!
//! The first name always leads to a program that works. The copy is there because the bundle looks at
//! the inode of what it was made of, which changes when the original loses a name.
//!
//! What is undone goes by what is found, not by the step that was noted: it is right wherever headstart
//! was killed, and once more if it is killed meanwhile.

use crate::journal::Journal;
use crate::stop::Stop;
use crate::swap::{copy_over, dress, is_there, link_over, remove, remove_left, same};
use crate::{Dpkg, ProgramError, hash};
use model::{FileRights, InstallStep, ProgramPlace, text};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What the original's second name ends with.
pub(crate) const ENDING: &str = ".headstart-original";

/// The second name of a program.
pub(crate) fn original_of(program: &Path) -> PathBuf {
    let mut path = OsString::from(program);
    path.push(ENDING);
    path.into()
}

/// The program of which this is the second name, if it is one.
pub(crate) fn program_of(original: &Path) -> Option<PathBuf> {
    let bytes = original.as_os_str().as_bytes().strip_suffix(ENDING.as_bytes())?;
    Some(OsStr::from_bytes(bytes).into())
}

/// A program whose original is diverted.
pub(crate) struct Diversion<'a> {
    pub(crate) dpkg: &'a Dpkg,
    pub(crate) stop: &'a Stop,
    /// The program's path.
    pub(crate) program: PathBuf,
    /// The other one of the original.
    pub(crate) original: PathBuf,
    /// The program's, as its package has it.
    known_as: PathBuf,
}

impl<'a> Diversion<'a> {
    /// That of a program which has one.
    pub(crate) fn of(journal: &Journal, dpkg: &'a Dpkg, stop: &'a Stop) -> Option<Diversion<'a>> {
        let ProgramPlace::Diversion { original, known_as, .. } = &journal.state.place else {
            return None;
        };
        let (original, known_as) = (text::name(original).into(), text::name(known_as).into());
        Some(Diversion { dpkg, stop, program: journal.program(), original, known_as })
    }

    /// Steps 1 to 3.
    pub(crate) fn divert(&self, journal: &mut Journal) -> Result<(), ProgramError> {
        journal.state.ours = vec![hash::of(&self.program)?];
        journal.write()?;
        self.stop.here()?;
        let linked = std::fs::hard_link(&self.program, &self.original);
        linked.map_err(ProgramError::io(&self.original))?;
        files::sync_folder_of(&self.original)?;
        self.stop.here()?;
        self.dpkg.add(&self.known_as, &self.original_as_known())?;
        self.stop.here()?;
        journal.reach(InstallStep::Diverted)?;
        self.stop.here()?;
        copy_over(&self.original, &self.program)?;
        self.stop.here()
    }

    /// The second name in the folder by which the package knows the first.
    fn original_as_known(&self) -> PathBuf {
        self.known_as.with_file_name(self.original.file_name().unwrap_or_default())
    }

    /// Step 5, and the same for a newer bundle.
    pub(crate) fn put_in_place(&self, journal: &mut Journal) -> Result<(), ProgramError> {
        let run = journal.run();
        self.hand_on_rights(journal)?;
        dress(&run, &self.original)?;
        journal.state.rights = rights(&run);
        let new = hash::of(&run)?;
        if !journal.state.ours.contains(&new) {
            journal.state.ours.push(new.clone());
            journal.write()?;
        }
        self.stop.here()?;
        link_over(&run, &self.program)?;
        self.stop.here()?;
        journal.state.ours = vec![new];
        journal.reach(InstallStep::InPlace)
    }

    /// What an administrator has changed of the program's rights since it was put there is meant for the
    /// program, so the original gets it.
    pub(crate) fn hand_on_rights(&self, journal: &mut Journal) -> Result<(), ProgramError> {
        let (then, now) = (journal.state.rights, rights(&self.program));
        let (Some(then), Some(now)) = (then, now) else { return Ok(()) };
        if journal.state.step < InstallStep::InPlace || !is_there(&self.original)? {
            return Ok(());
        }
        if files::privilege(&self.program).is_some() {
            return Err(ProgramError::in_the_way(&self.program, PRIVILEGED));
        }
        if then == now {
            return Ok(());
        }
        give(&self.original, now).map_err(ProgramError::io(&self.original))?;
        // Once: whatever changes the original makes its bundle stale.
        journal.state.rights = Some(now);
        journal.write()
    }

    /// Whether the original is where its package puts it; not so where the package was removed.
    pub(crate) fn has_original(&self) -> Result<bool, ProgramError> {
        is_there(&self.original)
    }

    /// Everything is as it was.
    pub(crate) fn undo(&self, mut journal: Journal) -> Result<(), ProgramError> {
        let found = self.found(&journal)?;
        let is_left = found.has_original && journal.is_ours(&self.original)?;
        remove_left(&self.program)?;
        if found.is_replaced() {
            let what = if found.registered { REPLACED } else { UNKNOWN };
            return Err(ProgramError::in_the_way(&self.program, what));
        }
        if found.lost_its_package()
            && let Some(owner) = self.dpkg.owner(&self.known_as)?
        {
            return Err(ProgramError::in_the_way(&self.original, missing(&owner.package)));
        }
        if found.ours {
            self.hand_on_rights(&mut journal)?;
        }
        if found.step > InstallStep::Begun || found.registered || found.same {
            if found.has_original {
                // It is what is at the first name in a moment.
                journal.state.ours.push(hash::of(&self.original)?);
            }
            // Where the disk is full this cannot be noted, and what follows frees room.
            let _ = journal.reach(InstallStep::Removing);
        }
        self.stop.here()?;
        if found.is_to_be_restored() {
            link_over(&self.original, &self.program)?;
        } else if found.lost_its_package() {
            remove(&self.program)?;
            files::sync_folder_of(&self.program)?;
        }
        self.stop.here()?;
        if found.registered {
            self.dpkg.remove(&self.known_as)?;
        }
        self.stop.here()?;
        if found.has_original
            && (same(&self.program, &self.original)
                || found.step == InstallStep::Removing
                || is_left)
        {
            remove(&self.original)?;
        }
        if files::folder_of(&self.original).is_dir() {
            remove_left(&self.original)?;
            files::sync_folder_of(&self.original)?;
        }
        self.stop.here()?;
        journal.forget()
    }

    fn found(&self, journal: &Journal) -> Result<Found, ProgramError> {
        let to = self.dpkg.diverted_to(&self.known_as)?;
        let (has_program, has_original) = (is_there(&self.program)?, self.has_original()?);
        let same = same(&self.program, &self.original);
        Ok(Found {
            step: journal.state.step,
            registered: to.as_deref() == Some(&*self.original_as_known()),
            has_program,
            has_original,
            same,
            ours: has_program && !same && journal.is_ours(&self.program)?,
        })
    }
}

/// What is found of a program that is to be as it was before it was installed.
struct Found {
    /// How far the work had come.
    step: InstallStep,
    /// dpkg knows of the diversion.
    registered: bool,
    has_program: bool,
    has_original: bool,
    /// Both names are of one file.
    same: bool,
    /// The first name is of one that was put there.
    ours: bool,
}

impl Found {
    /// Somebody has put another file there, and the second name is the original's only one.
    fn is_replaced(&self) -> bool {
        let begun = self.step == InstallStep::Begun || self.step == InstallStep::Removing;
        let theirs = self.has_program && !self.same && !self.ours;
        self.has_original && theirs && (self.registered || !begun)
    }

    fn is_to_be_restored(&self) -> bool {
        let diverted = self.registered || self.step > InstallStep::Begun;
        let is_free = self.ours || !self.has_program;
        self.has_original && diverted && is_free
    }

    /// dpkg has removed the original, as its package was removed. What headstart removes itself is no
    /// longer registered then.
    fn lost_its_package(&self) -> bool {
        !self.has_original && self.registered && self.ours
    }
}

const PRIVILEGED: &str = "it has become set-user-ID or set-group-ID or got capabilities since it was put \
                          there; take them from it and give them to the original beside it \
                          (.headstart-original), then remove it from the installed programs";

fn rights(path: &Path) -> Option<FileRights> {
    let data = path.symlink_metadata().ok().filter(|data| data.is_file())?;
    Some(FileRights { mode: data.mode() & 0o7777, user: data.uid(), group: data.gid() })
}

fn give(path: &Path, rights: FileRights) -> std::io::Result<()> {
    std::os::unix::fs::chown(path, Some(rights.user), Some(rights.group))?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(rights.mode))
}

/// What is wrong where dpkg knows of an original that is not there.
pub(crate) fn missing(package: &str) -> String {
    format!(
        "the original is missing, though {package} is installed: install that package again (apt-get install \
         --reinstall {package}), then do this again"
    )
}

const UNKNOWN: &str = "it is not the file that was put there, and dpkg's diversion of it is gone; if it is \
                       the program itself, because its package was installed again, delete the old \
                       original beside it (.headstart-original) and try again; until then nothing \
                       is changed";

const REPLACED: &str = "it is not the file that was put there: somebody has replaced it; move that file \
                        away and try again; until then nothing is changed";
