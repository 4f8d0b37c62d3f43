//! What loads the images that headstart generates.

use anyhow::Result;
use lab::LabError;
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

    /// Nothing has failed yet.
    pub fn failures(&self) -> Failures {
        Failures { by_chance: matches!(self, Loader::Wine(_)), at: None, count: 0 }
    }

    /// `ELF`, `PE under wine-8.0`.
    pub fn words(&self) -> String {
        match self {
            Loader::System => "ELF".to_owned(),
            Loader::Wine(wine) => format!("PE under {}", wine.version()),
        }
    }
}

/// Launches that failed for no reason of their own: Wine 8.0 ends with exit code 1 and without a
/// word once in some thousands of launches of whatever program.
pub struct Failures {
    by_chance: bool,
    /// Launches that had been made before the latest one.
    at: Option<usize>,
    count: usize,
}

/// More than one launch in so many is no chance.
const RARE: usize = 100;

impl Failures {
    /// Whether to go on after `error`, with the launch that failed: not where that fails again,
    /// nor where it happens often.
    pub fn go_on(&mut self, error: &LabError, made: usize) -> bool {
        let by_chance = self.by_chance && matches!(error, LabError::Failed { .. });
        let again = self.at.replace(made) == Some(made);
        self.count += 1;
        by_chance && !again && self.count <= 1 + made / RARE
    }

    /// What a reader should know.
    pub fn note(&self) -> Option<String> {
        let launches = model::figures::plural(self.count as u64, "launch", "launches");
        (self.count > 0).then(|| {
            format!("{launches} failed by Wine's fault, did not when made again, and do not count.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ending;

    fn failed() -> LabError {
        let (command, output) = ("x".to_owned(), String::new());
        LabError::Failed { command, ending: Ending::Code(1), output }
    }

    #[test]
    fn rare_failures_of_wine_are_gone_on_from() {
        let none = || Failures { by_chance: true, at: None, count: 0 };
        let mut failures = none();
        assert_eq!(failures.note(), None);
        assert!(failures.go_on(&failed(), 50));
        assert!(failures.note().is_some_and(|note| note.starts_with("1 launch failed")));
        assert!(!failures.go_on(&failed(), 50), "the same launch fails again");
        let mut often = none();
        assert!(often.go_on(&failed(), 10) && !often.go_on(&failed(), 20));
        let mut rare = none();
        assert!(rare.go_on(&failed(), 10) && rare.go_on(&failed(), 110));
        assert!(!none().go_on(&LabError::Cold(String::new()), 10));
        assert!(!Loader::System.failures().go_on(&failed(), 10));
    }
}
