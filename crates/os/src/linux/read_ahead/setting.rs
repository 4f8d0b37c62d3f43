//! The setting of one device.

use crate::linux::host::bdi_name;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A device whose setting was put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredDevice {
    /// Its name in `/sys/class/bdi`, such as `254:0`.
    pub name: String,
    /// Its read-ahead now.
    pub kib: u64,
}

/// The name in `/sys/class/bdi` under which a device's read-ahead is set, by its numbers, major and
/// minor. `None` where it has none, as file systems on several disks.
pub fn setting_of(device: (u32, u32)) -> Option<String> {
    bdi_name(device)
}

fn file(name: &str) -> io::Result<PathBuf> {
    // A name out of a file: it must not lead elsewhere.
    if name.is_empty() || name.contains('/') || name.starts_with('.') {
        return Err(io::Error::other(format!("'{name}' is no name of a device")));
    }
    Ok(Path::new("/sys/class/bdi").join(name).join("read_ahead_kb"))
}

/// The setting in KiB; `None` where the device has gone.
pub(super) fn read(name: &str) -> io::Result<Option<u64>> {
    let path = file(name)?;
    match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().map(Some).map_err(|_| said(&path, "is no number")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(said(&path, error)),
    }
}

/// Sets it to 0, and looks whether it is.
pub(super) fn switch_off(name: &str) -> io::Result<()> {
    write(name, 0)
}

/// Sets it back where it is as [`switch_off`] left it. What somebody else has set meanwhile stays;
/// a device that has gone needs nothing.
pub(super) fn set_back(name: &str, kib: u64) -> io::Result<Option<RestoredDevice>> {
    if read(name)? != Some(0) {
        return Ok(None);
    }
    write(name, kib)?;
    Ok(Some(RestoredDevice { name: name.to_owned(), kib }))
}

fn write(name: &str, kib: u64) -> io::Result<()> {
    let path = file(name)?;
    let wanted = |error: io::Error| said(&path, format!("cannot be set to {kib} ({error})"));
    fs::write(&path, kib.to_string()).map_err(wanted)?;
    match read(name)? {
        Some(now) if now == kib => Ok(()),
        now => Err(said(&path, format!("says {now:?} although {kib} was written"))),
    }
}

fn said(path: &Path, what: impl std::fmt::Display) -> io::Error {
    io::Error::other(format!("'{}' {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_does_not_lead_elsewhere() {
        for name in ["", ".", "..", "../x", "a/b"] {
            assert!(read(name).is_err(), "{name}");
        }
        assert_eq!(read("999:999").unwrap(), None);
        assert_eq!(set_back("999:999", 128).unwrap(), None);
    }
}
