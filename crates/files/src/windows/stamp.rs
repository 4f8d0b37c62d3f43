//! What Windows tells of a version of a file (BY_HANDLE_FILE_INFORMATION).

use crate::Stamp;
use std::fs::{File, Metadata, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_BACKUP_SEMANTICS;

impl Stamp {
    /// That of the file at `path` as it is now; `None` where there is none.
    pub fn now(path: &Path) -> Option<Stamp> {
        // Attributes can be read of a file that somebody else keeps others from reading.
        let mut options = OpenOptions::new();
        options.access_mode(0).custom_flags(FILE_FLAG_BACKUP_SEMANTICS);
        Stamp::of_file(&options.open(path).ok()?)
    }

    /// That of an open file.
    pub fn of_file(file: &File) -> Option<Stamp> {
        let found = winapi_util::file::information(file).ok()?;
        // In units of 100 ns.
        let time = |time: Option<u64>| {
            let time = time.unwrap_or(0);
            ((time / 10_000_000).cast_signed(), (time % 10_000_000 * 100).cast_signed())
        };
        Some(Stamp {
            identity: (found.volume_serial_number(), found.file_index()),
            bytes: found.file_size(),
            modified: time(found.last_write_time()),
            changed: time(found.creation_time()),
        })
    }
}

/// That of the file at `real`, of which `data` was read.
pub(crate) fn of(real: &Path, data: &Metadata) -> Option<Stamp> {
    Stamp::now(real).filter(|stamp| stamp.bytes == data.len())
}
