//! A program at fixed addresses whose libraries are asked in a better order.

use super::{no_pie, order, program_copy};
use crate::{Built, NotBuilt, Program};
use std::path::Path;

/// Folder for the program with one change.
const BETWEEN: &str = ".ordered";

/// Both changes of the program's own file.
///
/// # Errors
/// As [`Build`](crate::Build).
pub fn build(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    let between = folder.join(BETWEEN);
    let failed = NotBuilt::io(&between);
    std::fs::create_dir(&between).map_err(&failed)?;
    let ordered = order::build(program, &between)?;
    let changed = Program { file: ordered.run.clone(), ..program.clone() };
    let fixed = no_pie::build(&changed, folder)?;
    std::fs::remove_dir_all(&between).map_err(failed)?;
    let notes = ordered
        .notes
        .into_iter()
        .chain(fixed.notes.into_iter().filter(|note| note != program_copy::NOTE))
        .collect();
    Ok(Built { run: fixed.run, notes, ..ordered })
}
