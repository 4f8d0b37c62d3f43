//! The program before it is linked again.

use super::{AttemptError, AttemptRequest, BecameOfOld, NewBuild};
use files::{Draft, Stamp, WriteError};
use os::kept_copy::KeptCopy;
use os::launcher::Launcher;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// What the name of a new build ends with where the old one has its place again.
const NEW: &str = ".headstart-new";

/// The program before it is linked again.
pub struct Old {
    program: PathBuf,
    /// Where the new one goes.
    new: PathBuf,
    /// Where the new one goes elsewhere: what this one is.
    stays: Option<Option<Stamp>>,
    /// A copy in the same folder, so that it finds what it looks for beside itself. Where it stays,
    /// there is none if its folder cannot be written.
    copy: Option<KeptCopy>,
}

impl Old {
    /// Keeps it while the programs of `launcher` link, and until it is known what they made.
    pub fn keep(request: &AttemptRequest, launcher: &Launcher) -> Result<Old, AttemptError> {
        let (program, new) = (request.launch.program.clone(), request.new_program());
        let file = |path: &Path| path.canonicalize().ok();
        let goes_elsewhere = file(&new) != file(&program);
        let stays = goes_elsewhere.then(|| Stamp::now(&program));
        let copy = match goes_elsewhere {
            true => KeptCopy::of(&program).ok(),
            false => Some(KeptCopy::of(&new)?),
        };
        let mut old = Old { program, new, stays, copy };
        if let Some(copy) = &mut old.copy {
            copy.begin(launcher).map_err(AttemptError::Keep)?;
        }
        Ok(old)
    }

    /// Where it can be launched.
    pub fn path(&self) -> PathBuf {
        match (&self.stays, &self.copy) {
            (None, Some(copy)) => copy.path().to_owned(),
            _ => self.program.clone(),
        }
    }

    /// Whether it is still what it was. A copy is nobody else's.
    pub fn check(&self) -> Result<(), AttemptError> {
        match &self.stays {
            Some(stamp) if !is_as_before(&self.program, stamp.as_ref()) => {
                Err(AttemptError::OldChanged { path: self.program.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The new program is there and is accepted.
    pub fn replaced(mut self) -> BecameOfOld {
        if let Some(copy) = &mut self.copy {
            copy.finish();
        }
        match self.stays {
            Some(_) => BecameOfOld::Untouched,
            None => BecameOfOld::Replaced,
        }
    }

    /// Puts the program back, as there is no new one.
    pub fn put_back(self) -> BecameOfOld {
        self.end(NewBuild::None)
    }

    /// Puts the program back, and keeps the new one beside it.
    pub fn put_back_beside_new(self) -> BecameOfOld {
        let new = match (&self.stays, &self.copy) {
            (None, Some(copy)) => set_aside(&self.new, copy),
            _ => NewBuild::None,
        };
        self.end(new)
    }

    fn end(self, new: NewBuild) -> BecameOfOld {
        let path = if self.stays.is_some() { self.program } else { self.new };
        let Some(kept) = self.copy else { return BecameOfOld::Untouched };
        let copy = kept.path().to_owned();
        match kept.put_back() {
            Ok(false) => BecameOfOld::Untouched,
            Ok(true) => BecameOfOld::PutBack { path, new },
            Err(error) => BecameOfOld::Lost { path, copy, reason: error.to_string() },
        }
    }
}

/// Keeps the new build under another name. What a link leads to that the relink has made is not its own.
fn set_aside(new: &Path, old: &KeptCopy) -> NewBuild {
    let Ok(real) = new.canonicalize() else { return NewBuild::None };
    if new.is_symlink() && real != old.original() {
        return NewBuild::Kept(real);
    }
    let mut name = real.file_name().unwrap_or_default().to_owned();
    name.push(NEW);
    let aside = real.with_file_name(name);
    let set_aside = match old.is_of(&real) {
        // It was written into the old file, whose other names are to lead to the old program again.
        true => copied(&real, &aside).is_ok(),
        false => std::fs::rename(&real, &aside).is_ok(),
    };
    if set_aside { NewBuild::Kept(aside) } else { NewBuild::Discarded }
}

fn copied(from: &Path, to: &Path) -> Result<(), WriteError> {
    let failed = |source| WriteError::Io { path: to.to_owned(), doing: "writing it", source };
    let draft = Draft::create(to)?;
    let copy = || {
        let from = File::open(from)?;
        io::copy(&mut &from, &mut draft.file())?;
        draft.file().set_permissions(from.metadata()?.permissions())?;
        draft.file().sync_all()
    };
    copy().map_err(failed)?;
    draft.replace()
}

fn is_as_before(program: &Path, before: Option<&Stamp>) -> bool {
    Stamp::now(program).zip(before).is_some_and(|(now, before)| now.has_data_of(before))
}
