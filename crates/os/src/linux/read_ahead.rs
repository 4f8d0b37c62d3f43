//! Read-ahead switched off on chosen devices, and put back whatever happens.
//!
//! Without read-ahead only those pages of a file enter memory that somebody asks for. The setting
//! is one of the whole device, so what it was before is kept safe in three ways:
//!
//! - [`ReadAheadOff`] puts it back when it is dropped: at the end, after an error or a panic.
//! - A guardian process puts it back at once where headstart is killed, and soon where it is stopped
//!   (Ctrl-Z) or takes longer than it said; [`ReadAheadOff::restore`] tells that then.
//! - The setting is in a file before it is changed. Where both were killed, the next headstart that
//!   calls [`restore_abandoned`], or switches read-ahead off itself, puts it back.
//!
//! One headstart at a time has it switched off; others wait. Files that some program opens meanwhile
//! are read without read-ahead until that program closes them: the kernel copies the setting when a
//! file is opened.

mod guardian;
mod kept;
mod setting;

use super::error::LaunchError;
use super::interrupt;
use super::processes;
use guardian::{GaveUp, Guardian};
use kept::{Folder, Kept};
pub use setting::{RestoredDevice, setting_of};
use std::fs::TryLockError;
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

/// What is refused where the setting is, in words.
const MECHANISM: &str = "switching the read-ahead of a device off";

/// How long another headstart is waited for.
const LOCK_LIMIT: Duration = Duration::from_secs(60);
/// How often it is looked whether it has finished.
const LOOK_UP: Duration = Duration::from_millis(20);

/// Devices without read-ahead, as long as this value is there. It belongs to the thread that made
/// it: the guardian puts the setting back when that thread ends.
pub struct ReadAheadOff {
    folder: Folder,
    /// Nothing where read-ahead was off before.
    changed: Option<(Kept, Guardian)>,
    /// Held as long as the setting is changed, by the guardian, too.
    _lock: files::Lock,
}

impl ReadAheadOff {
    /// Switches read-ahead off on the devices with these names in `/sys/class/bdi`
    /// ([`setting_of`]), for at most `limit`.
    ///
    /// # Errors
    /// [`LaunchError::NotPermitted`] for everybody but root, and where the settings cannot be changed
    /// or cannot be kept safe.
    pub fn on(devices: &[String], limit: Duration) -> Result<ReadAheadOff, LaunchError> {
        let folder = Folder::open().map_err(refused)?;
        let (lock, descriptor) = locked(&folder)?;
        restore(&folder).map_err(refused)?;
        let kept = Kept::now(devices).map_err(refused)?;
        if kept.devices.is_empty() {
            return Ok(ReadAheadOff { folder, changed: None, _lock: lock });
        }
        let guardian = Guardian::start(&folder, descriptor, limit)?;
        folder.keep(&kept).map_err(refused)?;
        let off = ReadAheadOff { folder, changed: Some((kept.clone(), guardian)), _lock: lock };
        for device in &kept.devices {
            // Where this fails, what was changed before is put back by the drop.
            setting::switch_off(&device.name).map_err(refused)?;
        }
        Ok(off)
    }

    /// Puts the settings back now, and says where that failed.
    ///
    /// # Errors
    /// The setting and the value that it should have. Where they were not off all the time, since
    /// headstart was stopped or took too long: what was recorded is not exact then.
    pub fn restore(mut self) -> Result<(), LaunchError> {
        self.put_back()
    }

    fn put_back(&mut self) -> Result<(), LaunchError> {
        let Some((_, mut guardian)) = self.changed.take() else { return Ok(()) };
        let gave_up = guardian.gave_up();
        // It puts them back when it ends; where it was killed or failed, this does.
        drop(guardian);
        restore(&self.folder).map_err(|source| LaunchError::System {
            action: "the read-ahead of a device could not be set back".into(),
            source,
            remedy: "set it by hand: the error names the file and the value".into(),
        })?;
        gave_up.map_or(Ok(()), |why| Err(not_exact(why)))
    }
}

fn not_exact(why: GaveUp) -> LaunchError {
    let (action, kind) = match why {
        GaveUp::Stopped => (
            "headstart was stopped while read-ahead was off, so it was switched on again and what \
             was recorded is not exact",
            io::ErrorKind::Interrupted,
        ),
        GaveUp::Late => (
            "recording took too long, so read-ahead was switched on again and what was recorded is \
             not exact",
            io::ErrorKind::TimedOut,
        ),
    };
    let remedy = "run the command again".into();
    LaunchError::System { action: action.into(), source: kind.into(), remedy }
}

impl Drop for ReadAheadOff {
    fn drop(&mut self) {
        // Nobody is left to be told; the file stays, and the next headstart tries again.
        let _ = self.put_back();
    }
}

/// Puts back what a headstart that was killed together with its guardian has left; what was done.
/// Costs one look for a file where there is nothing to do.
///
/// # Errors
/// The setting that could not be written, and the value that it should have.
pub fn restore_abandoned() -> io::Result<Vec<RestoredDevice>> {
    if !Folder::has_kept() || !rustix::process::geteuid().is_root() {
        return Ok(Vec::new());
    }
    let folder = Folder::open()?;
    // Where it is locked somebody is at work, and will restore it.
    match files::Lock::now(folder.lock_file()?) {
        Ok(_lock) => restore(&folder),
        Err(_) => Ok(Vec::new()),
    }
}

/// Puts back what the file says, and removes the file. To be called by whoever has the lock.
fn restore(folder: &Folder) -> io::Result<Vec<RestoredDevice>> {
    let Some(kept) = folder.kept()? else { return Ok(Vec::new()) };
    let restored = kept.restore()?;
    folder.forget()?;
    Ok(restored)
}

fn refused(error: io::Error) -> LaunchError {
    LaunchError::NotPermitted {
        mechanism: MECHANISM,
        reason: format!("{error}; run headstart as root, outside of a container"),
    }
}

/// Whether it is stopped, as by Ctrl-Z.
fn is_stopped(pid: libc::pid_t) -> bool {
    processes::stat_fields(pid).is_some_and(|fields| fields.first().is_some_and(|it| it == "T"))
}

fn still_locked(folder: &Folder) -> LaunchError {
    let finished = "run the command again when that one has finished";
    let (holder, remedy) = match folder.holder() {
        None => (String::new(), finished.to_owned()),
        Some(pid) => match is_stopped(pid) {
            false => (format!(" (process {pid})"), format!("{finished}, or end it: kill {pid}")),
            true => (
                format!(" (process {pid}), which is stopped,"),
                format!("let it go on (kill -CONT {pid}), then run the command again"),
            ),
        },
    };
    LaunchError::System {
        action: format!("another headstart{holder} is recording without read-ahead").into(),
        source: io::ErrorKind::TimedOut.into(),
        remedy: remedy.into(),
    }
}

/// The lock, and the descriptor of its file.
fn locked(folder: &Folder) -> Result<(files::Lock, RawFd), LaunchError> {
    let began = Instant::now();
    loop {
        let file = folder.lock_file().map_err(refused)?;
        let descriptor = file.as_raw_fd();
        match files::Lock::now(file) {
            Ok(lock) => return Ok((lock, descriptor)),
            Err(TryLockError::Error(error)) => return Err(refused(error)),
            Err(_) if interrupt::requested() => return Err(LaunchError::Interrupted),
            Err(_) if began.elapsed() > LOCK_LIMIT => {
                return Err(still_locked(folder));
            }
            Err(_) => std::thread::sleep(LOOK_UP),
        }
    }
}

#[cfg(test)]
mod tests;
