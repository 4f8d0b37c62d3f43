//! Files rewritten one by one, none of which depends on the others.

use super::one::{MemberDraft, RewrittenFile, all_or_none, settled};
use super::{RewriteRequest, SetRewrite, Watcher, carry_record};
use crate::{Refusal, RewriteError};
use image::pe::edit::PeDraft;

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
    let change = |member: &mut MemberDraft<'_, '_>| {
        let name = member.set.member(member.id).name();
        change(&mut member.draft, &name)
    };
    let rewrite = SetRewrite { change, search: None, accept: all_or_none };
    settled(rewrite.run(request, watcher, |_, _, batch| carry_record(request, batch))?)
}
