//! Which files can be changed: what headstart itself would refuse is not to be advised.

use model::{PeFacts, StrongNameFacts};

/// What keeps a file from being changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    const ALL: [Obstacle; 5] = [
        Obstacle::Signed,
        Obstacle::SignedAppended,
        Obstacle::Appended,
        Obstacle::Malformed,
        Obstacle::Never,
    ];

    /// Whether such a file is changed where a user asks for it.
    pub fn can_be_overcome(self) -> bool {
        matches!(self, Obstacle::Signed | Obstacle::Appended)
    }
}

/// How many files can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changeable {
    /// Files that nothing keeps from it.
    pub free: usize,
    /// How many of the others there are, by what keeps them.
    pub kept: Vec<(Obstacle, u64)>,
}

impl Changeable {
    pub(super) fn of(files: impl Iterator<Item = Option<Obstacle>>) -> Changeable {
        let files: Vec<Option<Obstacle>> = files.collect();
        let number = |wanted| files.iter().filter(|found| **found == wanted).count();
        let kept = Obstacle::ALL.map(|obstacle| (obstacle, number(Some(obstacle)) as u64));
        let kept = kept.into_iter().filter(|(_, number)| *number > 0).collect();
        Changeable { free: number(None), kept }
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
