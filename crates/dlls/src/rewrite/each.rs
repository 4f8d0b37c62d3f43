//! Files rewritten one by one, none of which depends on the others.

use super::one::{RewrittenFile, all_or_none, one, settled};
use super::{Folders, RewriteRequest, Step, Target, Watcher, carry_record, targets};
use crate::{Refusal, RewriteError};
use files::Batch;
use image::pe::PeFile;
use image::pe::edit::PeDraft;
use rayon::prelude::*;

/// Rewrites every file by `change`, which is told the file's name, and writes the results unless
/// this is a dry run.
///
/// # Errors
/// One of the files is refused, or cannot be read or written. Nothing is written then.
pub fn rewrite_each<T: Send>(
    request: &RewriteRequest,
    watcher: &dyn Watcher,
    change: impl Fn(&mut PeDraft, &str) -> Result<T, Refusal> + Sync,
) -> Result<Vec<RewrittenFile<T>>, RewriteError> {
    let targets = targets(request)?;
    // Removed again last, where nothing was written to it.
    let mut folder = None;
    let batch = Batch::for_files(targets.len() + 1);
    let attempt = |target: &Target<'_>, batch| {
        let file = PeFile::open(target.file)?;
        let draft = PeDraft::of(&file.pe());
        let change = |draft: &mut PeDraft| change(draft, file.name());
        let done = one(request, target, &file.pe(), draft, &change, batch);
        file.unchanged()?;
        done
    };
    // The files' new bytes are not kept from the first pass: a set may be larger than memory.
    let mut files = for_each(&targets, Step::Check, watcher, |target| attempt(target, None))?;
    all_or_none(&mut files)?;
    if !request.is_dry_run() {
        folder = Some(Folders::of(request, watcher)?);
        carry_record(request, &batch)?;
        files = for_each(&targets, Step::Write, watcher, |target| attempt(target, Some(&batch)))?;
        all_or_none(&mut files)?;
        batch.finish()?;
    }
    drop(folder);
    settled(files)
}

/// Does something with every one, in parallel, and says how far it is.
pub(crate) fn for_each<F: Sync, T: Send>(
    targets: &[F],
    step: Step,
    watcher: &dyn Watcher,
    one: impl Fn(&F) -> Result<T, RewriteError> + Sync,
) -> Result<Vec<T>, RewriteError> {
    let one_more = watcher.begins(step, targets.len());
    targets.par_iter().map(|target| one(target).inspect(|_| one_more())).collect()
}
