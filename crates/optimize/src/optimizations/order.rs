//! A program that asks for its libraries in the order in which look-ups end soonest.

use crate::{Built, MadeOf, NotBuilt, Program};
use rewrite::WriteTo;
use rewrite::order_needed::order_needed;
use std::path::Path;

/// All libraries asked for by the program itself, in the best order.
///
/// # Errors
/// As [`Build`](crate::Build).
pub fn build(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    let run = folder.join(program.path.file_name().unwrap_or_default());
    let written = order_needed(&program.file, WriteTo::New(&run), false)?;
    let mut notes: Vec<String> = written.counts.note().into_iter().collect();
    notes.push(
        "The program is a copy, and its order was verified with the present libraries. \
         Nothing is checked at start: after an upgrade of any of them, verifying this folder \
         reports it; then make it again."
            .to_owned(),
    );
    let (replaced, made_of) = (vec![program.file.clone()], MadeOf::Closure);
    Ok(Built { run, replaced, made_of, notes, ..Built::default() })
}
