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
