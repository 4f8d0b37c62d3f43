//! Starting what was made just now, where other users might put something else in its place.

use crate::error::BundleError;
use crate::write::ownership::taken;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const ROOT: u32 = 0;
/// S_IWGRP and S_IWOTH.
const OTHERS_MAY_WRITE: u32 = 0o022;
/// S_ISVTX: others may add files, and not replace those of root.
const STICKY: u32 = 0o1000;

/// Makes sure that root, who starts what is made in a folder, starts nobody else's program.
///
/// # Errors
/// Somebody else could put another file into its place.
pub(crate) fn is_safe_to_start(folder: &Path) -> Result<(), BundleError> {
    if os::program::own_user() != ROOT {
        return Ok(());
    }
    // Whoever may become root by sudo need not be kept from it.
    let trusted = [Some(ROOT), os::program::user_of_sudo()];
    let folder = folder.canonicalize().map_err(|error| BundleError::io(folder, error))?;
    for folder in folder.ancestors() {
        let data = folder.metadata().map_err(|error| BundleError::io(folder, error))?;
        let of_others = data.mode() & OTHERS_MAY_WRITE != 0 && data.mode() & STICKY == 0;
        if !trusted.contains(&Some(data.uid())) || of_others {
            let found = "can be changed by other users, and root would start a program from it; use \
                         a folder that only root can change, on every level of its path";
            return Err(taken(folder, found));
        }
    }
    Ok(())
}
