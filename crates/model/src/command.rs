//! A command to launch, resolved once.

use crate::text;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// What to launch: resolved once, then launched as it stands, without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program as the user wrote it, followed by its arguments.
    #[serde(with = "text::list")]
    pub argv: Vec<OsString>,
    /// The file that is executed: `argv[0]` searched along `PATH`.
    #[serde(with = "text::one")]
    pub program: PathBuf,
    /// Working directory; the launcher's own where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "text::optional")]
    pub directory: Option<PathBuf>,
    /// Environment variables set (`Some`) or removed (`None`) for the launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty", with = "text::variables")]
    pub environment: Vec<(String, Option<OsString>)>,
}

impl Command {
    /// The command as one would type it into a shell.
    pub fn line(&self) -> String {
        let mut words = Vec::new();
        if self.environment.iter().any(|(_, value)| value.is_none()) {
            words.push("env".to_owned());
        }
        // env(1) takes its options before the variables that it sets.
        let removed = self.environment.iter().filter(|(_, value)| value.is_none());
        words.extend(removed.map(|(name, _)| format!("-u {}", quoted(name))));
        let set = |(name, value): &(String, Option<OsString>)| {
            value.as_ref().map(|value| format!("{name}={}", quoted(value)))
        };
        words.extend(self.environment.iter().filter_map(set));
        words.extend(self.argv.iter().map(quoted));
        words.join(" ")
    }

    /// The program as the user wrote it, for messages.
    pub fn name(&self) -> String {
        self.argv.first().map_or(String::new(), |name| name.to_string_lossy().into_owned())
    }
}

/// Quoted for a POSIX shell where it has to be.
pub fn quoted(word: impl AsRef<OsStr>) -> String {
    let word = word.as_ref();
    let Some(word) = word.to_str().filter(|word| !word.contains(char::is_control)) else {
        return in_bytes(word);
    };
    let plain = |c: char| c.is_alphanumeric() || "_-./=:,+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The words of a line that consists of words as [`quoted`] writes them; `None` where it does not.
pub fn words(line: &str) -> Option<Vec<OsString>> {
    let mut words = Vec::new();
    let mut rest = line.trim_start_matches(' ');
    while !rest.is_empty() {
        let mut word = Vec::new();
        while !rest.is_empty() && !rest.starts_with(' ') {
            rest = piece(rest, &mut word)?;
        }
        words.push(OsString::from_vec(word));
        rest = rest.trim_start_matches(' ');
    }
    Some(words)
}

/// Adds the first piece of a line to a word, and gives what is behind it.
fn piece<'a>(line: &'a str, word: &mut Vec<u8>) -> Option<&'a str> {
    if let Some(quoted) = line.strip_prefix("$'") {
        return escaped(quoted, word);
    }
    if let Some(quoted) = line.strip_prefix('\'') {
        let (text, rest) = quoted.split_once('\'')?;
        word.extend_from_slice(text.as_bytes());
        return Some(rest);
    }
    let (letter, behind) = match line.strip_prefix('\\') {
        Some(line) => (line.chars().next()?, line),
        None => (line.chars().next()?, line),
    };
    word.extend_from_slice(letter.to_string().as_bytes());
    behind.get(letter.len_utf8()..)
}

/// The same of what is in `$'…'`.
fn escaped<'a>(quoted: &'a str, word: &mut Vec<u8>) -> Option<&'a str> {
    let mut rest = quoted;
    loop {
        let letter = rest.chars().next()?;
        rest = rest.get(letter.len_utf8()..)?;
        match letter {
            '\'' => return Some(rest),
            '\\' if rest.starts_with(['\\', '\'']) => {
                word.extend_from_slice(rest.get(..1)?.as_bytes());
                rest = rest.get(1..)?;
            }
            '\\' => {
                word.push(u8::from_str_radix(rest.get(..3)?, 8).ok()?);
                rest = rest.get(3..)?;
            }
            letter => word.extend_from_slice(letter.to_string().as_bytes()),
        }
    }
}

/// A path quoted for a POSIX shell, and never taken for an option.
pub fn quoted_path(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    match path.as_os_str().as_encoded_bytes().starts_with(b"-") {
        true => quoted(Path::new(".").join(path)),
        false => quoted(path),
    }
}

/// A word that cannot be printed, as `$'…'` (POSIX.1-2024, 2.2.4): bytes that are no text, and
/// control characters, by number.
fn in_bytes(word: &OsStr) -> String {
    let mut quoted = "$'".to_owned();
    // Three octal digits, so that no digit that follows is taken for one of it.
    let number = |byte: &u8| format!(r"\{byte:03o}");
    for chunk in word.as_bytes().utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\\' | '\'' => quoted.extend(['\\', c]),
                c if c.is_control() => quoted.extend(c.to_string().as_bytes().iter().map(number)),
                c => quoted.push(c),
            }
        }
        quoted.extend(chunk.invalid().iter().map(number));
    }
    quoted + "'"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_quoted_is_read_back() {
        let hard: [&[u8]; 8] = [
            b"plain",
            b"",
            b"two words",
            b"it's",
            b"a\nb\t'c' \\ 1",
            b"\xff\xfe7",
            "gr\u{fc}n 'x'".as_bytes(),
            b"$'a",
        ];
        let hard: Vec<OsString> =
            hard.iter().map(|word| OsString::from_vec(word.to_vec())).collect();
        let line: Vec<String> = hard.iter().map(quoted).collect();
        assert_eq!(words(&line.join(" ")), Some(hard));
        assert_eq!(words(""), Some(Vec::new()));
        for wrong in ["'open", "$'open", "$'\\9'", "\\"] {
            assert_eq!(words(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn variables_are_part_of_the_line() {
        let mut command = Command {
            argv: vec!["git".into()],
            program: PathBuf::new(),
            directory: None,
            environment: vec![("A".to_owned(), Some("x y".into()))],
        };
        assert_eq!(command.line(), "A='x y' git");
        command.environment.push(("B".to_owned(), None));
        assert_eq!(command.line(), "env -u B A='x y' git");
    }

    #[test]
    fn the_line_can_be_typed_into_a_shell() {
        let argv = ["emacs", "--eval", "(message \"it's\")", "", "a=b", "$HOME", "~"];
        let command = Command {
            argv: argv.iter().map(OsString::from).collect(),
            program: PathBuf::new(),
            directory: None,
            environment: Vec::new(),
        };
        let line = r#"emacs --eval '(message "it'\''s")' '' a=b '$HOME' '~'"#;
        assert_eq!(command.line(), line);
    }

    #[test]
    fn bytes_that_are_not_utf8_survive_json_and_the_shell() {
        let bytes = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
        let command = Command {
            argv: vec![bytes(b"/x/caf\xe9"), bytes(b"it's \\ \xff0")],
            program: bytes(b"/x/caf\xe9").into(),
            directory: Some(bytes(b"/\xfe").into()),
            environment: vec![
                ("A".to_owned(), Some(bytes(b"\x80"))),
                ("B".to_owned(), Some("plain".into())),
                ("C".to_owned(), None),
            ],
        };
        let json = serde_json::to_string(&command).unwrap();
        assert_eq!(serde_json::from_str::<Command>(&json).unwrap(), command);
        assert_eq!(command.line(), r"env -u C A=$'\200' B=plain $'/x/caf\351' $'it\'s \\ \3770'");
        // What runs kept by earlier versions hold, and ordinary names look like.
        let ordinary = r#"{"argv":["ls","-l"],"program":"/bin/ls","environment":[["A","x"]]}"#;
        let command: Command = serde_json::from_str(ordinary).unwrap();
        assert_eq!(command.argv, ["ls", "-l"]);
        assert_eq!(serde_json::to_string(&command).unwrap(), ordinary);
    }

    #[test]
    fn a_shell_reads_a_quoted_path_as_it_is() {
        let paths: [&[u8]; 5] =
            [b"/a b", b"/it's\n\xff1\\n", b"/\xc3\xa4'\xfe", b"/plain", b"a\tb\xc2\x851"];
        for bytes in paths {
            let quoted = quoted(OsStr::from_bytes(bytes));
            let script = format!("printf %s {quoted}");
            let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(output.stdout, bytes, "{quoted}");
            assert!(!quoted.contains(char::is_control), "{quoted:?}");
        }
    }

    #[test]
    fn a_path_is_no_option() {
        let quoted = ["-dash", "-it's", "plain", "/-", ""].map(quoted_path);
        assert_eq!(quoted, ["./-dash", r"'./-it'\''s'", "plain", "/-", "''"]);
    }
}
