//! Commands that are run around launches, and how the page cache is before them.

use crate::{Command, text};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Commands that are run, untimed, around the launches of a variant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hooks {
    /// Once, before the first launch of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Command>,
    /// Before each launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<Command>,
    /// After each launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclude: Option<Command>,
    /// Once, after the last launch of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleanup: Option<Command>,
}

impl Hooks {
    /// Whether nothing is run.
    pub fn is_empty(&self) -> bool {
        *self == Hooks::default()
    }
}

/// Where the output of launches goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputTo {
    /// To `/dev/null`.
    #[default]
    Null,
    /// stdout through a pipe, where it is read and discarded; stderr to `/dev/null`.
    Pipe,
    /// To headstart's own stdout and stderr.
    Inherit,
    /// stdout to this file, which each launch begins anew; stderr to `/dev/null`.
    File(#[serde(with = "text::one")] PathBuf),
}

/// stdin, stdout and stderr of launches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streams {
    /// The file that is stdin; `/dev/null` where none is given.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "text::optional")]
    pub input: Option<PathBuf>,
    /// Where stdout goes.
    #[serde(default)]
    pub output: OutputTo,
}

impl Streams {
    /// Whether both are `/dev/null`.
    pub fn is_plain(&self) -> bool {
        *self == Streams::default()
    }
}
