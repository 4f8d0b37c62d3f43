//! Windows programs under Wine: a launcher of PE files that runs on Linux.
//!
//! Wine's server is started beforehand and stays, so that a launch is a program's own work: a
//! tenth of the time that it takes with a server of its own. The prefix is a temporary one; the
//! user's `~/.wine` is never touched. Nothing is left running and nothing is left on disk, also
//! where headstart is killed.

mod error;
mod find;
mod keeper;
mod output;
mod prefix;

pub use error::WineError;
pub use find::Installation;

use keeper::{Keeper, Plan};
use model::Command;
use prefix::{Contents, Prefix};
use std::ffi::OsString;
use std::path::Path;

/// A program of Wine's own that ends at once.
const FIRST: &str = "hostname.exe";

/// The variable that chooses a prefix.
pub const PREFIX: &str = "WINEPREFIX";
/// The variable that chooses what Wine says.
const DEBUG: &str = "WINEDEBUG";
/// Wine says nothing but what it misses for a program.
const MISSING_LIBRARIES: &str = "-all,err+module";

/// Wine with a prefix and a server of its own, which end with this value.
pub struct Wine {
    installation: Installation,
    /// Ends before the prefix goes.
    keeper: Keeper,
    prefix: Prefix,
}

/// Whether a command is one of Wine's own programs.
pub fn is_launched_by(command: &Command) -> bool {
    let name = command.program.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("wine"))
        || command.argv.first().is_some_and(|word| word == "wine64")
}

impl Wine {
    /// Makes Wine ready to launch programs, its server on `cpu`; takes a quarter of a second. It
    /// ends with the calling thread.
    ///
    /// # Errors
    /// Wine is not there or does not work; the temporary folder cannot be written.
    pub fn start(cpu: Option<u32>) -> Result<Wine, WineError> {
        Self::start_with(Contents::Least, cpu)
    }

    /// [`Wine::start`] for programs that may load any of Wine's libraries: takes a second.
    ///
    /// # Errors
    /// The same.
    pub fn start_whole(cpu: Option<u32>) -> Result<Wine, WineError> {
        Self::start_with(Contents::All, cpu)
    }

    fn start_with(contents: Contents, cpu: Option<u32>) -> Result<Wine, WineError> {
        let installation = Installation::find()?;
        let prefix = Prefix::new();
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
            libraries: installation.libraries.clone(),
            contents,
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

    /// What launches the PE program of `command`, with its arguments, its variables and its
    /// folder. Wine says which library it does not find; a WINEDEBUG of the user's own is heeded.
    pub fn launching(&self, command: &Command) -> Command {
        let mut variables = environment(self.prefix.path());
        let own = |name: &str| command.environment.iter().any(|(other, _)| other == name);
        if std::env::var_os(DEBUG).is_some() || own(DEBUG) {
            variables.retain(|(name, _)| name != DEBUG);
        } else {
            let debug = variables.iter_mut().find(|(name, _)| name == DEBUG);
            debug.into_iter().for_each(|(_, value)| *value = Some(MISSING_LIBRARIES.into()));
        }
        // What is set for this launch alone goes before all others, but no other prefix.
        let set = command.environment.iter().filter(|(name, _)| name != PREFIX);
        variables.retain(|(name, _)| name == PREFIX || !own(name));
        variables.extend(set.cloned());
        self.installation.launching(&Command { environment: variables, ..command.clone() })
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
        [(DEBUG, "-all"), ("WINEDLLOVERRIDES", "mscoree=;mshtml=;winedbg.exe=d")];
    const REMOVED: [&str; 5] = ["DISPLAY", "WINEARCH", "WINEDLLPATH", "WINELOADER", "WINESERVER"];
    let set = SET.map(|(name, value)| (name.to_owned(), Some(value.into())));
    let removed = REMOVED.map(|name| (name.to_owned(), None));
    let prefix = (PREFIX.to_owned(), Some(prefix.as_os_str().to_owned()));
    [prefix].into_iter().chain(set).chain(removed).collect()
}

#[cfg(test)]
mod tests;
