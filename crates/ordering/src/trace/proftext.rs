//! LLVM's temporal profiles as text (`.proftext`): names of functions in order of first call.
//!
//! Source: *llvm-profdata*, *Temporal profile*, and what `llvm-profdata merge -text` writes: after
//! `:temporal_prof_traces` the number of traces, the number of all that were seen, and for each
//! trace its weight and a line of names; then the counters of each function. A static function is
//! named `FILE;NAME`.

use super::is_weight;
use super::problem::{TraceProblem, TraceReadError, no_line};
use crate::lines::{Line, Lines, decimal, name_text};
use model::{FirstCall, FunctionModule, FunctionTrace, ModuleId, Rva};
use rustc_hash::FxHashSet;

const TRACES: &[u8] = b":temporal_prof_traces";
const KINDS: [&[u8]; 5] = [TRACES, b":ir", b":fe", b":csir", b":entry_first"];

/// Whether a file of this format begins with this line.
pub(super) fn begins(line: Line<'_>) -> bool {
    KINDS.contains(&line.bytes.trim_ascii())
}

/// The traces of a file; `file` is its name in errors. Their functions are known by name only, in
/// a module without a name.
///
/// # Errors
/// The file has no temporal traces, or a number or a line of names is missing.
pub fn read(file: &str, bytes: &[u8]) -> Result<Vec<FunctionTrace>, TraceReadError> {
    let is_comment = |line: &Line<'_>| line.bytes.starts_with(b"#");
    let mut lines = Lines::of(bytes).filter(|line| !is_comment(line));
    let mut last = lines.find(|line| line.bytes.trim_ascii() == TRACES).ok_or_else(|| {
        let first = Lines::of(bytes).next().unwrap_or(no_line());
        first.error(file, TraceProblem::NoTemporalTraces)
    })?;
    let mut next = |is_number: bool| {
        // A line of names may be empty: a trace of no functions.
        let line = lines.find(|line| !is_number || !line.bytes.trim_ascii().is_empty());
        last = line.ok_or_else(|| last.error(file, TraceProblem::CutShort))?;
        Ok(last)
    };
    let count = number(file, next(true)?, "the number of traces")?;
    number(file, next(true)?, "the number of traces that were seen")?;
    let mut traces = Vec::new();
    for _ in 0..count {
        let line = next(true)?;
        let weight = number(file, line, "the weight")?;
        if !is_weight(weight as f64) {
            return Err(line.error(file, TraceProblem::Weight(weight.to_string())));
        }
        traces.push(trace(weight, next(false)?.bytes));
    }
    Ok(traces)
}

fn number(file: &str, line: Line<'_>, what: &'static str) -> Result<u64, TraceReadError> {
    let problem = TraceProblem::number(what);
    decimal(line.bytes.trim_ascii()).map_err(|why| line.error(file, problem(why)))
}

fn trace(weight: u64, names: &[u8]) -> FunctionTrace {
    let names = names.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let calls = names.filter(|name| !name.is_empty()).map(|name| {
        // The file of a static function is no part of the linker's name.
        let linked = name.rsplit(|&byte| byte == b';').next().unwrap_or(name);
        FirstCall {
            program: 0,
            module: ModuleId::PROGRAM,
            rva: Rva::ZERO,
            bytes: 0,
            count: None,
            name: name_text(linked),
        }
    });
    FunctionTrace {
        recorder: "llvm".to_owned(),
        weight: weight as f64,
        modules: vec![FunctionModule { names_only: true, ..FunctionModule::default() }],
        calls: calls.collect(),
        ..FunctionTrace::default()
    }
}

/// Traces as LLVM's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proftext {
    /// The file.
    pub text: String,
    /// Names that the format cannot hold, as they have a comma or a line end.
    pub left_out: Vec<String>,
}

/// The calls of one module in each of the traces, for `llvm-profdata merge`; `chosen` tells for
/// each call whether it is of that module. Calls without a name are left out.
///
/// Each function gets a counter of 1, as llvm-profdata takes names from counters only.
pub fn write(
    traces: &[FunctionTrace],
    chosen: impl Fn(&FunctionTrace, &FirstCall) -> bool,
) -> Proftext {
    let mut left_out = FxHashSet::default();
    let (mut seen, mut functions) = (FxHashSet::default(), Vec::new());
    let mut lines = String::new();
    for trace in traces {
        let mut names = Vec::new();
        let mut in_trace = FxHashSet::default();
        for call in trace.calls.iter().filter(|call| chosen(trace, call)) {
            let name = call.name.as_str();
            if name.contains([',', '\n', '\r', '#', ' ']) {
                left_out.insert(name.to_owned());
            } else if !name.is_empty() && in_trace.insert(name) {
                names.push(name);
                if seen.insert(name) {
                    functions.push(name);
                }
            }
        }
        // Weights are whole numbers there.
        lines += &format!("{}\n{}\n", trace.weight.round().max(1.0), names.join(","));
    }
    let count = traces.len();
    let mut text = format!(":ir\n:temporal_prof_traces\n{count}\n{count}\n{lines}\n");
    text.extend(functions.iter().map(|name| format!("{name}\n0\n1\n1\n\n")));
    let mut left_out: Vec<String> = left_out.into_iter().collect();
    left_out.sort_unstable();
    Proftext { text, left_out }
}
