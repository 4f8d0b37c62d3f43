//! A program with private copies of its libraries, in which each binds its own symbols to itself.

use crate::{Built, MadeOf, NotBuilt, Program};
use rewrite::selfbind::{self, LibraryChoice};
use std::path::Path;

/// Private libraries whose own symbols are not looked up, in the best order.
///
/// # Errors
/// As [`Build`](crate::Build).
pub fn build(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    let bound = selfbind::program(&program.path, folder, &LibraryChoice::default())?;
    let replaced = bound.private.iter().cloned().chain([program.file.clone()]).collect();
    let mut notes: Vec<String> = bound.ordered.note().into_iter().collect();
    notes.push(format!(
        "{} libraries are private copies, and nothing is checked at start: after an upgrade \
         of any of them, the program still uses the copies. Verifying this folder reports it; \
         then make it again.",
        bound.private.len()
    ));
    let stands_for = bound.copies.into_iter().zip(bound.private).collect();
    let (made_of, must_stay) = (MadeOf::Closure, true);
    let run = bound.run;
    Ok(Built { run, replaced, stands_for, made_of, must_stay, notes, ..Built::default() })
}
