//! Tracepoints: their numbers and the layout of what they record.

use crate::linux::host::mounts;
use rustix::fs::{Mode, OFlags, openat};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;

/// The tracing file system. Where it is mounted nowhere, root gets an instance that only this
/// process sees, so that the machine stays as it is.
pub(crate) struct Tracefs {
    folder: OwnedFd,
}

/// One tracepoint.
pub(crate) struct Tracepoint {
    /// For perf_event_open, and the type of its records.
    pub(crate) id: u64,
    /// Name, offset and size of each field.
    fields: Vec<(String, usize, usize)>,
}

impl Tracefs {
    /// The mounted tracefs, or one of our own.
    ///
    /// # Errors
    /// Where there is none and none can be made (only root may), or it may not be read.
    pub(crate) fn open() -> io::Result<Tracefs> {
        match mounted() {
            Some(folder) => Ok(Tracefs { folder }),
            None => private().map(|folder| Tracefs { folder }),
        }
    }

    /// The text of a file. Names of processes in it need not be UTF-8.
    pub(super) fn read(&self, path: &str) -> io::Result<String> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.folder, path, flags, Mode::empty())?);
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Sets what a file says.
    pub(super) fn write(&self, path: &str, text: &str) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::CLOEXEC;
        let mut file = File::from(openat(&self.folder, path, flags, Mode::empty())?);
        file.write_all(text.as_bytes())
    }

    /// Its folder.
    pub(super) fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    /// The tracepoint `name`, such as `filemap/mm_filemap_add_to_page_cache`.
    ///
    /// # Errors
    /// Where the kernel has no such tracepoint or it may not be read.
    pub(crate) fn tracepoint(&self, name: &str) -> io::Result<Tracepoint> {
        let id = self.read(&format!("events/{name}/id"))?;
        let id = id.trim().parse().map_err(io::Error::other)?;
        let format = self.read(&format!("events/{name}/format"))?;
        Ok(Tracepoint { id, fields: fields(&format) })
    }
}

/// One that is mounted and that nothing covers.
fn mounted() -> Option<OwnedFd> {
    const TRACEFS_MAGIC: u64 = 0x7472_6163;
    let mounts = mounts().ok()?.into_iter().filter(|mount| mount.kind == "tracefs");
    let mut opened = mounts.filter_map(|mount| File::open(mount.point).ok());
    let is_tracefs = |file: &File| {
        rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type as u64 == TRACEFS_MAGIC)
    };
    opened.find(is_tracefs).map(OwnedFd::from)
}

/// A mount that is attached nowhere: fsopen(2), fsmount(2).
fn private() -> io::Result<OwnedFd> {
    let context = fsopen("tracefs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?)
}

/// Lines such as `field:unsigned long i_ino; offset:16; size:8; signed:0;`.
fn fields(format: &str) -> Vec<(String, usize, usize)> {
    let number = |part: &str, label: &str| part.trim().strip_prefix(label)?.parse().ok();
    let lines = format.lines().filter_map(|line| {
        let mut parts = line.trim().strip_prefix("field:")?.split(';');
        let name = parts.next()?.rsplit(' ').next()?;
        // Arrays: `char rwbs[10]`.
        let name = name.split('[').next()?.to_owned();
        Some((name, number(parts.next()?, "offset:")?, number(parts.next()?, "size:")?))
    });
    lines.collect()
}

impl Tracepoint {
    /// A field of a sample's raw data; arrays of letters are padded with zeros.
    pub(crate) fn bytes<'a>(&self, raw: &'a [u8], name: &str) -> Option<&'a [u8]> {
        let (_, offset, size) = self.fields.iter().find(|(other, _, _)| other == name)?;
        raw.get(*offset..offset.checked_add(*size)?)
    }

    /// An unsigned field of a sample's raw data.
    pub(crate) fn field(&self, raw: &[u8], name: &str) -> Option<u64> {
        Some(match self.bytes(raw, name)? {
            [byte] => u64::from(*byte),
            [a, b] => u64::from(u16::from_ne_bytes([*a, *b])),
            [a, b, c, d] => u64::from(u32::from_ne_bytes([*a, *b, *c, *d])),
            bytes => u64::from_ne_bytes(bytes.try_into().ok()?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_by_the_layout_of_the_kernel() {
        let format = "name: x\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
                      \tfield:unsigned char order;\toffset:4;\tsize:1;\tsigned:0;\n\
                      \tfield:char rwbs[2];\toffset:5;\tsize:2;\tsigned:0;\n";
        let tracepoint = Tracepoint { id: 1, fields: fields(format) };
        assert_eq!(tracepoint.field(&[1, 2, 0, 0, 9], "order"), Some(9));
        assert_eq!(tracepoint.field(&[1, 2, 0, 0], "order"), None);
        assert_eq!(tracepoint.field(&[1, 2], "common_type"), Some(0x201));
        assert_eq!(tracepoint.field(&[1, 2], "other"), None);
        assert_eq!(tracepoint.bytes(&[0, 0, 0, 0, 9, b'R', b'A'], "rwbs"), Some(&b"RA"[..]));
        assert_eq!(tracepoint.bytes(&[0, 0, 0, 0, 9, b'R'], "rwbs"), None);
    }
}
