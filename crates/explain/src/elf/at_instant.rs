//! What a launch does at an instant.

use crate::elf::inputs::Inputs;
use crate::phases::Life;
use crate::phases::charge::Segment;
use model::Phase;

/// What a process executes at an instant; for a copy that executes nothing, the launched program.
pub(crate) fn program_at(inputs: &Inputs, lives: &[Life], pid: u32, at: i64) -> String {
    let life = lives.iter().rfind(|life| life.pid == pid && life.started <= at).or(lives.first());
    life.map_or_else(String::new, |life| inputs.program(&life.image.path))
}

/// The phase that is charged at an instant.
pub(crate) fn phase_at(segments: &[Segment], at: i64) -> Phase {
    let next = segments.partition_point(|segment| segment.to <= at);
    let found = segments.get(next).filter(|segment| segment.from <= at);
    found.map_or(Phase::Unattributed, |segment| segment.phase)
}
