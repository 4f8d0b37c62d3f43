//! The hints of all files of a set made right.

use super::repair::{Repaired, repair};
use crate::RewriteError;
use crate::rewrite::{
    RewriteRequest, RewrittenFile, SetRewrite, Watcher, all_or_none, carry_record, settled,
};
use std::path::PathBuf;

/// Makes the hints of every file right. DLLs are looked for among the files, in each file's own
/// folder, and in those of `search`.
///
/// # Errors
/// A file is refused, or cannot be read or written. Nothing is written then.
pub fn repair_set(
    request: &RewriteRequest,
    search: &[PathBuf],
    watcher: &dyn Watcher,
) -> Result<Vec<RewrittenFile<Repaired>>, RewriteError> {
    let rewrite = SetRewrite { change: repair, search: Some(search), accept: all_or_none };
    settled(rewrite.run(request, watcher, |_, _, batch| carry_record(request, batch))?)
}
