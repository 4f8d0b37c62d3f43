//! All files of a set bound to each other.

use super::binding::{Bound, bind};
use crate::rewrite::{
    Attempt, RewriteRequest, RewrittenFile, SetRewrite, Watcher, all_or_none, carry_record,
};
use crate::{Refusal, RefusalReason, RewriteError};
use std::path::PathBuf;

/// Binds every file. A file that cannot be bound stays as it is, with the reason, where another
/// one can be. DLLs are looked for among the files, in each file's own folder, and in those of
/// `search`.
///
/// # Errors
/// Not one file would be bound, or one cannot be read or written. Nothing is written then.
pub fn bind_set(
    request: &RewriteRequest,
    search: &[PathBuf],
    watcher: &dyn Watcher,
) -> Result<Vec<RewrittenFile<Result<Bound, Refusal>>>, RewriteError> {
    let rewrite = SetRewrite { change: bind, search: Some(search), accept: any_bound };
    rewrite.run(request, watcher, |_, _, batch| carry_record(request, batch))
}

/// Stops where not one file would be bound.
fn any_bound(files: &mut Vec<Attempt<Bound>>) -> Result<(), RewriteError> {
    if files.iter().any(|file| file.done.as_ref().is_ok_and(|done| !done.dlls.is_empty())) {
        return Ok(());
    }
    all_or_none(files)?;
    let not_bound =
        files.iter().find_map(|file| Some((file, file.done.as_ref().ok()?.left.first()?)));
    let refusal = match not_bound {
        Some((file, dll)) => {
            let reason = format!("it cannot be bound to {}: {}", dll.name, dll.reason);
            Refusal::new(file.name(), RefusalReason::from(reason).with(dll.reason.advice))
        }
        None => {
            let path = files.first().map(Attempt::name).unwrap_or_default();
            Refusal::new(path, "it imports from no DLL")
        }
    };
    Err(refusal.into())
}
