//! What runs the images that headstart generates.

mod failures;
mod launches;

use crate::LabError;
pub use failures::ChanceFailures;
use model::{Command, Format};
#[cfg(target_os = "linux")]
use os::wine::Wine;
use std::path::Path;

/// What launches images of a format.
pub enum Runner {
    /// The system's own.
    System,
    /// Wine's, for PE files; it is ready as long as this value lives.
    #[cfg(target_os = "linux")]
    Wine(Wine),
}

impl Runner {
    /// Format of the images that the system itself launches.
    pub const OWN: Format = if cfg!(windows) { Format::Pe } else { Format::Elf };

    /// The runner for `format`; Wine's server runs on `cpu`.
    ///
    /// # Errors
    /// Wine is needed, and missing or not usable.
    #[cfg(target_os = "linux")]
    pub fn for_format(format: Format, cpu: Option<u32>) -> Result<Runner, LabError> {
        Ok(match format {
            Format::Elf => Runner::System,
            Format::Pe => Runner::Wine(Wine::start(cpu)?),
        })
    }

    /// The runner for `format`.
    ///
    /// # Errors
    /// Programs of this format are those of another system.
    #[cfg(windows)]
    pub fn for_format(format: Format, _cpu: Option<u32>) -> Result<Runner, LabError> {
        match format {
            Format::Pe => Ok(Runner::System),
            Format::Elf => {
                let why = "ELF images are programs of Linux and cannot be launched on Windows: choose PE, or \
                           use headstart on Linux";
                Err(LabError::Unsuitable(why.to_owned()))
            }
        }
    }

    /// What launches the file `program`.
    ///
    /// # Errors
    /// It is not there, or the system cannot execute it.
    pub fn command(&self, program: &Path) -> Result<Command, LabError> {
        Ok(match self {
            Runner::System => os::program::resolve(&[program])?,
            #[cfg(target_os = "linux")]
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
            #[cfg(target_os = "linux")]
            Runner::Wine(wine) => Ok(wine.check()?),
        }
    }

    /// Nothing has failed yet.
    pub fn failures(&self) -> ChanceFailures {
        ChanceFailures::new(self.wine().is_some())
    }

    /// The Wine whose loader loads the images, where it is one: `wine-8.0`.
    pub fn wine(&self) -> Option<String> {
        match self {
            Runner::System => os::host::wine(),
            #[cfg(target_os = "linux")]
            Runner::Wine(wine) => Some(wine.version().to_owned()),
        }
    }

    /// `ELF`, `PE under wine-8.0`.
    pub fn words(&self) -> String {
        let format = match (self, Runner::OWN) {
            (Runner::System, Format::Elf) => "ELF",
            _ => "PE",
        };
        match self.wine() {
            Some(wine) => format!("{format} under {wine}"),
            None => format.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_own_images_are_launched_as_they_are() {
        let runner = Runner::for_format(Runner::OWN, None).unwrap();
        assert!(matches!(runner, Runner::System));
        let own = std::env::current_exe().unwrap();
        let command = runner.command(&own).unwrap();
        assert_eq!((command.argv.len(), &*command.program), (1, &*own));
    }

    #[cfg(windows)]
    #[test]
    fn no_program_of_linux_is_launched() {
        let Err(error) = Runner::for_format(Format::Elf, None) else { panic!("there is one") };
        assert!(matches!(&error, LabError::Unsuitable(why) if why.contains("programs of Linux")));
        let words = Runner::System.words();
        assert!(words == "PE" || words.starts_with("PE under wine-"), "{words}");
    }
}
