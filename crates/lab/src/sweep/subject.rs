//! What changes its size in a sweep: as words, and as a command for each size.

use super::workloads;
use crate::command_line::{CommandLineError, one_command, quoted};
use model::{Command, Format};
use serde::{Deserialize, Serialize};

/// What stands for the size in a command.
pub const SIZE_MARK: &str = "@N@";
/// What stood for it before, which help texts cannot print.
pub const OLD_SIZE_MARK: &str = "{n}";

/// What changes its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SweepSubject {
    /// Words of a command, with [`SIZE_MARK`] where the size goes.
    Command(Vec<String>),
    /// A command line for each size.
    Programs(Vec<(u64, String)>),
    /// A generated workload.
    Workload {
        /// `shape dense`, `pietrek`.
        kind: String,
        /// The parameter that the sizes are.
        varied: String,
        /// The other parameters.
        fixed: Vec<(String, u64)>,
        /// Format of its images.
        #[serde(default)]
        format: Format,
    },
}

impl SweepSubject {
    /// The command at a size, where nothing has to be generated; `None` for a workload, and for
    /// a size that has no program.
    pub fn command(&self, n: u64) -> Option<Result<Command, CommandLineError>> {
        match self {
            SweepSubject::Command(words) => {
                let size = n.to_string();
                let with_size =
                    |word: &String| word.replace(SIZE_MARK, &size).replace(OLD_SIZE_MARK, &size);
                Some(one_command(words.iter().map(|word| with_size(word).into()).collect()))
            }
            SweepSubject::Programs(programs) => {
                let (_, line) = programs.iter().find(|(size, _)| *size == n)?;
                Some(one_command(vec![line.into()]))
            }
            SweepSubject::Workload { .. } => None,
        }
    }

    /// What is launched, and what n is, in words.
    pub fn words(&self) -> (String, String) {
        match self {
            SweepSubject::Command(words) => {
                let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
                (quoted.join(" "), "n".to_owned())
            }
            SweepSubject::Programs(_) => ("programs".to_owned(), "n".to_owned()),
            SweepSubject::Workload { kind, varied, fixed, format: _ } => {
                let fixed = fixed.iter().map(|(name, n)| format!(" --{name} {n}"));
                (
                    format!("{kind}{}", fixed.collect::<String>()),
                    workloads::noun(kind, varied).to_owned(),
                )
            }
        }
    }
}
