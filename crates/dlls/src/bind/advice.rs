//! What a user can do where an image cannot be bound. Said only where it works: each is tried first.

use super::room;
use crate::realign::{Options, realign};
use crate::signature::Signatures;
use crate::{Set, rebase};
use image::pe::Pe;
use image::pe::edit::Draft;

/// What makes room in the headers for `bytes` of bound imports; `None` where nothing does.
pub(super) fn room(set: &Set<'_>, image: usize, path: &str, bytes: usize) -> Option<&'static str> {
    let original = set.member(image)?.pe();
    if Signatures::of(original).any() {
        return None;
    }
    let mut draft = Draft::of(original);
    let options = Options { file_alignment: 4096, keep_overlay: false };
    realign(&mut draft, path, &options).ok()?;
    let room = room::of(&draft.pe());
    let makes_room = room.end.saturating_sub(room.start.next_multiple_of(4)) >= bytes;
    makes_room.then_some("headstart pe realign --file-alignment 4096 makes room")
}

/// What clears NO_BIND; `None` where that is not possible.
pub(super) fn no_bind(file: &Pe<'_>) -> Option<&'static str> {
    let unsigned = !Signatures::of(file).any();
    unsigned.then_some("headstart pe flags --clear no-bind removes that mark")
}

/// Whether all of these images but one can be moved.
pub(super) fn can_be_moved(set: &Set<'_>, images: &[usize]) -> bool {
    let stays = |image: &&usize| {
        let member = set.member(**image);
        let options = rebase::Options::default();
        member.is_none_or(|member| {
            rebase::examine(&member.name(), member.pe(), options).obstacle.is_some()
        })
    };
    images.iter().filter(stays).count() <= 1
}
