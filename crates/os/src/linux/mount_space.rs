//! A mount namespace of the calling thread, in which files are mounted over others.

use rustix::fs::CWD;
use rustix::mount::{
    MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount_change, move_mount, open_tree,
};
use rustix::thread::{UnshareFlags, unshare_unsafe};
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

/// `MOUNT_ATTR_RDONLY` (mount_setattr(2)).
const READ_ONLY: u64 = 1;

/// The calling thread is in a mount namespace of its own until it ends; what it starts is, too. What
/// is mounted there is seen by nobody else; what others mount is seen there.
pub(in crate::linux) struct MountSpace {
    /// It is of one thread.
    _thread: PhantomData<*const ()>,
}

impl MountSpace {
    /// # Errors
    /// Only root may, and some containers refuse it to root. Nothing has changed for anybody else.
    pub(in crate::linux) fn enter() -> io::Result<MountSpace> {
        // SAFETY: no file descriptors and no memory are unshared. The calling thread gets a working
        // folder of its own, which is where it was.
        unsafe { unshare_unsafe(UnshareFlags::NEWNS)? };
        // From here on nothing that is mounted below this root reaches the others.
        mount_change("/", MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC)?;
        Ok(MountSpace { _thread: PhantomData })
    }

    /// Mounts the open file `copy`, which has a name, over the file at `path`. Nobody can write to it
    /// by that path: it would be lost.
    ///
    /// # Errors
    /// What the system says; mount_setattr(2) is there since Linux 5.12.
    pub(in crate::linux) fn cover(&self, copy: &File, path: &Path) -> io::Result<()> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH;
        let tree = open_tree(copy, "", flags)?;
        make_read_only(&tree)?;
        Ok(move_mount(&tree, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
    }
}

fn make_read_only(tree: &OwnedFd) -> io::Result<()> {
    // struct mount_attr: what is set, what is cleared, propagation, user namespace.
    let attributes = [READ_ONLY, 0, 0, 0];
    // SAFETY: an open descriptor, a string that ends with NUL, and a structure of the size that is
    // passed with it.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            attributes.as_ptr(),
            size_of_val(&attributes),
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
