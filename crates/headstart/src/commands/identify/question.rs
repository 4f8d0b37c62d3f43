//! What `--is` asks.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use model::{FileKind, Identity, Role, Runtime, Subsystem};

/// Something that a file is or is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Kind(FileKind),
    Role(Role),
    /// In any of the roles that can be started.
    Program,
    Subsystem(Subsystem),
    Runtime(Runtime),
}

impl Question {
    /// All there are; `unreadable` is no answer but an error.
    fn all() -> impl Iterator<Item = Question> {
        let kinds = FileKind::ALL.iter().filter(|&&kind| kind != FileKind::Unreadable);
        let kinds = kinds.map(|&kind| Question::Kind(kind));
        let roles = Role::ALL.iter().map(|&role| Question::Role(role));
        let subsystems = Subsystem::ALL.iter().map(|&system| Question::Subsystem(system));
        let runtimes = Runtime::ALL.iter().map(|&runtime| Question::Runtime(runtime));
        kinds.chain([Question::Program]).chain(roles).chain(subsystems).chain(runtimes)
    }

    /// As it is written on the command line and in JSON.
    fn word(self) -> &'static str {
        match self {
            Question::Kind(kind) => kind.word(),
            Question::Role(role) => role.word(),
            Question::Program => "program",
            Question::Subsystem(subsystem) => subsystem.word(),
            Question::Runtime(runtime) => runtime.word(),
        }
    }

    /// Reads the words.
    pub fn parser() -> impl TypedValueParser<Value = Question> {
        PossibleValuesParser::new(Question::all().map(Question::word)).try_map(|word| {
            Question::all().find(|question| question.word() == word).ok_or("is not a known kind")
        })
    }

    /// Whether the file is it.
    pub fn holds(self, file: &Identity) -> bool {
        match self {
            Question::Kind(kind) => file.kind == kind,
            Question::Role(role) => file.role == Some(role),
            Question::Program => file.role.is_some_and(Role::is_program),
            Question::Subsystem(subsystem) => file.subsystem == Some(subsystem),
            Question::Runtime(runtime) => file.runtimes.contains(&runtime),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_json_and_differ() {
        let mut words = Vec::new();
        for question in Question::all() {
            let written = match question {
                Question::Kind(kind) => serde_json::json!(kind),
                Question::Role(role) => serde_json::json!(role),
                Question::Program => serde_json::json!("program"),
                Question::Subsystem(subsystem) => serde_json::json!(subsystem),
                Question::Runtime(runtime) => serde_json::json!(runtime),
            };
            assert_eq!(written, question.word());
            words.push(question.word());
        }
        let count = words.len();
        words.sort();
        words.dedup();
        assert_eq!(words.len(), count);
    }
}
