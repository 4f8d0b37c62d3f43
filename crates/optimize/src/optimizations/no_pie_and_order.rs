//! A program at fixed addresses whose libraries are asked in a better order.

use super::{NoPie, OrderNeeded, program_copy};
use crate::{Built, NotBuilt, Optimization, Program};
use std::path::Path;

/// Folder for the program with one change.
const BETWEEN: &str = ".ordered";

/// Both changes of the program's own file.
pub struct NoPieAndOrder;

impl Optimization for NoPieAndOrder {
    fn name(&self) -> &'static str {
        "no-pie + order"
    }

    fn keeps_aslr(&self) -> bool {
        false
    }

    fn build(&self, program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
        let between = folder.join(BETWEEN);
        let failed = NotBuilt::io(&between);
        std::fs::create_dir(&between).map_err(&failed)?;
        let ordered = OrderNeeded.build(program, &between)?;
        let changed = Program { path: program.path.clone(), file: ordered.run.clone() };
        let fixed = NoPie.build(&changed, folder)?;
        std::fs::remove_dir_all(&between).map_err(failed)?;
        let notes = ordered
            .notes
            .into_iter()
            .chain(fixed.notes.into_iter().filter(|note| note != program_copy::NOTE))
            .collect();
        Ok(Built { run: fixed.run, notes, ..ordered })
    }
}
