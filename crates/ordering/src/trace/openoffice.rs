//! The trace format of OpenOffice's *Reorder Symbols For Libraries*.
//!
//! A line names a module and where it was loaded, then each function that was called is a line:
//! its place in the order of first calls, its address, and how often it was called.
//! ```text
//! splmi.dll, Baseaddress: 0x03aa0000
//! 1, 0x03ab74d0, 1
//! ```
//! Several modules follow each other in a file, numbered through or each from 1; the document
//! itself has a file for each module. What was read is written again byte by byte: lines that end
//! with LF or CRLF and the number of digits are kept as [`OpenOfficeStyle`].

use super::CUT;
use super::problem::{TraceProblem, TraceReadError};
use crate::lines::{Line, Lines, decimal, hexadecimal, name_text};
use crate::maps::rva_of;
use model::{
    FirstCall, Format, FunctionModule, FunctionTrace, MappedVa, ModuleId, OpenOfficeStyle, Va,
};
use std::fmt::Write;

const BASE: &[u8] = b", Baseaddress: ";
const OTHER_FORM: &str =
    "the trace differs in layout from what OpenOffice writes: an export will not be the same bytes";
/// How a trace is written that was not read from such a file.
const USUAL: OpenOfficeStyle = OpenOfficeStyle {
    digits: 8,
    upper_case: false,
    crlf: false,
    ends_last_line: true,
    numbers_each_module: false,
};

/// Whether a file of this format begins with this line.
pub(super) fn begins(line: Line<'_>) -> bool {
    header(line.bytes).is_some()
}

/// A call with the number that the file gives it.
struct Numbered {
    number: u64,
    call: FirstCall,
}

/// Reads a file of this format; `file` is its name in errors.
///
/// # Errors
/// A line is neither a header nor a call, or an address is not in its module.
pub fn read(file: &str, bytes: &[u8]) -> Result<FunctionTrace, TraceReadError> {
    let mut trace = FunctionTrace {
        recorder: "openoffice".to_owned(),
        weight: 1.0,
        ..FunctionTrace::default()
    };
    let mut calls: Vec<Numbered> = Vec::new();
    for line in Lines::of(bytes).filter(|line| !line.bytes.trim_ascii().is_empty()) {
        if let Some(module) = header(line.bytes) {
            trace.modules.push(module);
            continue;
        }
        let id = trace.modules.len().checked_sub(1).map(ModuleId::at);
        match call(line, id.zip(trace.modules.last())) {
            Ok(call) => calls.push(call),
            Err(_) if !line.is_whole && id.is_some() => trace.notes.push(CUT.to_owned()),
            Err(problem) => return Err(line.error(file, problem)),
        }
    }
    // A number that comes again belongs to a module of its own numbering.
    let mut numbers: Vec<u64> = calls.iter().map(|it| it.number).collect();
    numbers.sort_unstable();
    let is_unique = numbers.is_sorted_by(|one, next| one < next);
    match is_unique {
        true => calls.sort_by_key(|it| it.number),
        false => calls.sort_by_key(|it| (it.call.module, it.number)),
    }
    trace.calls = calls.into_iter().map(|it| it.call).collect();
    trace.openoffice = Some(style(bytes, !is_unique));
    if write(&trace) != bytes && trace.notes.is_empty() {
        return Ok(in_other_form(trace));
    }
    Ok(trace)
}

/// The trace of a file that will not be written again as it was.
pub(super) fn in_other_form(mut trace: FunctionTrace) -> FunctionTrace {
    trace.openoffice = None;
    if trace.notes.is_empty() {
        trace.notes.push(OTHER_FORM.to_owned());
    }
    trace
}

/// A module's line.
fn header(bytes: &[u8]) -> Option<FunctionModule> {
    let at = bytes.windows(BASE.len()).rposition(|part| part == BASE)?;
    let (name, rest) = (bytes.get(..at)?, bytes.get(at + BASE.len()..)?);
    let base = rest.trim_ascii().strip_prefix(b"0x").map(hexadecimal)?.ok()?;
    Some(FunctionModule {
        path: name_text(name),
        format: format(name),
        preferred_base: Va(base),
        mapped_at: Some(MappedVa(base)),
        ..FunctionModule::default()
    })
}

/// Files are known by their ending, and programs of Linux by their path.
fn format(name: &[u8]) -> Format {
    let ends = |ending: &[u8]| {
        let start = name.len().saturating_sub(ending.len());
        name.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(ending))
    };
    if ends(b".dll") || ends(b".exe") {
        return Format::Pe;
    }
    let is_elf = name.starts_with(b"/") || name.windows(3).any(|part| part == b".so");
    if is_elf { Format::Elf } else { Format::Pe }
}

fn call(
    line: Line<'_>,
    module: Option<(ModuleId, &FunctionModule)>,
) -> Result<Numbered, TraceProblem> {
    let mut parts = line.bytes.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    let mut part = || parts.next().unwrap_or_default();
    let number = decimal(part()).map_err(TraceProblem::number("the place in the order"))?;
    let address = hexadecimal(part()).map_err(TraceProblem::number("the address"))?;
    let count = decimal(part()).map_err(TraceProblem::number("the count"))?;
    if parts.next().is_some() {
        return Err(TraceProblem::Number("the count at the end of the line"));
    }
    let (id, module) = module.ok_or(TraceProblem::NoHeader)?;
    let base = module.mapped_at.unwrap_or_default();
    let rva = rva_of(MappedVa(address), base).ok_or(TraceProblem::OutsideOfModule)?;
    let name = String::new();
    let call = FirstCall { program: 0, module: id, rva, bytes: 0, count: Some(count), name };
    Ok(Numbered { number, call })
}

/// How the file is written, as far as its calls and line ends show; headers follow them.
fn style(bytes: &[u8], numbers_each_module: bool) -> OpenOfficeStyle {
    let digits = |line: Line<'_>| {
        let at = line.bytes.windows(2).rposition(|part| part == b"0x")?;
        let address = line.bytes.get(at + 2..)?;
        Some(address.iter().take_while(|byte| byte.is_ascii_hexdigit()).count())
    };
    let shortest = Lines::of(bytes).filter_map(digits).min().unwrap_or(8);
    let is_call = |line: &Line<'_>| header(line.bytes).is_none();
    let mut calls = Lines::of(bytes).filter(is_call);
    OpenOfficeStyle {
        digits: u8::try_from(shortest).unwrap_or(u8::MAX).min(16),
        upper_case: calls.any(|line| line.bytes.iter().any(u8::is_ascii_uppercase)),
        crlf: bytes.windows(2).any(|pair| pair == b"\r\n"),
        ends_last_line: bytes.ends_with(b"\n"),
        numbers_each_module,
    }
}

/// The whole trace in this format, module by module.
///
/// What the trace has and the format has not is left out: names and sizes of functions, and which
/// program called. A call that nobody counted is written as one call.
pub fn write(trace: &FunctionTrace) -> Vec<u8> {
    let modules: Vec<ModuleId> = (0..trace.modules.len()).map(ModuleId::at).collect();
    write_modules(trace, &modules)
}

/// One module's calls in this format, as OpenOffice has a file for each.
pub fn write_module(trace: &FunctionTrace, module: ModuleId) -> Vec<u8> {
    write_modules(trace, &[module])
}

fn write_modules(trace: &FunctionTrace, modules: &[ModuleId]) -> Vec<u8> {
    let style = trace.openoffice.unwrap_or(USUAL);
    let end = if style.crlf { "\r\n" } else { "\n" };
    let each = style.numbers_each_module || modules.len() == 1;
    let mut text = Vec::new();
    for &id in modules {
        let Some(module) = trace.modules.get(id.index()) else { continue };
        let base = module.mapped_at.unwrap_or(MappedVa(module.preferred_base.0));
        text.extend(model::text::bytes_of(&module.path));
        text.extend(BASE);
        text.extend(format!("{}{end}", address(base, style)).into_bytes());
        let calls = trace.calls.iter().enumerate().filter(|(_, call)| call.module == id);
        for (nth, (place, call)) in calls.enumerate() {
            let number = if each { nth + 1 } else { place + 1 };
            let address = address(base.wrapping_add(call.rva.0.into()), style);
            let line = format!("{number}, {address}, {}{end}", call.count.unwrap_or(1));
            text.extend(line.into_bytes());
        }
    }
    if !style.ends_last_line && text.ends_with(end.as_bytes()) {
        text.truncate(text.len() - end.len());
    }
    text
}

fn address(address: MappedVa, style: OpenOfficeStyle) -> String {
    let digits = usize::from(style.digits);
    let mut text = "0x".to_owned();
    // Writing to a text does not fail.
    let _ = match style.upper_case {
        true => write!(text, "{:0digits$X}", address.0),
        false => write!(text, "{:0digits$x}", address.0),
    };
    text
}
