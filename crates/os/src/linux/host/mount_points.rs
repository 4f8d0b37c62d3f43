//! Mounts with all that is needed to mount them again.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// A mounted file system (proc_pid_mountinfo(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MountPoint {
    pub(crate) id: u64,
    /// Major and minor number.
    pub(crate) device: (u32, u32),
    /// The folder of the file system that is mounted.
    pub(crate) root: PathBuf,
    /// Where it is.
    pub(crate) point: PathBuf,
    /// Options of the mount, with commas.
    pub(crate) options: String,
    /// Such as `shared:1`.
    pub(crate) propagation: Vec<String>,
    /// The type of the file system.
    pub(crate) kind: String,
    /// What it is on.
    pub(crate) source: PathBuf,
    /// Options of the file system, with commas.
    pub(crate) file_system_options: String,
}

/// What is mounted for this process.
///
/// # Errors
/// `/proc` tells no mounts.
pub(crate) fn mount_points() -> io::Result<Vec<MountPoint>> {
    mount_points_of(Path::new("/proc/self"))
}

/// What is mounted for the process or thread with this folder of `/proc`.
///
/// # Errors
/// It has ended, or may not be looked at.
pub(crate) fn mount_points_of(task: &Path) -> io::Result<Vec<MountPoint>> {
    let bytes = std::fs::read(task.join("mountinfo"))?;
    Ok(bytes.split(|byte| *byte == b'\n').filter_map(mount_point).collect())
}

fn mount_point(line: &[u8]) -> Option<MountPoint> {
    let mut words = line.split(|byte| *byte == b' ');
    let mut next = || words.next();
    let id = text(next()?).parse().ok()?;
    next()?;
    let device = text(next()?);
    let (major, minor) = device.split_once(':')?;
    let (root, point, options) = (path(next()?), path(next()?), text(next()?));
    let mut propagation = Vec::new();
    loop {
        match next()? {
            b"-" => break,
            word => propagation.push(text(word)),
        }
    }
    Some(MountPoint {
        id,
        device: (major.parse().ok()?, minor.parse().ok()?),
        root,
        point,
        options,
        propagation,
        kind: text(next()?),
        source: path(next()?),
        file_system_options: text(next()?),
    })
}

fn text(word: &[u8]) -> String {
    String::from_utf8_lossy(&unescaped(word)).into_owned()
}

fn path(word: &[u8]) -> PathBuf {
    OsString::from_vec(unescaped(word)).into()
}

/// Blanks, line feeds and backslashes are written as three octal digits.
fn unescaped(word: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = word;
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let value = digits.and_then(|it| std::str::from_utf8(it).ok());
        match value.and_then(|it| u8::from_str_radix(it, 8).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_fields_of_a_mount_are_read() {
        let line =
            b"36 35 7:0 / /a\\040b\\134 rw,noatime shared:1 unbindable - ext4 /dev/loop0 rw,x";
        let found = mount_point(line).unwrap();
        assert_eq!((found.id, found.device), (36, (7, 0)));
        assert_eq!((found.root, found.point), ("/".into(), "/a b\\".into()));
        assert_eq!((found.options.as_str(), found.kind.as_str()), ("rw,noatime", "ext4"));
        assert_eq!(found.propagation, ["shared:1", "unbindable"]);
        assert_eq!(found.source, PathBuf::from("/dev/loop0"));
        assert_eq!(found.file_system_options, "rw,x");
        for line in [&b""[..], b"36 35 7:0 / /a rw", b"36 35 7 / /a rw - ext4 x rw"] {
            assert_eq!(mount_point(line), None);
        }
        assert!(mount_points().unwrap().iter().any(|mount| mount.point.as_os_str() == "/"));
    }
}
