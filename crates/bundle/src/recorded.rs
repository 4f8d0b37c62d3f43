//! A bundle that was launched once while it was made: it reads ahead what that launch read, or maps at once what
//! that had in memory.
//!
//! It is made once to be launched, and again with what was learned. A bundle that is there already stays
//! until the second is whole: the first is made beside it.

mod launch;

use crate::error::BundleError;
use crate::make::{self, BundleOptions, Made, RUN};
use crate::read_ahead::PagesAhead;
use crate::started::is_safe_to_start;
use crate::write::debugger::SYMBOLS;
use crate::write::manifest::{MANIFEST, PENDING};
use crate::write::ownership::Owned;
use crate::write::spare::SPARE;
use crate::write::workplace::Workplace;
use launch::{Learned, NoRecord};
use model::Command;
use model::bundle::BundlePopulate;
use std::path::{Path, PathBuf};

/// Name of the folder in that of a bundle where the next one is made to be launched.
const BESIDE: &str = ".headstart.next";

/// What is recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BundleRecording {
    /// What a cold launch reads, to be read ahead; for root alone.
    pub read_ahead: bool,
    /// What a warm launch has in memory at its end, to be mapped at once.
    pub populate: bool,
}

/// Makes a bundle as [`make::make`] does, records a launch of it, as `command` is one of the program, and makes it
/// again with what was learned. Nothing of the launch is shown.
///
/// # Errors
/// As for [`make::make`]; or a launch cannot be recorded, and then nothing was made; or because the launch failed. Then
/// a bundle that was there is kept, and where there was none the new one has nothing of what was to be recorded.
pub fn make_recorded(
    program: &Path,
    command: &Command,
    folder: &Path,
    (options, what): (&BundleOptions, BundleRecording),
) -> Result<Made, BundleError> {
    launch::permitted(what)?;
    is_safe_to_start(folder)?;
    let workplace = Workplace::enter(folder);
    let owned = Owned::of(folder, Some(program))?;
    if options.tool.is_none() {
        owned.is_no_tool()?;
    }
    let beside = owned.has_bundle().then(|| Beside::make(folder, program)).transpose()?;
    let command = |program: &Path| {
        let named = std::iter::once(program.as_os_str().to_owned());
        let argv = named.chain(command.argv.iter().skip(1).cloned()).collect();
        Command { argv, program: program.to_owned(), ..command.clone() }
    };
    let line = command(program).line();
    let nothing = Learned {
        read_ahead: what.read_ahead.then(|| PagesAhead::nothing(&line)),
        populate: what
            .populate
            .then(|| BundlePopulate { command: line.clone(), ..BundlePopulate::default() }),
        notes: Vec::new(),
    };
    let (place, owned_there) = match &beside {
        Some(beside) => (&*beside.folder, &beside.owned),
        None => (folder, &owned),
    };
    let first = nothing.with(options);
    let made = make::make_at((&workplace, owned_there), program, place, &first)?;
    let run = made.run.canonicalize().map_err(|error| BundleError::io(&made.run, error))?;
    let recorded = launch::recorded(&command(&run), &line, &run, what);
    let kept = beside.is_some();
    drop(beside);
    let last = |learned: Learned| {
        let owned = Owned::of(folder, Some(program))?;
        make::make_at((&workplace, &owned), program, folder, &learned.with(options))
    };
    let error = match recorded {
        Ok(learned) => return last(learned),
        Err(error) => error,
    };
    if !kept {
        // Nothing that was not recorded may look as if it were.
        last(Learned::default())?;
    }
    Err(match error {
        NoRecord::Refused(error) => BundleError::NotRecorded(error),
        NoRecord::Launch(found) => {
            let BundleRecording { read_ahead, populate } = what;
            let (what, folder) = (found, folder.to_owned());
            BundleError::LaunchNotRecorded { what, folder, kept, read_ahead, populate }
        }
    })
}

/// Removes what a headstart that was killed has left beside the bundle in `folder`, which is locked.
pub(crate) fn remove_left(folder: &Path) {
    let folder = folder.join(BESIDE);
    if folder.symlink_metadata().is_ok_and(|data| data.is_dir())
        && let Ok(owned) = Owned::of(&folder, None)
    {
        drop(Beside { folder, owned });
    }
}

/// A bundle beside another one, which goes with this value.
struct Beside {
    folder: PathBuf,
    owned: Owned,
}

impl Beside {
    fn make(folder: &Path, program: &Path) -> Result<Beside, BundleError> {
        remove_left(folder);
        let folder = folder.join(BESIDE);
        std::fs::create_dir(&folder).map_err(|error| BundleError::write(&folder, error))?;
        let owned = Owned::of(&folder, Some(program))?;
        Ok(Beside { folder, owned })
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let manifest = crate::write::manifest::read(&self.folder).ok();
        crate::carry::remove_old(&self.folder, manifest.as_ref(), &[]);
        // Those that are not there need not go, and what others have put there stays with the folder.
        for name in [RUN, MANIFEST, PENDING, SYMBOLS, SPARE] {
            let path = self.folder.join(name);
            let _ = std::fs::remove_file(&path);
            let _ = files::Draft::remove_left(&path);
        }
        let _ = std::fs::remove_dir(&self.folder);
    }
}
