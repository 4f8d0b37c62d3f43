//! The file that says what the settings were before they were changed.

use super::setting::{self, RestoredDevice};
use crate::linux::locks;
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Root's own, and gone after a restart on most systems.
const FOLDER: &str = "/run/headstart";
const KEPT: &str = "/run/headstart/read-ahead.json";
const LOCK: &str = "/run/headstart/read-ahead.lock";

/// What the settings were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Kept {
    /// Settings of before a restart of the machine mean nothing after it.
    boot: String,
    /// Those that are changed.
    pub(super) devices: Vec<KeptDevice>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct KeptDevice {
    pub(super) name: String,
    kib: u64,
}

impl Kept {
    /// The settings of those devices whose read-ahead is not off.
    pub(super) fn now(names: &[String]) -> io::Result<Kept> {
        let mut devices = Vec::new();
        for name in names {
            match setting::read(name)? {
                Some(0) => {}
                Some(kib) => devices.push(KeptDevice { name: name.clone(), kib }),
                None => {
                    let text = format!("device {name} has no setting in /sys/class/bdi");
                    return Err(io::Error::other(text));
                }
            }
        }
        Ok(Kept { boot: boot()?, devices })
    }

    /// Puts all back; the first error, after all were tried.
    pub(super) fn restore(&self) -> io::Result<Vec<RestoredDevice>> {
        if self.boot != boot()? {
            return Ok(Vec::new());
        }
        let each = self.devices.iter().map(|device| setting::set_back(&device.name, device.kib));
        let all: Vec<_> = each.collect();
        let done: io::Result<Vec<Option<RestoredDevice>>> = all.into_iter().collect();
        Ok(done?.into_iter().flatten().collect())
    }
}

/// A number that is another one after each start of the machine.
fn boot() -> io::Result<String> {
    let text = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(text.trim().to_owned())
}

/// The folder of the file. Nobody but root may write to it.
pub(super) struct Folder(());

impl Folder {
    /// Whether there is something to be restored.
    pub(super) fn has_kept() -> bool {
        Path::new(KEPT).exists()
    }

    /// Creates it where it is missing.
    pub(super) fn open() -> io::Result<Folder> {
        match DirBuilder::new().mode(0o755).create(FOLDER) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(named(FOLDER, error)),
            _ => {
                let data = fs::symlink_metadata(FOLDER)?;
                if data.is_dir() && data.uid() == 0 && data.mode() & 0o022 == 0 {
                    return Ok(Folder(()));
                }
                let text = format!("'{FOLDER}' is not a folder to which only root may write");
                Err(io::Error::other(text))
            }
        }
    }

    /// The file to be locked.
    pub(super) fn lock_file(&self) -> io::Result<File> {
        let mut options = File::options();
        let options = options.write(true).create(true).truncate(false).mode(0o600);
        options.open(LOCK).map_err(|error| named(LOCK, error))
    }

    /// Writes the file, whole or not at all, onto the disk.
    pub(super) fn keep(&self, kept: &Kept) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(".read-ahead-").tempfile_in(FOLDER)?;
        serde_json::to_writer(&mut file, kept)?;
        file.flush()?;
        file.as_file().sync_all()?;
        file.persist(KEPT).map_err(|error| named(KEPT, error.error))?;
        File::open(FOLDER)?.sync_all()
    }

    /// What the file says; `None` where there is none.
    pub(super) fn kept(&self) -> io::Result<Option<Kept>> {
        let text = match fs::read(KEPT) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(named(KEPT, error)),
        };
        let kept = serde_json::from_slice(&text);
        kept.map(Some).map_err(|error| {
            let text = format!("'{KEPT}' is damaged ({error}): look at the devices' settings");
            io::Error::other(text + " in /sys/class/bdi/*/read_ahead_kb, then remove the file")
        })
    }

    /// Removes the file. The guardian may have done so.
    pub(super) fn forget(&self) -> io::Result<()> {
        match fs::remove_file(KEPT) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(named(KEPT, error)),
            _ => Ok(()),
        }
    }

    /// The process that has locked the file, as `/proc/locks` says.
    pub(super) fn holder(&self) -> Option<libc::pid_t> {
        locks::holder(Path::new(LOCK))
    }
}

fn named(path: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("'{path}': {error}"))
}
