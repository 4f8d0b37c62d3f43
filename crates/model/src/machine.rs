//! The machine that a run was made on.

use serde::{Deserialize, Serialize};

/// The machine a run was made on, as far as it bears on start-up times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Kernel name and release.
    pub kernel: String,
    /// Processor model.
    pub processor: String,
    /// Processors online.
    pub cpus: u32,
    /// Hypervisor's name where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hypervisor: Option<String>,
    /// The C library that programs of the host share, with its version, such as `glibc 2.36`. `None`
    /// on Linux where it is not of the kind that headstart was built with, and on Windows, which has
    /// no such library of the system: programs bring the runtime of their compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub libc: Option<String>,
}

/// Outcome of one check of `doctor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckState {
    /// As measurements want it.
    Good,
    /// Worth knowing; no harm to results.
    Note,
    /// Measurements are noisier or explanations poorer.
    Warning,
    /// The state could not be read.
    Unknown,
}

/// One line of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Short stable name, such as `governor`.
    pub id: String,
    /// Outcome.
    pub state: CheckState,
    /// What was found.
    pub found: String,
    /// What it does to measurements or explanations.
    pub effect: String,
    /// The command that changes it; empty where there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_has_not_is_left_out() {
        let machine = Machine {
            kernel: "Windows 10.0.26100".to_owned(),
            processor: "P".to_owned(),
            cpus: 4,
            hypervisor: None,
            libc: None,
        };
        let json = serde_json::to_string(&machine).unwrap();
        assert_eq!(json, r#"{"kernel":"Windows 10.0.26100","processor":"P","cpus":4}"#);
        assert_eq!(serde_json::from_str::<Machine>(&json).unwrap(), machine);
    }
}
