//! What runs the images that headstart generates.

mod failures;
mod launches;

use crate::LabError;
pub use failures::ChanceFailures;
use model::{Command, Format};
use os::wine::Wine;
use std::path::Path;

/// What launches images of a format.
pub enum Runner {
    /// The system's own.
    System,
    /// Wine's, for PE files; it is ready as long as this value lives.
    Wine(Wine),
}

impl Runner {
    /// The runner for `format`; Wine's server runs on `cpu`.
    ///
    /// # Errors
    /// Wine is needed, and missing or not usable.
    pub fn for_format(format: Format, cpu: Option<u32>) -> Result<Runner, LabError> {
        Ok(match format {
            Format::Elf => Runner::System,
            Format::Pe => Runner::Wine(Wine::start(cpu)?),
        })
    }

    /// What launches the file `program`.
    ///
    /// # Errors
    /// It is not there, or the system cannot execute it.
    pub fn command(&self, program: &Path) -> Result<Command, LabError> {
        Ok(match self {
            Runner::System => os::program::resolve(&[program])?,
            Runner::Wine(wine) => wine.command(program),
        })
    }

    /// Whether it is what it was when the launches began.
    ///
    /// # Errors
    /// Somebody has ended Wine's server.
    pub fn check(&self) -> Result<(), LabError> {
        match self {
            Runner::System => Ok(()),
            Runner::Wine(wine) => Ok(wine.check()?),
        }
    }

    /// Nothing has failed yet.
    pub fn failures(&self) -> ChanceFailures {
        ChanceFailures::new(matches!(self, Runner::Wine(_)))
    }

    /// `ELF`, `PE under wine-8.0`.
    pub fn words(&self) -> String {
        match self {
            Runner::System => "ELF".to_owned(),
            Runner::Wine(wine) => format!("PE under {}", wine.version()),
        }
    }
}
