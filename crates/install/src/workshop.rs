//! One headstart at a time changes which programs are installed.

use crate::placed::{Placed, missing_folders};
use crate::{InstallPlaces, ProgramError, swap};
use files::Lock;
use model::text;
use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(50);

/// Keeps others out until it is dropped.
#[derive(Debug)]
pub(crate) struct Workshop {
    _lock: Option<Lock>,
}

impl Workshop {
    /// Makes the folder of all programs, and waits a while for others who are at work there.
    pub(crate) fn enter(places: &InstallPlaces) -> Result<Workshop, ProgramError> {
        let state = &places.state;
        let deadline = Instant::now() + places.patience;
        loop {
            make(state)?;
            let opened = File::open(state).map_err(ProgramError::io(state))?;
            let identity = opened.metadata().map(|data| (data.dev(), data.ino())).ok();
            let _lock = match Lock::now(opened) {
                Ok(lock) => Some(lock),
                // Some file systems have no locks.
                Err(TryLockError::Error(_)) => None,
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
                Err(TryLockError::WouldBlock) => {
                    let (what, holder) = ("another headstart", os::locks::holder(state));
                    return Err(ProgramError::Busy { what, holder: process(holder) });
                }
            };
            // Whoever was at work may have removed the folder with the last program.
            let now = state.metadata().map(|data| (data.dev(), data.ino())).ok();
            if now == identity {
                return Ok(Workshop { _lock });
            }
        }
    }

    /// The last program has gone: so does the folder of all.
    pub(crate) fn close(self, state: &Path) {
        Placed::forget(state);
    }
}

/// Makes the folder of all programs, and notes which others had to be made for that.
fn make(state: &Path) -> Result<(), ProgramError> {
    let missing = missing_folders(state);
    swap::make_folder(state)?;
    // The folder itself goes anyway.
    let Some(others @ [_, ..]) = missing.get(1..) else { return Ok(()) };
    let placed = Placed { made_folders: others.to_vec(), ..Placed::default() };
    placed.write(state).inspect_err(|_| {
        for folder in &missing {
            let _ = std::fs::remove_dir(text::name(folder));
        }
    })
}

/// A process in words.
pub(crate) fn process(pid: Option<i32>) -> String {
    let Some(pid) = pid else { return "a process that is not visible here".to_owned() };
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    format!("process {pid}: {}", words.join(" ").trim_end())
}
