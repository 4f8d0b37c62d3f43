//! One file rewritten, with what becomes of its signatures and its checksum.

use super::{RewriteRequest, Target};
use crate::signature::{self, Signatures};
use crate::{MemberId, Refusal, RewriteError, Set};
use files::Batch;
use image::pe::edit::{KeepChecksum, PeDraft};
use std::path::PathBuf;

/// What became of one file.
#[derive(Clone, Debug)]
pub struct RewrittenFile<T> {
    /// The file.
    pub file: PathBuf,
    /// Where its new version is; `None` where nothing was written.
    pub written: Option<PathBuf>,
    /// Whether the new version differs.
    pub changed: bool,
    /// Signatures that it lost.
    pub stripped: Signatures,
    /// What was done.
    pub done: T,
}

/// What became of a file, or why it stays as it is.
pub(crate) type Attempt<T> = RewrittenFile<Result<T, Refusal>>;

impl<T> RewrittenFile<T> {
    /// The file's path as text.
    pub fn name(&self) -> String {
        self.file.display().to_string()
    }
}

/// Stops where a file would be left as it is: with the first such file's reason, and how many more
/// there are.
pub(crate) fn all_or_none<T>(files: &mut Vec<Attempt<T>>) -> Result<(), RewriteError> {
    let refused = files.iter().filter(|file| file.done.is_err()).count() as u64;
    let Some(index) = files.iter().position(|file| file.done.is_err()) else { return Ok(()) };
    let Err(refusal) = files.swap_remove(index).done else { return Ok(()) };
    let others = (!files.is_empty()).then_some(refused - 1);
    Err(RewriteError::Refused { refusal, others })
}

/// The files of a set of which none was refused.
pub(crate) fn settled<T>(files: Vec<Attempt<T>>) -> Result<Vec<RewrittenFile<T>>, RewriteError> {
    let settle = |RewrittenFile { file, written, changed, stripped, done }: Attempt<T>| {
        Ok(RewrittenFile { file, written, changed, stripped, done: done? })
    };
    files.into_iter().map(settle).collect()
}

/// An image of a set, and a draft of what becomes of it.
#[derive(Clone, Debug)]
pub struct MemberDraft<'s, 'a> {
    pub(crate) set: &'s Set<'a>,
    pub(crate) id: MemberId,
    pub(crate) draft: PeDraft,
}

impl<'a> Set<'a> {
    /// A draft of one of the images, which is as the image is.
    pub fn draft(&self, id: MemberId) -> MemberDraft<'_, 'a> {
        MemberDraft { set: self, id, draft: PeDraft::of(self.member(id).pe()) }
    }
}

impl MemberDraft<'_, '_> {
    /// The draft as it is now.
    pub fn bytes(&self) -> &[u8] {
        self.draft.bytes()
    }
}

impl AsMut<PeDraft> for MemberDraft<'_, '_> {
    fn as_mut(&mut self) -> &mut PeDraft {
        &mut self.draft
    }
}

impl From<MemberDraft<'_, '_>> for PeDraft {
    fn from(member: MemberDraft<'_, '_>) -> PeDraft {
        member.draft
    }
}

/// Rewrites one image, and writes the result where there is a batch. One that is refused is written
/// as it was: whether that is wanted is for others to say, before the batch gets its names.
pub(super) fn one<T>(
    request: &RewriteRequest,
    target: &Target<'_>,
    draft: MemberDraft<'_, '_>,
    change: impl Fn(&mut MemberDraft<'_, '_>) -> Result<T, Refusal>,
    batch: Option<&Batch>,
) -> Result<Attempt<T>, RewriteError> {
    let original = draft.set.member(draft.id).pe();
    let (new, stripped, done) = match finished(request, draft, change) {
        Ok((new, stripped, done)) => (Some(new), stripped, Ok(done)),
        Err(refusal) => (None, Signatures::default(), Err(refusal)),
    };
    let new = new.as_deref().unwrap_or(original.bytes());
    let written = match batch {
        Some(batch) => target.write_in(batch, original.bytes(), new)?,
        None => None,
    };
    let changed = original.bytes() != new;
    Ok(RewrittenFile { file: target.file.to_owned(), written, changed, stripped, done })
}

/// The new bytes of one image, the signatures that it lost, and what was done. An image that stays
/// the same keeps them.
fn finished<T>(
    request: &RewriteRequest,
    mut draft: MemberDraft<'_, '_>,
    change: impl Fn(&mut MemberDraft<'_, '_>) -> Result<T, Refusal>,
) -> Result<(Vec<u8>, Signatures, T), Refusal> {
    let member = draft.set.member(draft.id);
    let (original, path) = (member.pe(), member.name());
    let keep = if request.checksum { KeepChecksum::Compute } else { KeepChecksum::AsItWas };
    if Signatures::of(original).any() {
        let mut trial = draft.clone();
        if let Ok(done) = change(&mut trial) {
            let new = trial.draft.finish(keep);
            if signature::is_kept(original, &new) {
                return Ok((new, Signatures::default(), done));
            }
        }
        // What stands in the way besides the signature is said rather: without it the advice to
        // remove the signature would lead nowhere.
        let mut trial = draft.clone();
        signature::settle(&mut trial.draft, &path, true)?;
        change(&mut trial)?;
    }
    let stripped = signature::settle(&mut draft.draft, &path, request.strip_signature)?;
    let done = change(&mut draft)?;
    Ok((draft.draft.finish(keep), stripped, done))
}
