//! Which files can be changed: what headstart itself would refuse is not to be advised.

use model::{PeFacts, StrongNameFacts};
use std::collections::BTreeMap;

/// What keeps a file from being changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// It is signed: only without its signature.
    Signed,
    /// It is signed and has appended data: it may be that neither can be removed.
    SignedAppended,
    /// Data was appended to it, which would move: only where that is asked for.
    Appended,
    /// Something in it is wrong.
    Malformed,
    /// Windows loads it only signed, or it is laid out so that it cannot be changed.
    Never,
}

impl Obstacle {
    /// Whether such a file is changed where a user asks for it.
    pub fn can_be_overcome(self) -> bool {
        matches!(self, Obstacle::Signed | Obstacle::Appended)
    }
}

/// How many files can be changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changeable {
    /// Files that nothing keeps from it.
    pub free: usize,
    /// How many of the others there are, by what keeps them.
    pub kept: BTreeMap<Obstacle, u64>,
}

impl Changeable {
    pub(super) fn of(files: impl Iterator<Item = Option<Obstacle>>) -> Changeable {
        let mut found = Changeable::default();
        for obstacle in files {
            match obstacle {
                None => found.free += 1,
                Some(obstacle) => *found.kept.entry(obstacle).or_default() += 1,
            }
        }
        found
    }
}

/// What keeps every file from being changed.
pub(super) fn obstacle(file: &PeFacts) -> Option<Obstacle> {
    let signed = file.certificates > 0 || file.strong_name == Some(StrongNameFacts::Signed);
    match (signed, file.overlay_bytes > 0) {
        _ if file.flags.force_integrity => Some(Obstacle::Never),
        _ if !file.problems.is_empty() => Some(Obstacle::Malformed),
        (true, true) => Some(Obstacle::SignedAppended),
        (true, false) => Some(Obstacle::Signed),
        (false, _) => None,
    }
}

/// What keeps a file from being moved to another base.
pub(super) fn to_moving(file: &PeFacts) -> Option<Obstacle> {
    if file.flags.relocations_stripped { Some(Obstacle::Never) } else { obstacle(file) }
}

/// What keeps a file from being realigned.
pub(super) fn to_realigning(file: &PeFacts) -> Option<Obstacle> {
    match obstacle(file) {
        _ if file.section_alignment < 4096 => Some(Obstacle::Never),
        None if file.overlay_bytes > 0 => Some(Obstacle::Appended),
        found => found,
    }
}

/// What keeps a file's checksum, which no signature covers, from being corrected while the file is
/// unbound.
pub(super) fn to_checksum(file: &PeFacts) -> Option<Obstacle> {
    obstacle(file).filter(|found| *found == Obstacle::Malformed || !file.bound.is_empty())
}
