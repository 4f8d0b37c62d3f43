//! Only one headstart adds launches to a run.

use std::fs::File;
use std::io;
use std::path::Path;

/// A run that no other headstart adds to while this value is there; none where the file system has no
/// locks.
pub(super) struct RunLock {
    #[cfg(unix)]
    _lock: files::Lock,
    #[cfg(windows)]
    _lock: File,
}

/// Why there is none: another headstart adds launches.
pub(super) struct Taken;

/// Locks the run whose launches are in this file.
///
/// # Errors
/// Another headstart has.
#[cfg(unix)]
pub(super) fn lock(launches: &File, _path: &Path) -> io::Result<Result<Option<RunLock>, Taken>> {
    use std::fs::TryLockError;
    Ok(match files::Lock::now(launches.try_clone()?) {
        Ok(lock) => Ok(Some(RunLock { _lock: lock })),
        Err(TryLockError::WouldBlock) => Err(Taken),
        // Where a file system has no locks, nothing is known of others.
        Err(TryLockError::Error(_)) => Ok(None),
    })
}

/// A lock of Windows would keep readers out. This handle keeps out only those that ask for the right
/// to remove the file, which others like it do.
#[cfg(windows)]
pub(super) fn lock(_launches: &File, path: &Path) -> io::Result<Result<Option<RunLock>, Taken>> {
    use std::os::windows::fs::OpenOptionsExt;
    const DELETE: u32 = 0x1_0000;
    const SHARE_READ_AND_WRITE: u32 = 3;
    const SHARING_VIOLATION: i32 = 32;
    let opened = File::options().access_mode(DELETE).share_mode(SHARE_READ_AND_WRITE).open(path);
    Ok(match opened {
        Ok(lock) => Ok(Some(RunLock { _lock: lock })),
        Err(error) if error.raw_os_error() == Some(SHARING_VIOLATION) => Err(Taken),
        Err(_) => Ok(None),
    })
}

/// Whether the open file has no name any more.
#[cfg(unix)]
pub(super) fn is_removed(launches: &File, _path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    launches.metadata().is_ok_and(|data| data.nlink() == 0)
}

/// Whether there is no file of this name any more.
#[cfg(windows)]
pub(super) fn is_removed(_launches: &File, path: &Path) -> bool {
    !path.exists()
}
