//! What a launch called of its modules' functions, in order of first call.

use crate::{Ending, Format, MappedVa, ModuleId, Rva, Va};
use serde::{Deserialize, Serialize};

/// Version of headstart's files of function traces.
pub const FUNCTION_TRACE_SCHEMA: u32 = 1;

/// The functions that one launch called, in order of first call.
///
/// A function is known by the build-id of its module and its RVA, so that traces of many machines
/// can be merged; its names make the trace useful for a later build, too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionTrace {
    /// What recorded it: `headstart`, `openoffice`, `uftrace` and so on.
    pub recorder: String,
    /// The launched program and its arguments, where the recorder tells them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The file that was launched, without links, as [`crate::text`] writes names; where that is a
    /// script, its interpreter is the first of the programs. Recorders of other tools do not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launched: Option<String>,
    /// How much it counts among others.
    pub weight: f64,
    /// How the launched process ended, [`Ending::Ready`] where the launch was complete before
    /// that; `None` where the recorder does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ending: Option<Ending>,
    /// The modules, in the order in which they were first mapped.
    pub modules: Vec<FunctionModule>,
    /// The programs that were executed, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<ExecutedProgram>,
    /// What could not be recorded, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How the OpenOffice trace that it was read from is written, so that it can be written again
    /// byte by byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub openoffice: Option<OpenOfficeStyle>,
    /// The first calls, in order.
    #[serde(skip)]
    pub calls: Vec<FirstCall>,
}

/// A module of traced processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionModule {
    /// The file, as [`crate::text`] writes names; for imported traces the name that they have.
    pub path: String,
    /// Its build-id in hexadecimal digits, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Its format.
    pub format: Format,
    /// Its preferred base: the lowest address that it asks for.
    pub preferred_base: Va,
    /// Functions that were watched; `None` where the recorder does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watched: Option<u32>,
    /// Where it was mapped, if the recorder tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapped_at: Option<MappedVa>,
    /// Whether the recorder tells only the names of functions, and the addresses of the calls mean
    /// nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_only: bool,
}

/// How an OpenOffice trace is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenOfficeStyle {
    /// Least number of digits of an address.
    pub digits: u8,
    /// Whether they are written `A` to `F`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub upper_case: bool,
    /// Whether lines end with CRLF.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub crlf: bool,
    /// Whether the last line is ended, too.
    pub ends_last_line: bool,
    /// Whether each module's calls are numbered from 1.
    pub numbers_each_module: bool,
}

/// A program that a process of the launch executed, or a fork of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutedProgram {
    /// Process id.
    pub pid: u32,
    /// The executed file.
    pub path: String,
    /// Index of the one that it was forked from without execve: it begins with the memory, and
    /// so with the first calls, of that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<u32>,
}

/// The first call of a function by one executed program.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstCall {
    /// Index of the executed program among [`FunctionTrace::programs`]; 0 where there are none.
    pub program: u32,
    /// The module.
    pub module: ModuleId,
    /// Where the function begins.
    pub rva: Rva,
    /// Its size, as far as the module tells.
    pub bytes: u32,
    /// How often it was called; `None` where nobody counted.
    pub count: Option<u64>,
    /// Its name as the linker knows it; empty where the module does not tell.
    pub name: String,
}

/// Version of the JSON of [`TraceReport`].
pub const TRACE_REPORT_SCHEMA: u32 = 1;

/// What a recording of functions found, without the calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceReport {
    /// Version of this structure.
    pub schema: u32,
    /// Version of headstart.
    pub headstart: String,
    /// The command, as one would type it.
    pub command: String,
    /// How the launched process ended.
    pub ending: Ending,
    /// Whether the launch was complete before that end.
    pub ready: bool,
    /// Functions that were watched.
    pub watched: u64,
    /// First calls in all programs of the launch.
    pub first_calls: u64,
    /// Programs that were executed, and forks that called functions of their own.
    pub programs: u64,
    /// The modules, those with the most called functions first.
    pub modules: Vec<ModuleCalls>,
    /// What could not be recorded, and why.
    pub notes: Vec<String>,
    /// The file with the trace, where one was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// What a launch called of one module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModuleCalls {
    /// The module.
    pub path: String,
    /// Its functions, where the recorder tells.
    pub watched: Option<u64>,
    /// Functions of it that were called.
    pub called: u64,
    /// Their code.
    pub called_bytes: u64,
    /// Pages of the file that hold them.
    pub touched_pages: u64,
    /// Pages that would do if they were side by side.
    pub floor_pages: u64,
}
