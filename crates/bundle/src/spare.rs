//! The spare of a bundle at fixed addresses.
//!
//! It is kept beside the bundle, gets the new base and takes the bundle's place by a rename, and
//! what was the bundle is the next spare. So only pages with addresses are written.

use image::elf::Loadable;
use os::copy::copy_range;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// The file that gets the next base.
const SPARE: &str = ".spare";
/// A spare while it is written to.
pub(crate) const PARTIAL: &str = ".spare-partial";
/// The bundle while another takes its place.
const FORMER: &str = ".spare-former";

/// Removes the spare, and what is left of one, before another bundle takes the place of the one
/// that it is of. Once this has returned it stays removed, whatever happens to the machine.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    let mut removed = false;
    for name in [SPARE, PARTIAL, FORMER] {
        removed |= remove_one(&folder.join(name))?;
    }
    if removed { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Tells whether it was there.
fn remove_one(path: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// A copy of the bundle that nothing uses, open for writing and under its partial name.
pub(crate) fn take(folder: &Path, run: &Path, live: &Loadable) -> io::Result<File> {
    let (spare, partial) = (folder.join(SPARE), folder.join(PARTIAL));
    let open = || OpenOptions::new().read(true).write(true).open(&partial);
    let usable = Loadable::open(&spare).is_ok_and(|image| {
        image.build_id == live.build_id && image.bytes().len() == live.bytes().len()
    });
    if usable {
        std::fs::rename(&spare, &partial)?;
        match open() {
            // A process still runs it, from when it was the bundle.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
            opened => return opened,
        }
    }
    let copy = tempfile::Builder::new().prefix(".headstart-").tempfile_in(folder)?;
    let original = File::open(run)?;
    let data = original.metadata()?;
    copy_range(&original, 0, copy.as_file(), 0, data.len())?;
    copy.as_file().set_permissions(data.permissions())?;
    copy.persist(&partial).map_err(|error| error.error)?;
    open()
}

/// The partial spare becomes the bundle, and the bundle the spare.
pub(crate) fn swap(folder: &Path, run: &Path, partial: &Path) -> io::Result<()> {
    let (former, spare) = (folder.join(FORMER), folder.join(SPARE));
    remove_one(&former)?;
    std::fs::hard_link(run, &former)?;
    std::fs::rename(partial, run)?;
    std::fs::rename(&former, &spare)?;
    File::open(folder)?.sync_all()
}
