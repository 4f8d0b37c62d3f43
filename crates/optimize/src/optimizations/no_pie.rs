//! The program at a fixed address, its base random for every copy.

use super::program_copy;
use crate::{Built, NotBuilt, Program};
use rewrite::no_pie;
use std::path::Path;

/// The program at a fixed address, its base random for every copy.
///
/// # Errors
/// As [`Build`](crate::Build).
pub fn build(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    no_pie::refuse_privileged(files::privilege(&program.file))?;
    let image = program_copy::opened(program)?;
    let random = no_pie::random();
    let base = no_pie::base(&image, random);
    program_copy::write(program, folder, no_pie::fix(&image, base, program.file.parent())?)
}
