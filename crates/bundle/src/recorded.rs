//! A bundle that reads ahead what a launch of the bundle itself touches.
//!
//! It is made once to be launched, and again with what was learned. A bundle that is there already stays
//! until the second is whole: the first is made beside it.

use crate::error::BundleError;
use crate::make::{self, BundleOptions, Made, RUN};
use crate::read_ahead::PagesAhead;
use crate::write::debugger::SYMBOLS;
use crate::write::manifest::{MANIFEST, PENDING};
use crate::write::ownership::Owned;
use crate::write::spare::SPARE;
use crate::write::workplace::Workplace;
use model::text::name;
use model::{Command, Ending};
use os::attend::AttendOptions;
use os::file_pages::{HeldFiles, PagesRequest};
use std::path::{Path, PathBuf};

/// Name of the folder in that of a bundle where the next one is made to be launched.
const BESIDE: &str = ".headstart.next";

/// Makes a bundle as [`make::make`] does, records what a cold launch of it, as `command` is one of the
/// program, touches, and makes it again so that it reads that ahead. Nothing of the launch is shown.
///
/// # Errors
/// As for [`make::make`]; or the pages of a launch cannot be recorded: for everybody but root, and then
/// nothing was made; or because the launch failed. Then a bundle that was there is kept, and where there
/// was none the new one reads nothing ahead.
pub fn make_recorded(
    program: &Path,
    command: &Command,
    folder: &Path,
    options: &BundleOptions,
) -> Result<Made, BundleError> {
    os::file_pages::permitted().map_err(BundleError::NotRecorded)?;
    let workplace = Workplace::enter(folder);
    let owned = Owned::of(folder, Some(program))?;
    let beside = owned.has_bundle().then(|| Beside::make(folder, program)).transpose()?;
    let command = |program: &Path| {
        let named = std::iter::once(program.as_os_str().to_owned());
        let argv = named.chain(command.argv.iter().skip(1).cloned()).collect();
        Command { argv, program: program.to_owned(), ..command.clone() }
    };
    let line = command(program).line();
    let nothing = Some(PagesAhead::nothing(&line));
    let first = BundleOptions { read_ahead: nothing, ..options.clone() };
    let (place, owned_there) = match &beside {
        Some(beside) => (&*beside.folder, &beside.owned),
        None => (folder, &owned),
    };
    let made = make::make_at((&workplace, owned_there), program, place, &first)?;
    let run = made.run.canonicalize().map_err(|error| BundleError::io(&made.run, error))?;
    let recorded = recorded(&command(&run), &line, &run);
    let kept = beside.is_some();
    drop(beside);
    let last = |read_ahead| {
        let owned = Owned::of(folder, Some(program))?;
        let last = BundleOptions { read_ahead, ..options.clone() };
        make::make_at((&workplace, &owned), program, folder, &last)
    };
    let error = match recorded {
        Ok(read_ahead) => return last(Some(read_ahead)),
        Err(error) => error,
    };
    if !kept {
        // Nothing that was not recorded may look as if it were.
        last(None)?;
    }
    Err(match error {
        NoRecord::Refused(error) => BundleError::NotRecorded(error),
        NoRecord::Launch(what) => {
            BundleError::LaunchNotRecorded { what, folder: folder.to_owned(), kept }
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

/// Why there is no record of a launch.
enum NoRecord {
    Refused(os::LaunchError),
    /// What became of the launch, in words.
    Launch(String),
}

/// Records a cold launch of the bundle `run`.
fn recorded(command: &Command, line: &str, run: &Path) -> Result<PagesAhead, NoRecord> {
    let attend = AttendOptions { cpu: Some(os::host::quiet_cpu()), ..AttendOptions::default() };
    let files = os::cache::mapped_files(command, &attend).map_err(NoRecord::Refused)?;
    let request = PagesRequest {
        until: model::Until::Exit,
        first: None,
        with_read_ahead: false,
        held: HeldFiles::Used,
        options: attend,
    };
    let pages = os::file_pages::record(command, &files.files, &request);
    let pages = pages.map_err(NoRecord::Refused)?;
    let ending = match pages.ending {
        // What a program means by its exit code is its own affair.
        Ending::Code(_) => None,
        Ending::TimedOut => Some("did not end within a minute".to_owned()),
        other => Some(other.words()),
    };
    if os::interrupt::requested() {
        return Err(NoRecord::Launch("was interrupted".to_owned()));
    }
    if let Some(what) = ending {
        return Err(NoRecord::Launch(what));
    }
    let own = pages.files.iter().find(|file| Path::new(&name(&file.path)) == run);
    if let Some(model::Reading::Unavailable { reason, .. }) = own.map(|file| &file.touched) {
        let what = format!("could not be recorded, as its pages are not known: {reason}");
        return Err(NoRecord::Launch(what));
    }
    let ended = (pages.ending != Ending::Code(0)).then(|| pages.ending.words());
    Ok(PagesAhead { ended, ..PagesAhead::of_pages(&pages, line, run) })
}
