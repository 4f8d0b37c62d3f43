//! One launch: when it counts as complete, how it ended and what it took.

use crate::{Reading, VariantId, nt_status};
use serde::{Deserialize, Serialize};

/// When a launch counts as complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// The process has ended and been waited for.
    Exit,
    /// The first instruction at the image's entry point (needs ptrace).
    Entry,
    /// What the program writes to stdout or stderr matches this regular expression.
    Output(String),
    /// A TCP connection to this port of the loopback address is accepted.
    Port(u16),
    /// This path exists.
    File(String),
}

/// How a launched process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// It called exit with this code.
    Code(i32),
    /// A signal killed it.
    Signal(i32),
    /// It crashed on Windows, or Windows ended it, with this NTSTATUS.
    Status(u32),
    /// It was ready, and headstart ended it and its children.
    Ready,
    /// It did not finish in time, and headstart ended it and its children.
    TimedOut,
}

impl Ending {
    /// The ending of a Windows process, from its exit code. Windows keeps no other record of a crash:
    /// the code is then the NTSTATUS of the exception that nothing has handled. Taken for a status
    /// are those of Microsoft's errors and a few that are usual (MS-ERREF 2.3); all else is a code of
    /// the program, as `%ERRORLEVEL%` of cmd shows it, with a sign.
    pub fn of_windows(code: u32) -> Ending {
        if nt_status::is_status(code) {
            Ending::Status(code)
        } else {
            Ending::Code(code.cast_signed())
        }
    }

    /// The number that a shell or another program would be told as its exit code: on Windows that is
    /// the status of a crash, too.
    pub fn exit_code(self) -> Option<i32> {
        match self {
            Ending::Code(code) => Some(code),
            Ending::Status(status) => Some(status.cast_signed()),
            Ending::Signal(_) | Ending::Ready | Ending::TimedOut => None,
        }
    }

    /// Whether it is none of a launch that failed: exit code 0, or ready.
    pub fn is_success(self) -> bool {
        matches!(self, Ending::Code(0) | Ending::Ready)
    }

    /// What is said of the process: it `ended with exit code 1`.
    pub fn words(self) -> String {
        match self {
            Ending::Code(code) => format!("ended with exit code {code}"),
            Ending::Signal(signal) => format!("was killed by signal {signal}"),
            Ending::Status(status) => format!("ended with {}", nt_status::words(status)),
            Ending::Ready => "was ready".to_owned(),
            Ending::TimedOut => "timed out".to_owned(),
        }
    }
}

/// What one launch cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Launch {
    /// From before the clone call (on Windows, CreateProcess) until the process was waited for, or was ready.
    pub total_us: f64,
    /// The part of it that is over when the process has been created and begins to run. Not told apart
    /// on Linux.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_us: Option<f64>,
    /// How it ended.
    pub ending: Ending,
    /// User time of the process and the children it waited for.
    pub user_us: Reading<f64>,
    /// Kernel time of the process and the children it waited for.
    pub system_us: Reading<f64>,
    /// Memory that belongs to one process alone: of the process with the most, where it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_kib: Option<Reading<u64>>,
    /// Largest resident set of the process or of a child it waited for.
    pub peak_rss_kib: Reading<u64>,
    /// Page faults served without input.
    pub minor_faults: Reading<u64>,
    /// Page faults that waited for input.
    pub major_faults: Reading<u64>,
    /// Bytes read from storage.
    pub read_bytes: Reading<u64>,
    /// Processes the program left running, which headstart ended.
    pub left_running: u32,
}

impl Launch {
    /// User and kernel time together, where both are known.
    pub fn cpu_us(&self) -> Reading<f64> {
        match (&self.user_us, &self.system_us) {
            (Reading::Value(user_us), Reading::Value(system_us)) => {
                Reading::Value(user_us + system_us)
            }
            (Reading::Value(_), missing) | (missing, _) => missing.clone(),
        }
    }
}

/// State of the page cache before a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheState {
    /// Whatever earlier launches left in memory.
    Warm,
    /// Everything dropped (needs root).
    ColdDropped,
    /// The files that the launch maps were evicted, nothing else.
    ColdEvicted,
}

/// What an eviction left behind, checked before the launch that followed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ColdCheck {
    /// How the cache was emptied.
    pub state: CacheState,
    /// Files whose residency was checked.
    pub files: u32,
    /// Their pages.
    pub total_pages: u64,
    /// Pages still resident; others hold them mapped, or they were dirty.
    pub resident_pages: Reading<u64>,
}

/// One line of a run's `launches.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Round, counted from 0; warm-up rounds are negative.
    pub round: i32,
    /// Place within the round, from 0.
    pub position: u32,
    /// Which of the experiment's variants was launched.
    pub variant: VariantId,
    /// What the launch cost.
    #[serde(flatten)]
    pub launch: Launch,
    /// Present for cold launches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<ColdCheck>,
}

impl Sample {
    /// Whether the launch belongs to a warm-up round and is kept out of every figure.
    pub fn is_warm_up(&self) -> bool {
        self.round < 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_of_windows_are_told_from_crashes() {
        for (code, ending, words) in [
            (0, Ending::Code(0), "ended with exit code 0"),
            (3, Ending::Code(3), "ended with exit code 3"),
            (0xffff_ffff, Ending::Code(-1), "ended with exit code -1"),
            (0x8007_0002, Ending::Code(-2_147_024_894), "ended with exit code -2147024894"),
            (
                0xc000_0135,
                Ending::Status(0xc000_0135),
                "ended with status c0000135 (a DLL was not found)",
            ),
            (0xc000_0022, Ending::Status(0xc000_0022), "ended with status c0000022"),
        ] {
            let found = Ending::of_windows(code);
            assert_eq!((found, &*found.words()), (ending, words));
            assert_eq!(found.is_success(), code == 0);
            assert_eq!(found.exit_code(), Some(code.cast_signed()));
        }
        assert_eq!(Ending::Signal(11).exit_code(), None);
    }

    #[test]
    fn endings_in_json() {
        for (ending, json) in [
            (Ending::Code(3), r#"{"code":3}"#),
            (Ending::Signal(11), r#"{"signal":11}"#),
            (Ending::Status(0xc000_0135), r#"{"status":3221225781}"#),
            (Ending::Ready, r#""ready""#),
            (Ending::TimedOut, r#""timed_out""#),
        ] {
            assert_eq!(serde_json::to_string(&ending).unwrap(), json);
            assert_eq!(serde_json::from_str::<Ending>(json).unwrap(), ending);
        }
    }
}
