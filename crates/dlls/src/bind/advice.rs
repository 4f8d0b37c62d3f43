//! What a user can do where an image cannot be bound. Said only where it works: each is tried first.

use super::room;
use crate::realign::{RealignOptions, realign};
use crate::rebase::{RebaseOptions, examine};
use crate::signature::Signatures;
use crate::{Advice, MemberId, Set};
use image::pe::Pe;
use image::pe::edit::PeDraft;

/// What makes room in the headers for `bytes` of bound imports; `None` where nothing does.
pub(super) fn room(original: &Pe<'_>, path: &str, bytes: usize) -> Option<Advice> {
    if Signatures::of(original).any() {
        return None;
    }
    let mut draft = PeDraft::of(original);
    let options = RealignOptions { file_alignment: 4096, keep_overlay: false };
    realign(&mut draft, path, &options).ok()?;
    let room = room::of(&draft.pe());
    let makes_room = room.end.saturating_sub(room.start.next_multiple_of(4)) >= bytes;
    makes_room.then_some(Advice::Realign)
}

/// What clears NO_BIND; `None` where that is not possible.
pub(super) fn no_bind(file: &Pe<'_>) -> Option<Advice> {
    let unsigned = !Signatures::of(file).any();
    unsigned.then_some(Advice::ClearNoBind)
}

/// Whether all of these images but one can be moved.
pub(super) fn can_be_moved(set: &Set<'_>, images: &[MemberId]) -> bool {
    let stays = |image: &&MemberId| {
        let member = set.member(**image);
        let options = RebaseOptions::default();
        examine(&member.name(), member.pe(), options).obstacle.is_some()
    };
    images.iter().filter(stays).count() <= 1
}
