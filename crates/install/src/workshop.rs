//! One headstart at a time changes which programs are installed.

use crate::placed::{Placed, missing_folders};
use crate::{InstallPlaces, ProgramError, swap};
use files::Lock;
use std::fs::{File, TryLockError};
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
        let missing = missing_folders(state);
        swap::make_folder(state)?;
        // The folder itself goes anyway.
        if missing.len() > 1 {
            let made_folders = missing.get(1..).unwrap_or_default().to_vec();
            Placed { made_folders, ..Placed::default() }.write(state)?;
        }
        let deadline = Instant::now() + places.patience;
        loop {
            match Lock::now(File::open(state).map_err(ProgramError::io(state))?) {
                Ok(lock) => return Ok(Workshop { _lock: Some(lock) }),
                // Some file systems have no locks.
                Err(TryLockError::Error(_)) => return Ok(Workshop { _lock: None }),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    let (what, holder) = ("another headstart", os::locks::holder(state));
                    return Err(ProgramError::Busy { what, holder: process(holder) });
                }
            }
        }
    }

    /// The last program has gone: so does the folder of all.
    pub(crate) fn close(self, state: &Path) {
        Placed::forget(state);
    }
}

/// A process in words.
pub(crate) fn process(pid: Option<i32>) -> String {
    let Some(pid) = pid else { return "a process that is not visible here".to_owned() };
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    format!("process {pid}: {}", words.join(" ").trim_end())
}
