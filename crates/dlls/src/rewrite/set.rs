//! Files rewritten as a set: what becomes of one depends on the others.

use super::one::{Attempt, MemberDraft, one};
use super::{Folders, RewriteRequest, Step, Target, Watcher, for_each, targets};
use crate::ordinal::beside;
use crate::{MemberId, OpenFiles, Refusal, RewriteError, Set};
use files::Batch;
use std::path::PathBuf;

/// How the files of a set are rewritten.
pub(crate) struct SetRewrite<C, T> {
    /// What is done to each image.
    pub(crate) change: C,
    /// Stops where what becomes of the files is not to be written.
    pub(crate) accept: fn(&mut Vec<Attempt<T>>) -> Result<(), RewriteError>,
}

impl<C, T: Send> SetRewrite<C, T>
where
    C: Fn(&mut MemberDraft<'_, '_>) -> Result<T, Refusal> + Sync,
{
    /// Rewrites every file. `before` sees what will become of them, in order, before the first of
    /// them is written, and may write a file that has to be there sooner.
    pub(crate) fn run(
        &self,
        request: &RewriteRequest,
        search: &[PathBuf],
        watcher: &dyn Watcher,
        before: impl FnOnce(&Set<'_>, &[Attempt<T>], &Batch) -> Result<(), RewriteError>,
    ) -> Result<Vec<Attempt<T>>, RewriteError> {
        let files = OpenFiles::open(&request.files, search)?;
        let set = files.set();
        set.unambiguous()?;
        // Removed again last, where nothing was written to it.
        let mut folder = None;
        let batch = Batch::for_files(request.files.len() + 1);
        let targets: Vec<(MemberId, Target<'_>)> = set.named().zip(targets(request)?).collect();
        let change = &self.change;
        let attempt = |(id, target): &(MemberId, Target<'_>), batch| {
            let pe = set.member(*id).pe();
            one(request, target, pe, set.draft(*id), change, batch)
        };
        // The files' new bytes are not kept from the first pass: a set may be larger than memory.
        let mut planned = for_each(&targets, Step::Check, watcher, |target| attempt(target, None))?;
        if !request.is_dry_run() {
            folder = Some(Folders::of(request, watcher)?);
        }
        (self.accept)(&mut planned)?;
        before(&set, &planned, &batch)?;
        if request.is_dry_run() {
            return Ok(planned);
        }
        let written =
            for_each(&targets, Step::Write, watcher, |target| attempt(target, Some(&batch)));
        files.unchanged()?;
        let mut written = written?;
        (self.accept)(&mut written)?;
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
