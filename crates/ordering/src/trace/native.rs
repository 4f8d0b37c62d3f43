//! headstart's own file of a function trace.
//!
//! The first line is the header, a JSON object: `schema`, and the fields of [`FunctionTrace`].
//! Then each first call is a line, a JSON array of the program's index, the module's index, the
//! RVA, the size, the name, and, where somebody counted, the count:
//! `[0,2,"0x174d0",48,"_Z4worki",7]`. The last line tells how many these are: `{"calls":1}`. So a
//! recorder can append each call when it happens, and a file whose recorder was killed, which has
//! all calls but the last, is told from a whole one.

use super::damage::{self, Kind};
use super::problem::{TraceProblem, TraceReadError, no_line};
use super::{CUT, NO_END, is_weight};
use crate::lines::{Line, Lines, hexadecimal};
use model::{FUNCTION_TRACE_SCHEMA, FirstCall, FunctionTrace, ModuleId, Rva};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::io::Write;

const START: &[u8] = b"{\"schema\":";
const END: &[u8] = b"{\"calls\":";

#[derive(Serialize)]
struct HeaderOut<'a> {
    schema: u32,
    #[serde(flatten)]
    trace: &'a FunctionTrace,
}

#[derive(Deserialize)]
struct HeaderIn {
    #[serde(flatten)]
    trace: FunctionTrace,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    calls: usize,
}

#[derive(Deserialize)]
struct Version {
    schema: u32,
}

/// Whether a file of this format begins with these bytes.
pub(super) fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(START)
}

/// Reads a file of this format; `file` is its name in errors.
///
/// A last line that is not whole is left out. The trace's notes say that, and that the end is
/// missing, as it also is in older traces.
///
/// # Errors
/// A line is not as described above, calls are missing, or the schema is another one.
pub fn read(file: &str, bytes: &[u8]) -> Result<FunctionTrace, TraceReadError> {
    let mut lines = Lines::of(bytes);
    let first = lines.next().unwrap_or(no_line());
    let mut trace = header(first).map_err(|problem| first.error(file, problem))?;
    let programs = trace.programs.len().max(1);
    let (mut has_end, mut is_cut) = (false, false);
    for line in lines.filter(|line| !line.bytes.is_empty()) {
        let read = match line.bytes {
            _ if has_end => Err(TraceProblem::BehindEnd),
            bytes if bytes.starts_with(END) => end(bytes, trace.calls.len()),
            _ => call(line, trace.modules.len(), programs).map(|call| trace.calls.push(call)),
        };
        match read {
            Ok(()) => has_end = line.bytes.starts_with(END),
            Err(TraceProblem::Json(_)) if !line.is_whole => is_cut = true,
            Err(problem) => return Err(line.error(file, problem)),
        }
    }
    // It was said already where such a trace has been written again.
    let note = if is_cut { CUT } else { NO_END };
    if !has_end && !trace.notes.iter().any(|known| known == note) {
        trace.notes.push(note.to_owned());
    }
    Ok(trace)
}

/// The last line, behind so many calls.
fn end(bytes: &[u8], found: usize) -> Result<(), TraceProblem> {
    let damaged = |_| damage::of(bytes, Kind::End);
    let End { calls } = serde_json::from_slice(bytes).map_err(damaged)?;
    if calls == found { Ok(()) } else { Err(TraceProblem::CallsMissing { found, calls }) }
}

fn header(line: Line<'_>) -> Result<FunctionTrace, TraceProblem> {
    if line.bytes.is_empty() {
        return Err(TraceProblem::Empty);
    }
    let damaged = |_| match line.is_whole {
        true => damage::of(line.bytes, Kind::Header),
        false => TraceProblem::CutShort,
    };
    let version: Version = serde_json::from_slice(line.bytes).map_err(damaged)?;
    if version.schema != FUNCTION_TRACE_SCHEMA {
        let known = FUNCTION_TRACE_SCHEMA;
        return Err(TraceProblem::Schema { found: version.schema, known });
    }
    let HeaderIn { trace } = serde_json::from_slice(line.bytes).map_err(damaged)?;
    match is_weight(trace.weight) {
        true => Ok(trace),
        false => Err(TraceProblem::Weight(trace.weight.to_string())),
    }
}

fn call(line: Line<'_>, modules: usize, programs: usize) -> Result<FirstCall, TraceProblem> {
    let damaged = |_| damage::of(line.bytes, Kind::Call);
    let Call(call) = serde_json::from_slice(line.bytes).map_err(damaged)?;
    if call.module.index() >= modules {
        return Err(TraceProblem::NoModule(call.module.0));
    }
    if call.program as usize >= programs {
        return Err(TraceProblem::NoProgram(call.program));
    }
    Ok(call)
}

/// The array of a line.
struct Call(FirstCall);

impl<'de> Deserialize<'de> for Call {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Call, D::Error> {
        from.deserialize_seq(CallVisitor)
    }
}

struct CallVisitor;

impl<'de> Visitor<'de> for CallVisitor {
    type Value = Call;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("[program, module, \"0xRVA\", bytes, \"name\", count]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Call, A::Error> {
        let missing = |at| A::Error::invalid_length(at, &self);
        let program = from.next_element()?.ok_or_else(|| missing(0))?;
        let module = ModuleId(from.next_element()?.ok_or_else(|| missing(1))?);
        let digits: &str = from.next_element()?.ok_or_else(|| missing(2))?;
        let rva = digits.strip_prefix("0x").and_then(|it| hexadecimal(it.as_bytes()).ok());
        let rva = rva.and_then(|rva| u32::try_from(rva).ok()).map(Rva);
        let rva = rva.ok_or_else(|| A::Error::custom("the third part is no RVA"))?;
        let bytes = from.next_element()?.ok_or_else(|| missing(3))?;
        let name = from.next_element()?.ok_or_else(|| missing(4))?;
        let count = from.next_element()?;
        Ok(Call(FirstCall { program, module, rva, bytes, count, name }))
    }
}

/// The whole file.
///
/// # Panics
/// Memory is full: the data itself is always JSON.
pub fn write(trace: &FunctionTrace) -> Vec<u8> {
    let mut text = write_header(trace);
    trace.calls.iter().for_each(|call| write_call(call, &mut text));
    write_end(trace.calls.len(), &mut text);
    text
}

/// The first line, for recorders that append the calls, and the end.
///
/// # Panics
/// As [`write()`].
pub fn write_header(trace: &FunctionTrace) -> Vec<u8> {
    let header = HeaderOut { schema: FUNCTION_TRACE_SCHEMA, trace };
    let mut text = serde_json::to_vec(&header).expect("its keys are texts");
    text.push(b'\n');
    text
}

/// Appends the line of one call.
///
/// # Panics
/// As [`write()`].
pub fn write_call(call: &FirstCall, to: &mut Vec<u8>) {
    const IN_MEMORY: &str = "writing to memory does not fail";
    let FirstCall { program, module, rva, bytes, count, name } = call;
    write!(to, "[{program},{module},\"{rva:#x}\",{bytes},").expect(IN_MEMORY);
    serde_json::to_writer(&mut *to, name).expect(IN_MEMORY);
    match count {
        Some(count) => writeln!(to, ",{count}]").expect(IN_MEMORY),
        None => to.extend(b"]\n"),
    }
}

/// Appends the last line, behind so many calls.
///
/// # Panics
/// As [`write()`].
pub fn write_end(calls: usize, to: &mut Vec<u8>) {
    serde_json::to_writer(&mut *to, &End { calls }).expect("writing to memory does not fail");
    to.push(b'\n');
}
