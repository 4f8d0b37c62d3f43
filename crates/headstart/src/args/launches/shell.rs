//! Lines and the shells that run them.

use super::commands::usage;
use crate::exit::Usage;
use anyhow::Result;
use lab::command_line::{assignment, from_line, from_words};
use model::Command;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The shell of lines that need one.
const DEFAULT: &str = "sh";

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
    /// Run every line with this shell: 'default' means sh, 'none' means no shell. Without this
    /// option, only lines that need a shell are run with sh
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
            Some("default") => vec![DEFAULT.to_owned()],
            Some(line) => shlex::split(line).unwrap_or_default(),
        };
        if words.iter().all(String::is_empty) {
            let text = "--shell names no shell; write for example --shell bash";
            return Err(Usage(text.to_owned()).into());
        }
        Ok(Shell::Given(words.into_iter().map(OsString::from).collect()))
    }
}

impl Shell {
    /// The command of a line, and whether a shell runs it.
    pub fn command(&self, line: &OsStr) -> Result<(Command, bool)> {
        if line.as_bytes().trim_ascii().is_empty() {
            return Err(Usage("a command is empty; name a program".to_owned()).into());
        }
        let by = |shell: &[OsString]| {
            let words = [shell, &["-c".into(), line.to_owned()]].concat();
            Ok((os::program::resolve(&words)?, true))
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

/// Words of a shell's own that are no programs, or do nothing when they are.
const BUILT_IN: [&str; 28] = [
    "!", ".", ":", "alias", "break", "case", "cd", "command", "eval", "exec", "exit", "export",
    "for", "hash", "if", "read", "readonly", "return", "set", "shift", "source", "times", "trap",
    "type", "ulimit", "umask", "unset", "while",
];

/// Whether the line has something outside of quotation marks that only a shell understands.
fn needs_shell(line: &OsStr) -> bool {
    let first = first_word(line);
    if BUILT_IN.iter().any(|word| first == *word) {
        return true;
    }
    let mut bytes = line.as_bytes().iter().copied();
    let (mut quote, mut before) = (None, b' ');
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(b'\''), b'\'') | (Some(b'"'), b'"') => quote = None,
            (Some(b'\''), _) => {}
            (_, b'\\') => drop(bytes.next()),
            (_, b'$' | b'`') => return true,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'|' | b'&' | b';' | b'<' | b'>' | b'(' | b')' | b'*' | b'?' | b'[' | b'\n') => {
                return true;
            }
            (None, b'~' | b'#') if before.is_ascii_whitespace() => return true,
            (None, _) => {}
        }
        before = byte;
    }
    false
}

/// The program of a line, behind the variables that it sets.
pub fn first_word(line: &OsStr) -> String {
    let words = shlex::bytes::split(line.as_bytes()).unwrap_or_default();
    let is_variable = |word: &&Vec<u8>| assignment(OsStr::from_bytes(word)).is_some();
    let first = words.iter().find(|word| !is_variable(word));
    first.map_or(String::new(), |word| String::from_utf8_lossy(word).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_need_a_shell() {
        for line in [
            "ls | sort",
            "ls|sort",
            "a; b",
            "a && b",
            "a & b",
            "a > f",
            "a 2>&1",
            "a <f",
            "echo $HOME",
            "echo \"$HOME\"",
            "echo `a`",
            "ls *.c",
            "ls ?",
            "ls [ab]",
            "(a)",
            "ls ~",
            "a # b",
            "a\nb",
            "exit 3",
            "A=1 cd /",
            ": x",
            "sleep $((2**3))",
        ] {
            assert!(needs_shell(OsStr::new(line)), "{line}");
        }
        for line in [
            "ls -l",
            "sh -c 'a | b; c $d'",
            r"echo \$HOME \| x",
            "echo a~b c#d",
            "A=1 ls",
            "echo '*'",
            "echo \"a|b\"",
            "python3 -c 'print([1])'",
            "sh -c :",
            "echo {x}",
        ] {
            assert!(!needs_shell(OsStr::new(line)), "{line}");
        }
    }

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
