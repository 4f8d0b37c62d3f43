//! What loads the images that headstart generates.

use anyhow::Result;
use model::{Command, Format};
use os::wine::Wine;
use std::path::Path;

/// The loader of a format.
pub enum Loader {
    /// The system's own.
    System,
    /// Wine's, for PE files; it is ready as long as this value lives.
    Wine(Wine),
}

impl Loader {
    /// The loader for `format`; Wine's server runs on `cpu`.
    ///
    /// # Errors
    /// Wine is needed, and missing or not usable.
    pub fn of(format: Format, cpu: Option<u32>) -> Result<Loader> {
        Ok(match format {
            Format::Elf => Loader::System,
            Format::Pe => Loader::Wine(Wine::start(cpu)?),
        })
    }

    /// What launches the file `program`.
    ///
    /// # Errors
    /// It is not there, or the system cannot execute it.
    pub fn command(&self, program: &Path) -> Result<Command> {
        Ok(match self {
            Loader::System => os::program::resolve(&[program.display().to_string()])?,
            Loader::Wine(wine) => wine.command(program),
        })
    }

    /// Whether it is what it was when the launches began.
    ///
    /// # Errors
    /// Somebody has ended Wine's server.
    pub fn check(&self) -> Result<()> {
        match self {
            Loader::System => Ok(()),
            Loader::Wine(wine) => Ok(wine.check()?),
        }
    }

    /// `ELF`, `PE under wine-8.0`.
    pub fn words(&self) -> String {
        match self {
            Loader::System => "ELF".to_owned(),
            Loader::Wine(wine) => format!("PE under {}", wine.version()),
        }
    }
}
