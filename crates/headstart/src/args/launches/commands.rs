//! From words on the command line to commands that can be launched.

use crate::exit::Usage;
use anyhow::Result;
use lab::command_line::{self, CommandLineError};
use model::Command;
use os::LaunchError;
use std::ffi::{OsStr, OsString};

/// The command of `measure` and `explain`: words as they stand. A single word with spaces that is
/// no file is split as a shell would.
pub fn one_command<Word: AsRef<OsStr>>(words: &[Word]) -> Result<Command> {
    one_command_found(words, os::program::resolve)
}

/// [`one_command`] whose program is found by `find`, which gets it with its arguments.
pub fn one_command_found<Word: AsRef<OsStr>>(
    words: &[Word],
    find: fn(&[OsString]) -> Result<Command, LaunchError>,
) -> Result<Command> {
    if let Some(first) = words.first() {
        no_option(first.as_ref())?;
    }
    let words = words.iter().map(|word| word.as_ref().to_owned()).collect();
    command_line::one_command_found(words, find).map_err(usage)
}

/// A word in the place of a program that looks like an option is a mistake.
pub fn no_option(word: &OsStr) -> Result<()> {
    if !word.as_encoded_bytes().starts_with(b"-") {
        return Ok(());
    }
    let option = word.to_string_lossy();
    Err(Usage(format!(
        "there is no option '{option}' (see --help); \
         if it is the program's name, write: ./{option}"
    ))
    .into())
}

/// Words that are no command are a mistake of the command line.
pub fn usage(error: CommandLineError) -> anyhow::Error {
    match error {
        CommandLineError::Launch(error) => error.into(),
        other => Usage(other.to_string()).into(),
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    fn words(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn lines_are_split_and_variables_set() {
        let command = one_command(&words(&["A=1 B_2='x y' sh -c 'exit 0'"])).unwrap();
        assert_eq!(command.argv, ["sh", "-c", "exit 0"]);
        let pair = |name: &str, value: &str| (name.to_owned(), Some(value.into()));
        assert_eq!(command.environment, [pair("A", "1"), pair("B_2", "x y")]);
        let command = one_command(&words(&["sh", "-c", "a b", "C=d"])).unwrap();
        assert_eq!(command.argv, ["sh", "-c", "a b", "C=d"]);
        assert!(command.environment.is_empty());
    }

    #[test]
    fn a_mistyped_option_is_no_program() {
        let error = one_command(&words(&["--rusn", "5", "sh"])).unwrap_err();
        assert!(error.is::<Usage>() && error.to_string().contains("--rusn"), "{error}");
    }

    #[test]
    fn mistakes_are_usage_errors() {
        for line in ["sh -c 'x", "ls | sort", "A=1 B=2", "ls > f"] {
            let error = one_command(&words(&[line])).unwrap_err();
            assert!(error.is::<Usage>(), "{line:?}: {error}");
        }
    }

    #[test]
    fn words_need_not_be_utf8() {
        let line = OsStr::from_bytes(b"A=\xff sh -c 'exit \xe9'");
        let command = one_command(&[line.to_owned()]).unwrap();
        assert_eq!(command.argv[2], OsStr::from_bytes(b"exit \xe9"));
        assert_eq!(command.environment[0].1.as_deref(), Some(OsStr::from_bytes(b"\xff")));
    }
}
