//! The program before it is linked again.

use super::{AttemptError, AttemptRequest};
use files::Stamp;
use os::kept_copy::KeptCopy;
use os::launcher::Launcher;
use std::path::{Path, PathBuf};

/// The program before it is linked again.
pub enum Old {
    /// The new one goes elsewhere.
    Stays { program: PathBuf, stamp: Option<Stamp> },
    /// A copy in the same folder, so that it finds what it looks for beside itself.
    Copy(KeptCopy),
}

impl Old {
    /// Keeps it while the programs of `launcher` link.
    pub fn keep(request: &AttemptRequest, launcher: &Launcher) -> Result<Old, AttemptError> {
        let program = &request.launch.program;
        let file = |path: &Path| path.canonicalize().ok();
        let goes_elsewhere = request.out.as_deref().is_some_and(|out| file(out) != file(program));
        if goes_elsewhere {
            return Ok(Old::Stays { program: program.clone(), stamp: Stamp::now(program) });
        }
        let mut copy = KeptCopy::of(program)?;
        copy.begin(launcher).map_err(AttemptError::Keep)?;
        Ok(Old::Copy(copy))
    }

    pub fn path(&self) -> PathBuf {
        match self {
            Old::Stays { program, .. } => program.clone(),
            Old::Copy(copy) => copy.path().to_owned(),
        }
    }

    /// Whether it is still what it was. A copy is nobody else's.
    pub fn check(&self) -> Result<(), AttemptError> {
        match self {
            Old::Stays { program, stamp } if !is_as_before(program, stamp.as_ref()) => {
                Err(AttemptError::OldChanged { path: program.clone() })
            }
            _ => Ok(()),
        }
    }

    /// The new program is there.
    pub fn replaced(mut self) -> Old {
        if let Old::Copy(copy) = &mut self {
            copy.finish();
        }
        self
    }

    /// Puts the program back after `error`, which it gives with what became of the program.
    pub fn put_back(self, error: AttemptError) -> AttemptError {
        let Old::Copy(kept) = self else { return error };
        let (path, copy) = (kept.original().to_owned(), kept.path().to_owned());
        match kept.put_back() {
            Ok(false) => error,
            Ok(true) => AttemptError::PutBack { error: Box::new(error), path },
            Err(source) => AttemptError::Lost { error: Box::new(error), path, copy, source },
        }
    }
}

fn is_as_before(program: &Path, before: Option<&Stamp>) -> bool {
    Stamp::now(program).zip(before).is_some_and(|(now, before)| now.has_data_of(before))
}
