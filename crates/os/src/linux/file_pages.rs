//! Which pages of which files a launch touches, of all sections, in order of first touch.
//!
//! The files leave memory, read-ahead is switched off ([`ReadAheadOff`]), and the launch is made once:
//! then a page enters memory if and only if the launch asks for it, and a tracepoint tells of each.
//! Nothing is stopped and nothing runs in the program.
//!
//! Whether that holds is tried with each file before the launch: one of its pages is touched, and
//! exactly that one has to enter memory. So file systems that keep no pages (tmpfs), that read more
//! than they are asked for (compressed ones), or whose read-ahead cannot be switched off are told from
//! others without a list of them, and the file that an overlay stands for is found.
//!
//! Pages that other programs hold mapped cannot leave memory, and pages that other programs read
//! during the launch are there for it already. Both are listed: for them it is not known. Copies that
//! only the launch uses can take the place of such files ([`HeldFiles::Copied`]).

mod copies;
mod family;
mod found;
mod recorder;
mod watched;

pub use copies::HeldFiles;

use super::attend::{AttendOptions, attend_until, on_own_thread};
use super::cache;
use super::error::LaunchError;
use super::read_ahead::ReadAheadOff;
use copies::Copies;
use found::Found;
use model::{Command, FilePages, Until};
use recorder::{Addition, Recorder};
use std::path::{Path, PathBuf};
use std::time::Duration;
use watched::WatchedPages;

/// What trying and evicting the files may take, besides the launch itself: longer than that
/// read-ahead does not stay switched off.
const AROUND_LAUNCH: Duration = Duration::from_secs(300);

/// When a recorded launch is complete.
#[derive(Clone, Debug)]
pub struct PagesRequest {
    /// As for a measured launch.
    pub until: Until,
    /// At the latest after this time; the launch is ended then.
    pub first: Option<Duration>,
    /// Leave read-ahead as it is: then pages that are read ahead count as touched.
    pub with_read_ahead: bool,
    /// What becomes of files that other programs keep in memory.
    pub held: HeldFiles,
    /// The rest; whether the launch is ended at its entry point says `until`.
    pub options: AttendOptions,
}

/// Evicts `files`, launches `command` until it is complete, and gives the pages of `files` that it
/// touched. stdin, stdout and stderr are `/dev/null`, as far as `until` does not need them.
///
/// # Errors
/// [`LaunchError::NotPermitted`] where the kernel's tracepoints are refused or read-ahead cannot be
/// switched off, as for everybody but root. Otherwise where the program cannot be started.
pub fn record(
    command: &Command,
    files: &[PathBuf],
    request: &PagesRequest,
) -> Result<FilePages, LaunchError> {
    let mut options = request.options.clone();
    options.timeout = request.first.map_or(options.timeout, |first| first.min(options.timeout));
    on_own_thread(&options, || {
        // Before anything is copied.
        permitted()?;
        let copies = copies(files, &request.held)?;
        let mut recorder = Recorder::open()?;
        let mut files: Vec<_> = files.iter().map(|path| WatchedPages::new(path)).collect();
        let devices = watched::devices(&mut files, &mut recorder);
        let off = match request.with_read_ahead {
            true => None,
            false => Some(ReadAheadOff::on(&devices, options.timeout + AROUND_LAUNCH)?),
        };
        watched::prove(&mut files, &mut recorder, request.with_read_ahead);
        let paths: Vec<_> = files.iter().map(WatchedPages::path).collect();
        cache::evict(&paths);
        watched::look(&mut files);
        recorder.take();
        let until = request.until.clone();
        let once = attend_until(until, command, &[], None, &options, &mut recorder);
        // First of all: where headstart was stopped, that is why the launch failed.
        off.map_or(Ok(()), ReadAheadOff::restore)?;
        let once = once?;
        let found = Found::of(recorder, &once, request.first);
        Ok(found.finish(&once, files, &copies))
    })
}

fn copies(files: &[PathBuf], held: &HeldFiles) -> Result<Copies, LaunchError> {
    let HeldFiles::Copied { unchanged_since } = held else { return Ok(Copies::default()) };
    let real: Vec<PathBuf> = files.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let paths: Vec<&Path> = real.iter().map(PathBuf::as_path).collect();
    Copies::mount(&paths, *unchanged_since)
}

/// Whether [`record`] is permitted, as far as that is known without changing anything.
///
/// # Errors
/// [`LaunchError::NotPermitted`] with the reason and what helps.
pub fn permitted() -> Result<(), LaunchError> {
    Recorder::permitted()
}

#[cfg(test)]
mod tests;
