//! headstart's own file of a function trace.
//!
//! The first line is the header, a JSON object: `schema`, and the fields of [`FunctionTrace`].
//! Then each first call is a line, a JSON array of the program's index, the module's index, the
//! RVA, the size, the name, and, where somebody counted, the count:
//! `[0,2,"0x174d0",48,"_Z4worki",7]`. So a recorder can append each call when it happens, and a
//! file whose recorder was killed has all but the last.

use super::problem::{TraceProblem, TraceReadError, no_line};
use crate::lines::{Line, Lines, hexadecimal};
use model::{FUNCTION_TRACE_SCHEMA, FirstCall, FunctionTrace, ModuleId, Rva};
use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::io::Write;

const START: &[u8] = b"{\"schema\":";
const CUT: &str = "the last line is incomplete and was left out: the recorder was killed";

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
/// A last line that is not whole is left out, which the trace's notes say.
///
/// # Errors
/// A line is not as described above, or the schema is another one.
pub fn read(file: &str, bytes: &[u8]) -> Result<FunctionTrace, TraceReadError> {
    let mut lines = Lines::of(bytes);
    let first = lines.next().unwrap_or(no_line());
    let mut trace = header(first).map_err(|problem| first.error(file, problem))?;
    let programs = trace.programs.len().max(1);
    for line in lines.filter(|line| !line.bytes.is_empty()) {
        match call(line, trace.modules.len(), programs) {
            Ok(call) => trace.calls.push(call),
            Err(_) if !line.is_whole => trace.notes.push(CUT.to_owned()),
            Err(problem) => return Err(line.error(file, problem)),
        }
    }
    Ok(trace)
}

fn header(line: Line<'_>) -> Result<FunctionTrace, TraceProblem> {
    if line.bytes.is_empty() {
        return Err(TraceProblem::Empty);
    }
    let json = |error: serde_json::Error| match line.is_whole {
        true => TraceProblem::Json(error.to_string()),
        false => TraceProblem::CutShort,
    };
    let version: Version = serde_json::from_slice(line.bytes).map_err(json)?;
    if version.schema != FUNCTION_TRACE_SCHEMA {
        let known = FUNCTION_TRACE_SCHEMA;
        return Err(TraceProblem::Schema { found: version.schema, known });
    }
    let header: HeaderIn = serde_json::from_slice(line.bytes).map_err(json)?;
    Ok(header.trace)
}

fn call(line: Line<'_>, modules: usize, programs: usize) -> Result<FirstCall, TraceProblem> {
    let Call(call) = serde_json::from_slice(line.bytes)
        .map_err(|error: serde_json::Error| TraceProblem::Json(error.to_string()))?;
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
    text
}

/// The first line, for recorders that append the calls.
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
