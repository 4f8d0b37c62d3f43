//! Where launches execute, found by sampling, and the hottest functions.

use crate::{MemoryChange, Reading};
use serde::{Deserialize, Serialize};

/// What one sampled launch executed. Times are microseconds since just before the clone call of
/// that launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaunchSamples {
    /// Length of the launch.
    pub total_us: f64,
    /// The launched process.
    pub pid: u32,
    /// Samples for each second of processor time.
    pub frequency_hz: u32,
    /// Whether time in the kernel is sampled too.
    pub with_kernel: bool,
    /// In order of time.
    pub samples: Vec<CodeSample>,
    /// In order of time; a sample belongs to the last earlier one of its process that covers
    /// its address.
    pub mappings: Vec<MemoryChange>,
    /// Records that the kernel had no room for.
    pub lost: u64,
}

/// An instruction found executing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CodeSample {
    /// Process.
    pub pid: u32,
    /// When.
    pub at_us: f64,
    /// Address of the instruction.
    pub address: u64,
    /// Executed by the kernel.
    pub kernel: bool,
}

/// The answer of `explain --hot`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hot {
    /// Samples of all launches.
    pub samples: u64,
    /// Launches that were sampled.
    pub launches: u32,
    /// Samples for each second of processor time.
    pub frequency_hz: u32,
    /// What could not be seen or named, and what would help.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Hottest first; together they have all samples.
    pub functions: Vec<HotFunction>,
    /// The hottest function whose code can be read.
    pub hottest: Reading<Hottest>,
}

/// A function and its part of the samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HotFunction {
    /// Its file; `[kernel]`, the name of a kernel module in brackets, or what the kernel calls
    /// memory without a file.
    pub module: String,
    /// Demangled name; `FILE+0xADDRESS` for a function without one, by its first instruction's
    /// address in the file; `[no symbols]` where not even its bounds are known.
    pub function: String,
    /// Samples in it, without those in functions that it calls.
    pub samples: u64,
    /// Part of all samples, 0 to 1.
    pub share: f64,
    /// Executed by the kernel.
    pub kernel: bool,
}

/// A function with its instructions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hottest {
    /// As in [`HotFunction`].
    pub function: String,
    /// As in [`HotFunction`].
    pub module: String,
    /// In order of address. Those far from any sample are left out, so that an instruction need
    /// not follow the one before it.
    pub instructions: Vec<HotInstruction>,
}

/// One instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotInstruction {
    /// Virtual address in the file, as disassemblers print it.
    pub address: u64,
    /// Bytes.
    pub length: u8,
    /// Samples on it: it, or more often the one before it, took that part of the time.
    pub samples: u64,
    /// Intel syntax.
    pub text: String,
    /// Source file, without its folder, and line, where debug information tells: `strcmp.S:133`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}
