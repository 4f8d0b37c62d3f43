//! Traces of other recorders, and for other readers.

use super::Arguments;
use crate::args::choice;
use crate::exit::Usage;
use crate::{input, output};
use anyhow::Result;
use clap::builder::TypedValueParser;
use model::{FirstCall, FunctionTrace, ModuleId};
use ordering::trace::proftext::Proftext;
use ordering::trace::{self, TraceFormat, native, openoffice, proftext, uftrace};
use std::path::Path;
use std::process::ExitCode;

/// A format that a trace is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// headstart's own.
    Headstart,
    /// OpenOffice's.
    OpenOffice,
    /// LLVM's temporal profile as text.
    Proftext,
}

/// A format that a trace is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportFormat {
    /// Any that its content tells.
    Auto,
    /// A file of this one.
    File(TraceFormat),
    /// A folder of uftrace.
    Uftrace,
}

/// Formats of `--export`.
pub fn exported() -> impl TypedValueParser<Value = ExportFormat> {
    choice([
        ("headstart", ExportFormat::Headstart),
        ("openoffice", ExportFormat::OpenOffice),
        ("proftext", ExportFormat::Proftext),
    ])
}

/// Formats of `--import`.
pub fn imported() -> impl TypedValueParser<Value = ImportFormat> {
    choice([
        ("auto", ImportFormat::Auto),
        ("openoffice", ImportFormat::File(TraceFormat::OpenOffice)),
        ("proftext", ImportFormat::File(TraceFormat::Proftext)),
        ("sancov", ImportFormat::File(TraceFormat::Sancov)),
        ("uftrace", ImportFormat::Uftrace),
    ])
}

/// Reads the traces that are named, and writes them in the other format.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(out) = &arguments.out {
        output::may_be_written_beside(out, arguments.command.iter().map(Path::new))?;
    }
    let mut traces = Vec::new();
    for path in &arguments.command {
        traces.extend(traces_of(Path::new(path), arguments.import)?);
    }
    if let Some(weight) = (arguments.weight != 1.0).then_some(arguments.weight) {
        traces.iter_mut().for_each(|trace| trace.weight = weight);
    }
    let bytes = match arguments.export.unwrap_or(ExportFormat::Headstart) {
        ExportFormat::Proftext => proftext_of(arguments, &traces)?,
        ExportFormat::OpenOffice => match arguments.module.as_deref() {
            Some(name) => {
                let trace = only(&traces)?;
                openoffice::write_module(trace, module(trace, name)?)
            }
            None => openoffice::write(only(&traces)?),
        },
        ExportFormat::Headstart => native::write(only(&traces)?),
    };
    match &arguments.out {
        Some(out) => output::write_bytes(out, &bytes)?,
        None => output::print_bytes(&bytes)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The traces in a file or a folder of uftrace. Where a format is named, it has to be of that one.
pub fn traces_of(path: &Path, format: Option<ImportFormat>) -> Result<Vec<FunctionTrace>> {
    let is_folder = uftrace_folder(path);
    if let (Some(ImportFormat::File(_)), true) = (format, is_folder) {
        return Err(other_format(path, "a folder of uftrace"));
    }
    if format == Some(ImportFormat::Uftrace) && !path.is_file() || is_folder {
        return Ok(vec![uftrace::read(path)?]);
    }
    let bytes = input::read(path)?;
    match (format, trace::format_of(&bytes)) {
        (Some(ImportFormat::File(wanted)), Some(found)) if wanted != found => {
            Err(other_format(path, words_of(found)))
        }
        (Some(ImportFormat::Uftrace), Some(found)) => Err(other_format(path, words_of(found))),
        (Some(ImportFormat::Uftrace), None) => Ok(vec![uftrace::read(path)?]),
        _ => Ok(trace::read(&path.display().to_string(), &bytes)?),
    }
}

fn words_of(format: TraceFormat) -> &'static str {
    match format {
        TraceFormat::Headstart => "a trace of headstart",
        TraceFormat::OpenOffice => "a trace of OpenOffice",
        TraceFormat::Proftext => "a .proftext file of LLVM",
        TraceFormat::Sancov => "a .sancov file",
    }
}

fn other_format(path: &Path, is: &str) -> anyhow::Error {
    let text = format!(
        "'{}' is {is}, and --import names another format; leave out --import, or give --import auto",
        path.display()
    );
    Usage(text).into()
}

fn uftrace_folder(path: &Path) -> bool {
    path.is_dir() && path.join("info").is_file()
}

fn only(traces: &[FunctionTrace]) -> Result<&FunctionTrace> {
    match traces {
        [trace] => Ok(trace),
        _ => {
            let text = format!(
                "there are {} traces, and a file of this format holds one; give one trace",
                traces.len()
            );
            Err(Usage(text).into())
        }
    }
}

/// The module whose path has this part.
fn module(trace: &FunctionTrace, name: &str) -> Result<ModuleId> {
    let found = trace.modules.iter().position(|module| module.path.contains(name));
    found.map(ModuleId::at).ok_or_else(|| {
        let known: Vec<&str> = trace.modules.iter().map(|module| module.path.as_str()).collect();
        let text = format!("no module of the trace has '{name}' in its path: {}", known.join(", "));
        Usage(text).into()
    })
}

fn proftext_of(arguments: &Arguments, traces: &[FunctionTrace]) -> Result<Vec<u8>> {
    // Of the program, which is the first module, unless another is named.
    let name = arguments.module.as_deref().unwrap_or("");
    let modules: Result<Vec<ModuleId>> = traces.iter().map(|trace| module(trace, name)).collect();
    let modules = modules?;
    let is_chosen = |trace: &FunctionTrace, call: &FirstCall| {
        let at = traces.iter().position(|other| std::ptr::eq(other, trace));
        at.and_then(|at| modules.get(at)) == Some(&call.module)
    };
    let Proftext { text, left_out } = proftext::write(traces, is_chosen);
    if let [name, others @ ..] = left_out.as_slice() {
        let more =
            if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
        output::tell(format_args!(
            "note: left out, as the format cannot hold the name: '{name}'{more}"
        ));
    }
    Ok(text.into_bytes())
}
