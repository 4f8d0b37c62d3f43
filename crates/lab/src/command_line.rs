//! From words to commands that can be launched, without a shell.

mod host;

pub(crate) use host::quoted;
use host::words_of;
use model::{Command, text};
use os::LaunchError;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Why words are no command.
#[derive(Debug, thiserror::Error)]
pub enum CommandLineError {
    /// A quotation does not end.
    #[error("a quotation mark is missing in: {0}")]
    Quotation(String),
    /// There is no program in it.
    #[error("a command is empty; name a program")]
    Empty,
    /// Only a shell understands it.
    #[error(
        "'{word}' needs a shell, and this program is launched without one; \
         if it is meant, write: {} {quoted}",
        host::SHELL
    )]
    NeedsShell {
        /// The word that a shell would understand.
        word: String,
        /// The line, quoted for a shell.
        quoted: String,
    },
    /// The program cannot be launched.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// A command of words as they stand. A single word with spaces that is no file is split as a shell
/// would.
pub fn one_command(words: Vec<OsString>) -> Result<Command, CommandLineError> {
    one_command_found(words, os::program::resolve)
}

/// [`one_command`] whose program is found by `find`, which gets it with its arguments.
pub fn one_command_found(
    words: Vec<OsString>,
    find: fn(&[OsString]) -> Result<Command, LaunchError>,
) -> Result<Command, CommandLineError> {
    match words.as_slice() {
        [line] if is_line(line) => {
            from_words_found(split(line)?, find).and_then(|command| without_shell(line, command))
        }
        _ => from_words_found(words, find),
    }
}

/// Whether the word is a line of several words: one with spaces that is no file.
pub fn is_line(word: &OsStr) -> bool {
    let has_space = word
        .as_encoded_bytes()
        .utf8_chunks()
        .any(|chunk| chunk.valid().contains(char::is_whitespace));
    has_space && !Path::new(word).exists()
}

/// One line of shell words, none of which is left to a shell: `NAME=value` words in front set
/// variables, and everything else is passed on as it stands.
pub fn from_line(line: &OsStr) -> Result<Command, CommandLineError> {
    from_words(split(line)?)
}

/// The words of a line, as a shell would split it.
fn split(line: &OsStr) -> Result<Vec<OsString>, CommandLineError> {
    let no_end = || CommandLineError::Quotation(line.to_string_lossy().into_owned());
    words(line).ok_or_else(no_end)
}

/// The command, where the line has no word that only a shell understands.
fn without_shell(line: &OsStr, command: Command) -> Result<Command, CommandLineError> {
    let operators = ["|", "||", "&&", "&", ";", ">", ">>", "<", "2>&1"];
    let is_word = |operator: &&&str| command.argv.iter().any(|word| word == **operator);
    let Some(word) = operators.iter().find(is_word) else { return Ok(command) };
    let line = line.to_string_lossy();
    let quoted = quoted(&line);
    Err(CommandLineError::NeedsShell { word: (*word).to_owned(), quoted })
}

/// The words of a line, as programs of the host take them; `None` where a quotation does not end.
pub fn words(line: &OsStr) -> Option<Vec<OsString>> {
    words_of(line)
}

/// A program and its arguments, behind the variables that are set for it.
pub fn from_words(words: Vec<OsString>) -> Result<Command, CommandLineError> {
    from_words_found(words, os::program::resolve)
}

fn from_words_found(
    words: Vec<OsString>,
    find: fn(&[OsString]) -> Result<Command, LaunchError>,
) -> Result<Command, CommandLineError> {
    let environment: Vec<_> = words.iter().map_while(|word| assignment(word)).collect();
    let argv = &words[environment.len()..];
    if argv.is_empty() {
        return Err(CommandLineError::Empty);
    }
    let mut command = find(argv)?;
    command.environment = environment;
    Ok(command)
}

/// `NAME=value`, as a shell would take it for a variable.
pub fn assignment(word: &OsStr) -> Option<(String, Option<OsString>)> {
    let bytes = word.as_encoded_bytes();
    let (name, value) = bytes.split_at(bytes.iter().position(|&byte| byte == b'=')?);
    let letters = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    if !name.iter().all(letters) || name.first()?.is_ascii_digit() {
        return None;
    }
    let name = String::from_utf8(name.to_vec()).ok()?;
    Some((name, Some(text::of_bytes(value[1..].to_vec()))))
}
