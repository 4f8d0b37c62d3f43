//! Lines and the shells that run them.

#[cfg(unix)]
mod posix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use posix as host;
#[cfg(windows)]
use windows as host;

use super::commands::usage;
use crate::exit::Usage;
use anyhow::Result;
pub use host::DEFAULT;
use host::EXAMPLE;
use host::{needs_shell, of_shell, variables};
use lab::command_line::{self, assignment, from_line, from_words};
use model::Command;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// A variable and what it is set to.
pub type SetVariable = (String, Option<OsString>);

/// What runs the lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shell {
    /// The line is the words of a program; a shell where it cannot be.
    AsNeeded,
    /// Never a shell.
    None,
    /// This one, whatever the line.
    Given(Vec<OsString>),
}

/// `-S` and `-N`, as hyperfine has them.
#[derive(Debug, Default, clap::Args)]
pub struct ShellArgs {
    #[cfg_attr(
        not(windows),
        doc = "Run every line with this shell: 'default' means sh, 'none' means no shell. Without \
               this option, only lines that need a shell are run with sh"
    )]
    #[cfg_attr(
        windows,
        doc = "Run every line with this shell: 'default' means cmd, 'none' means no shell. Without \
               this option, only lines that need a shell are run with cmd"
    )]
    #[arg(short = 'S', long, value_name = "SHELL", overrides_with = "shell")]
    shell: Option<String>,
    /// Never run a shell: every line is a program and its arguments
    #[arg(short = 'N', conflicts_with = "shell")]
    no_shell: bool,
}

impl ShellArgs {
    /// Whether lines are to be run by a shell of the user's.
    pub fn is_given(&self) -> bool {
        self.shell.is_some()
    }

    /// What was asked for.
    pub fn shell(&self) -> Result<Shell> {
        let words = match self.shell.as_deref() {
            _ if self.no_shell => return Ok(Shell::None),
            None => return Ok(Shell::AsNeeded),
            Some("none") => return Ok(Shell::None),
            Some("default") => vec![DEFAULT.into()],
            Some(line) => command_line::words(OsStr::new(line)).unwrap_or_default(),
        };
        if words.iter().all(|word| word.is_empty()) {
            let text = format!("--shell names no shell; write for example --shell {EXAMPLE}");
            return Err(Usage(text).into());
        }
        Ok(Shell::Given(words))
    }
}

impl Shell {
    /// The command of a line, and whether a shell runs it.
    pub fn command(&self, line: &OsStr) -> Result<(Command, bool)> {
        if line.as_encoded_bytes().trim_ascii().is_empty() {
            return Err(Usage("a command is empty; name a program".to_owned()).into());
        }
        let by = |shell: &[OsString]| {
            let (environment, line) = variables(line);
            let command = os::program::resolve(&of_shell(shell, &line))?;
            Ok((Command { environment, ..command }, true))
        };
        match self {
            Shell::Given(words) => by(words),
            _ if Path::new(line).is_file() => {
                Ok((from_words(vec![line.to_owned()]).map_err(usage)?, false))
            }
            Shell::AsNeeded if needs_shell(line) => by(&[DEFAULT.into()]),
            Shell::AsNeeded | Shell::None => Ok((from_line(line).map_err(usage)?, false)),
        }
    }
}

/// The program of a line, behind the variables that it sets.
pub fn first_word(line: &OsStr) -> String {
    let words = command_line::words(line).unwrap_or_default();
    let first = words.iter().find(|word| assignment(word).is_none());
    first.map_or(String::new(), |word| word.to_string_lossy().into_owned())
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_are_words() {
        let shell =
            |text: &str| ShellArgs { shell: Some(text.to_owned()), no_shell: false }.shell();
        assert_eq!(shell("none").unwrap(), Shell::None);
        assert_eq!(shell("default").unwrap(), Shell::Given(vec!["sh".into()]));
        assert_eq!(
            shell("bash --norc").unwrap(),
            Shell::Given(vec!["bash".into(), "--norc".into()])
        );
        assert!(shell("").is_err() && shell("''").is_err());
        let (command, by_shell) = shell("sh -e").unwrap().command(OsStr::new("a | b")).unwrap();
        assert_eq!((command.line(), by_shell), ("sh -e -c 'a | b'".to_owned(), true));
        // Without a shell all words are the program's own.
        let (command, by_shell) = Shell::None.command(OsStr::new("sh a | b")).unwrap();
        assert_eq!((command.argv.len(), by_shell), (4, false));
        assert!(Shell::AsNeeded.command(OsStr::new(" ")).is_err());
    }
}
