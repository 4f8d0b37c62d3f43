//! From words on the command line to commands that can be launched.

use crate::exit::Usage;
use anyhow::Result;
use model::Command;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The one command that is launched.
#[derive(Debug, clap::Args)]
pub struct CommandArgs {
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", required = true)]
    command: Vec<OsString>,
}

impl CommandArgs {
    /// The command, its program found.
    pub fn command(&self) -> Result<Command> {
        one_command(&self.command)
    }
}

/// The command of `measure` and `explain`: words as they stand. A single word with spaces that is
/// no file is split as a shell would.
pub fn one_command<Word: AsRef<OsStr>>(words: &[Word]) -> Result<Command> {
    let words: Vec<OsString> = words.iter().map(|word| word.as_ref().to_owned()).collect();
    if let Some(option) = words.first().filter(|word| word.as_bytes().starts_with(b"-")) {
        let option = option.to_string_lossy();
        return Err(Usage(format!(
            "there is no option '{option}' (see --help); \
             if it is the program's name, write: ./{option}"
        ))
        .into());
    }
    match words.as_slice() {
        [line] if is_line(line) => from_line(line).and_then(|command| without_shell(line, command)),
        _ => from_words(words),
    }
}

/// Whether the word is a line of several words: one with spaces that is no file.
pub fn is_line(word: &OsStr) -> bool {
    let has_space =
        word.as_bytes().utf8_chunks().any(|chunk| chunk.valid().contains(char::is_whitespace));
    has_space && !Path::new(word).exists()
}

/// One line of shell words, none of which is left to a shell: `NAME=value` words in front set
/// variables, and everything else is passed on as it stands.
pub fn from_line(line: &OsStr) -> Result<Command> {
    let Some(words) = shlex::bytes::split(line.as_bytes()) else {
        let line = line.to_string_lossy();
        return Err(Usage(format!("a quotation mark is missing in: {line}")).into());
    };
    from_words(words.into_iter().map(OsString::from_vec).collect())
}

/// The command, where the line has no word that only a shell understands.
fn without_shell(line: &OsStr, command: Command) -> Result<Command> {
    let operators = ["|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1"];
    let is_word = |operator: &&&str| command.argv.iter().any(|word| word == **operator);
    let Some(word) = operators.iter().find(is_word) else { return Ok(command) };
    let line = line.to_string_lossy();
    let quoted = shlex::try_quote(&line).unwrap_or_default();
    Err(Usage(format!(
        "'{word}' needs a shell, and this program is launched without one; \
         if it is meant, write: sh -c {quoted}"
    ))
    .into())
}

/// A program and its arguments, behind the variables that are set for it.
pub fn from_words(words: Vec<OsString>) -> Result<Command> {
    let environment: Vec<_> = words.iter().map_while(|word| assignment(word)).collect();
    let argv = &words[environment.len()..];
    if argv.is_empty() {
        return Err(Usage("a command is empty; name a program".to_owned()).into());
    }
    let mut command = os::program::resolve(argv)?;
    command.environment = environment;
    Ok(command)
}

/// `NAME=value`, as a shell would take it for a variable.
pub fn assignment(word: &OsStr) -> Option<(String, Option<OsString>)> {
    let bytes = word.as_bytes();
    let (name, value) = bytes.split_at(bytes.iter().position(|&byte| byte == b'=')?);
    let letters = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if !name.iter().all(letters) || name.first()?.is_ascii_digit() {
        return None;
    }
    let name = String::from_utf8(name.to_vec()).ok()?;
    Some((name, Some(OsStr::from_bytes(&value[1..]).to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

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
