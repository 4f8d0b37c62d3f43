//! What a launch under the debug API of Windows records. All times are microseconds since just before
//! the call of CreateProcess, on the launch clock.

use crate::Ending;
use serde::{Deserialize, Serialize};

/// A launch under the debug API, with everything that it started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DebuggedLaunch {
    /// Until the launched process was gone, or ready.
    pub total_us: f64,
    /// How the launched process ended.
    pub ending: Ending,
    /// In order of creation; the first is the launched one.
    pub processes: Vec<DebuggedProcess>,
    /// When the launch was stopped, in order of time.
    pub stops: Vec<DebugStop>,
}

/// A moment at which a process of the launch stopped, and headstart let it go again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DebugStop {
    /// The process.
    pub pid: u32,
    /// When headstart was told.
    pub at_us: f64,
    /// How long headstart took to record it.
    pub held_us: f64,
}

/// A process of the launch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DebuggedProcess {
    /// Process id.
    pub pid: u32,
    /// Index of the process that created it; `None` for the launched one, and where that process is
    /// none of the launch.
    pub parent: Option<usize>,
    /// The executed file.
    pub path: String,
    /// Its arguments, where they can be read.
    pub argv: Vec<String>,
    /// Its working folder at the beginning, where it can be read.
    pub directory: Option<String>,
    /// Address that the file was loaded at.
    pub base: u64,
    /// When it had been created and was about to begin.
    pub started_us: f64,
    /// When the first initializer of a DLL was called: the loader has loaded and bound all DLLs that the
    /// program imports.
    pub initializing_us: Option<f64>,
    /// When the entry point of the program was reached.
    pub entry_us: Option<f64>,
    /// When its last thread had ended.
    pub exiting_us: Option<f64>,
    /// Its exit code, where it has ended.
    pub exit_code: Option<u32>,
    /// DLLs, in the order in which they were loaded.
    pub dlls: Vec<DebuggedDll>,
    /// Why a time is missing.
    pub notes: Vec<String>,
}

/// A DLL that a process has loaded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DebuggedDll {
    /// The file.
    pub path: String,
    /// Address that it was loaded at.
    pub base: u64,
    /// When the loader had mapped it.
    pub loaded_us: f64,
    /// When its entry point was called for the first time, to initialize it; not seen of those that are
    /// loaded when the program's entry point has been reached.
    pub initialized_us: Option<f64>,
    /// When it had returned from there.
    pub returned_us: Option<f64>,
}

impl DebuggedProcess {
    /// DLLs that were loaded before the entry point was reached; all where that was not seen.
    pub fn at_start(&self) -> impl Iterator<Item = &DebuggedDll> {
        let entry_us = self.entry_us.unwrap_or(f64::INFINITY);
        self.dlls.iter().filter(move |dll| dll.loaded_us <= entry_us)
    }
}
