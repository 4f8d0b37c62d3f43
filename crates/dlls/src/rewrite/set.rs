//! Files rewritten as a set: what becomes of one depends on the others.

use super::Step;
use super::one::{Attempt, MemberDraft, one};
use super::{Destination, Folders, RewriteMode, RewriteRequest, Target, Watcher, targets};
use crate::ordinal::beside;
use crate::{MemberId, OpenFiles, Refusal, RewriteError, Set};
use files::Batch;
use rayon::prelude::*;
use std::path::PathBuf;

/// How the files of a set are rewritten.
pub(crate) struct SetRewrite<'a, C, T> {
    /// What is done to each image.
    pub(crate) change: C,
    /// Where DLLs are looked for besides the files' own folders; `None` where an image is changed
    /// without regard to the others.
    pub(crate) search: Option<&'a [PathBuf]>,
    /// Stops where what becomes of the files is not to be written.
    pub(crate) accept: fn(&mut Vec<Attempt<T>>) -> Result<(), RewriteError>,
}

impl<C, T: Send> SetRewrite<'_, C, T>
where
    C: Fn(&mut MemberDraft<'_, '_>) -> Result<T, Refusal> + Sync,
{
    /// Rewrites every file. `before` sees what will become of them, in order, before the first of
    /// them is written, and may write a file that has to be there sooner.
    pub(crate) fn run(
        &self,
        request: &RewriteRequest,
        watcher: &dyn Watcher,
        before: impl FnOnce(&Set<'_>, &[Attempt<T>], &Batch) -> Result<(), RewriteError>,
    ) -> Result<Vec<Attempt<T>>, RewriteError> {
        // Removed again last, where nothing was written to it.
        let mut folder = None;
        // Before there are other threads.
        let batch = Batch::for_files(request.files.len() + 1);
        // Files that are replaced are read when no other run replaces them.
        let in_place = matches!(request.mode, RewriteMode::Write(Destination::InPlace));
        if in_place {
            folder = Some(Folders::of(request, watcher)?);
        }
        let (files, targets) = match self.search {
            Some(search) => {
                let files = OpenFiles::open(&request.files, search)?;
                files.set().unambiguous()?;
                (files, targets(request)?)
            }
            None => {
                let targets = targets(request)?;
                (OpenFiles::alone(&request.files)?, targets)
            }
        };
        let set = files.set();
        let targets: Vec<(MemberId, Target<'_>)> = set.named().zip(targets).collect();
        let all = |step, batch: Option<&Batch>| -> Result<Vec<Attempt<T>>, RewriteError> {
            let one_more = watcher.begins(step, targets.len());
            let attempts = targets.par_iter().map(|(id, target)| {
                let done = one(request, target, set.draft(*id), &self.change, batch)?;
                one_more();
                Ok(done)
            });
            let attempts = attempts.collect::<Result<_, RewriteError>>()?;
            files.unchanged()?;
            Ok(attempts)
        };
        // The files' new bytes are not kept from the first pass: a set may be larger than memory.
        let mut planned = all(Step::Check, None)?;
        (self.accept)(&mut planned)?;
        if !request.is_dry_run() && !in_place {
            folder = Some(Folders::of(request, watcher)?);
        }
        before(&set, &planned, &batch)?;
        if request.is_dry_run() {
            return Ok(planned);
        }
        let mut written = all(Step::Write, Some(&batch))?;
        (self.accept)(&mut written)?;
        // Windows replaces no file that is mapped.
        drop(files);
        batch.finish()?;
        drop(folder);
        Ok(written)
    }
}

/// Takes the record of imports by ordinal along to another folder.
pub(crate) fn carry_record(request: &RewriteRequest, batch: &Batch) -> Result<(), RewriteError> {
    if let Some((path, text)) = beside::carried(request)? {
        batch.write_first(&path, text.as_bytes(), 0o644)?;
    }
    Ok(())
}
