//! The program's relative relocations packed.

use super::program_copy;
use crate::{Built, NotBuilt, Program};
use std::path::Path;

/// The program's relative relocations packed.
///
/// # Errors
/// As [`Build`](crate::Build).
pub fn build(program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
    let image = program_copy::opened(program)?;
    program_copy::write(program, folder, rewrite::relr::pack(&image, program.file.parent())?)
}
