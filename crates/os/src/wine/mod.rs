//! Windows programs under Wine: a launcher of PE files that runs on Linux.
//!
//! Wine's server is started beforehand and stays, so that a launch is a program's own work: a
//! tenth of the time that it takes with a server of its own. The prefix is a temporary one; the
//! user's `~/.wine` is never touched. Nothing is left running and nothing is left on disk, also
//! where headstart is killed.

mod error;
mod find;
mod keeper;
mod prefix;

pub use error::WineError;
pub use find::Installation;

use keeper::{Keeper, Plan};
use model::Command;
use std::ffi::OsString;
use std::path::Path;
use tempfile::TempDir;

/// A program of Wine's own that ends at once.
const FIRST: &str = "hostname.exe";

/// Wine with a prefix and a server of its own, which end with this value.
pub struct Wine {
    installation: Installation,
    /// Ends before the prefix goes.
    keeper: Keeper,
    prefix: TempDir,
}

impl Wine {
    /// Makes Wine ready to launch programs, its server on `cpu`; takes a quarter of a second. It
    /// ends with the calling thread.
    ///
    /// # Errors
    /// Wine is not there or does not work; the temporary folder cannot be written.
    pub fn start(cpu: Option<u32>) -> Result<Wine, WineError> {
        let installation = Installation::find()?;
        let prefix = prefix::make(&installation.libraries)?;
        let environment = environment(prefix.path());
        let command = |program: &Path, words: &[OsString]| Command {
            argv: [&[program.into()], words].concat(),
            program: program.to_owned(),
            directory: None,
            environment: environment.clone(),
        };
        let first = installation.libraries.join(FIRST).into_os_string();
        let plan = Plan {
            server: command(&installation.server, &["-f".into(), "-p".into()]),
            first: command(&installation.loader, &[first]),
            prefix: prefix.path().to_owned(),
            cpu,
        };
        let keeper = Keeper::start(&plan)?;
        Ok(Wine { installation, keeper, prefix })
    }

    /// What launches the PE file `program`.
    pub fn command(&self, program: &Path) -> Command {
        Command {
            argv: vec!["wine64".into(), program.into()],
            program: self.installation.loader.clone(),
            directory: None,
            environment: environment(self.prefix.path()),
        }
    }

    /// Whether the server is there that [`Wine::start`] has started.
    ///
    /// # Errors
    /// Somebody has ended it: programs launched since then had to start another one each, and
    /// their times are of something else.
    pub fn check(&self) -> Result<(), WineError> {
        if self.keeper.is_alive() { Ok(()) } else { Err(WineError::ServerGone) }
    }

    /// `wine-8.0`.
    pub fn version(&self) -> &str {
        &self.installation.version
    }
}

/// Variables of Wine's programs: no messages, nobody asked to install anything, no window, and
/// nothing that leads to another Wine.
fn environment(prefix: &Path) -> Vec<(String, Option<OsString>)> {
    const SET: [(&str, &str); 2] =
        [("WINEDEBUG", "-all"), ("WINEDLLOVERRIDES", "mscoree=;mshtml=;winedbg.exe=d")];
    const REMOVED: [&str; 5] = ["DISPLAY", "WINEARCH", "WINEDLLPATH", "WINELOADER", "WINESERVER"];
    let set = SET.map(|(name, value)| (name.to_owned(), Some(value.into())));
    let removed = REMOVED.map(|name| (name.to_owned(), None));
    let prefix = ("WINEPREFIX".to_owned(), Some(prefix.as_os_str().to_owned()));
    [prefix].into_iter().chain(set).chain(removed).collect()
}

#[cfg(test)]
mod tests;
