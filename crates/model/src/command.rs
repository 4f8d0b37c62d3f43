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
        let words: Vec<String> = self.argv.iter().map(|word| quoted(word)).collect();
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
