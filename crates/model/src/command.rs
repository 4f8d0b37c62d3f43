//! A command to launch, resolved once.

use crate::quoting::quoted;
use crate::text;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::PathBuf;

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

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

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
        let bytes = |bytes: &[u8]| text::of_bytes(bytes.to_vec());
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
}
