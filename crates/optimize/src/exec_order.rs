//! A program at fixed addresses whose libraries are asked in a better order.

use crate::exec::Exec;
use crate::order_needed::Order;
use crate::{Built, Declined, Optimisation, Program};
use std::path::Path;

/// Folder for the program with one change.
const BETWEEN: &str = ".ordered";

/// Both changes of the program's own file.
pub struct ExecAndOrder;

impl Optimisation for ExecAndOrder {
    fn name(&self) -> &'static str {
        "exec + order"
    }

    fn keeps_aslr(&self) -> bool {
        false
    }

    fn build(&self, program: &Program, folder: &Path) -> Result<Built, Declined> {
        let between = folder.join(BETWEEN);
        let failed = |error: std::io::Error| Declined(format!("{}: {error}", between.display()));
        std::fs::create_dir(&between).map_err(failed)?;
        let ordered = Order.build(program, &between)?;
        let changed = Program { path: program.path.clone(), file: ordered.run.clone() };
        let fixed = Exec.build(&changed, folder)?;
        std::fs::remove_dir_all(&between).map_err(failed)?;
        let notes = ordered.notes.into_iter().chain(fixed.notes).collect();
        Ok(Built { run: fixed.run, notes, ..ordered })
    }
}
