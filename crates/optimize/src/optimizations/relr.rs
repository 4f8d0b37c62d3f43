//! The program's relative relocations packed.

use super::program_copy;
use crate::{Built, NotBuilt, Optimization, Program};
use std::path::Path;

/// The program's relative relocations packed.
pub struct Relr;

impl Optimization for Relr {
    fn name(&self) -> &'static str {
        "relr"
    }

    fn keeps_aslr(&self) -> bool {
        true
    }

    fn build(&self, program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
        let image = program_copy::opened(program)?;
        program_copy::write(program, folder, rewrite::relr::pack(&image, program.file.parent())?)
    }
}
