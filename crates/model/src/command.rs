use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What to launch: resolved once, then launched as it stands, without a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// The program as the user wrote it, followed by its arguments.
    pub argv: Vec<String>,
    /// The file that is executed: `argv[0]` searched along `PATH`.
    pub program: PathBuf,
    /// Working directory; the launcher's own where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// Environment variables set (`Some`) or removed (`None`) for the launch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<(String, Option<String>)>,
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
        let set = |(name, value): &(String, Option<String>)| {
            value.as_ref().map(|value| format!("{name}={}", quoted(value)))
        };
        words.extend(self.environment.iter().filter_map(set));
        words.extend(self.argv.iter().map(|word| quoted(word)));
        words.join(" ")
    }
}

/// Quoted for a POSIX shell where it has to be.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./=:,+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_part_of_the_line() {
        let mut command = Command {
            argv: vec!["git".to_owned()],
            program: PathBuf::new(),
            directory: None,
            environment: vec![("A".to_owned(), Some("x y".to_owned()))],
        };
        assert_eq!(command.line(), "A='x y' git");
        command.environment.push(("B".to_owned(), None));
        assert_eq!(command.line(), "env -u B A='x y' git");
    }

    #[test]
    fn the_line_can_be_typed_into_a_shell() {
        let argv = ["emacs", "--eval", "(message \"it's\")", "", "a=b", "$HOME", "~"];
        let command = Command {
            argv: argv.iter().map(|word| word.to_string()).collect(),
            program: PathBuf::new(),
            directory: None,
            environment: Vec::new(),
        };
        let line = r#"emacs --eval '(message "it'\''s")' '' a=b '$HOME' '~'"#;
        assert_eq!(command.line(), line);
    }
}
