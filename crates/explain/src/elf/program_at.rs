//! Which program a process executes.

use crate::elf::inputs::Inputs;
use crate::phases::Life;

/// What a process executes at an instant; for a copy that executes nothing, the launched program.
pub(crate) fn program_at(inputs: &Inputs, lives: &[Life], pid: u32, at: i64) -> String {
    let life = lives.iter().rfind(|life| life.pid == pid && life.started <= at).or(lives.first());
    life.map_or_else(String::new, |life| inputs.program(&life.image.path))
}
