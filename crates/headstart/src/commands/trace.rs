//! `headstart trace`: which functions a launch calls, in order of first call, or which pages it
//! touches.

mod convert;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod pages;
mod until;
#[cfg(windows)]
mod windows;

#[cfg(target_os = "linux")]
use linux as host;
#[cfg(windows)]
use windows as host;

use crate::args::{PinArgs, one_command_found, values};
use crate::exit::WithCode;
use crate::{exit, output, spared};
use anyhow::Result;
pub use convert::traces_of;
use convert::{ExportFormat, ImportFormat};
use model::{Command, Ending, FunctionTrace, TRACE_REPORT_SCHEMA, TraceReport};
use ordering::record;
use ordering::trace::{is_weight, native};
use os::launcher::{Stdio, Stream};
use os::trace::{FunctionRequest, RecordUntil, RecordedFunctions};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
pub use until::check_file;

/// Record which functions a launch calls, in order of first call
///
/// Every function of the program and its libraries gets a breakpoint that is removed when it is
/// hit, so nothing has to be rebuilt. Threads, forks and started programs are followed. The
/// program's output is shown; headstart's own summary goes to stderr.
#[cfg_attr(
    not(windows),
    doc = "Windows programs are launched under Wine, in a temporary prefix or in an existing one that \
           WINEPREFIX names. With --no-pin, recording functions takes several times as long.\n\n\
           With --pages (root only), records which pages of which files a cold launch touches, of all \
           sections. The files are evicted from memory, and read-ahead of their disks is off for one \
           launch. The program is launched three times, with /dev/null as its input and output."
)]
#[cfg_attr(
    windows,
    doc = "The program is launched under the debug API and stops at the first call of each function. \
           Functions of 32-bit programs are not recorded."
)]
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program and its arguments; with --export and --import, the trace
    #[arg(trailing_var_arg = true, value_name = "CMD", required = true)]
    command: Vec<OsString>,
    #[cfg_attr(
        not(windows),
        doc = "When the launch is complete: exit, entry, output:REGEX, port:N, file:PATH, signal:NAME or \
               function:NAME"
    )]
    #[cfg_attr(
        windows,
        doc = "When the launch is complete: exit, entry, output:REGEX, port:N, file:PATH or function:NAME"
    )]
    #[arg(long, value_name = "WHEN", default_value = "exit", value_parser = until::until)]
    #[arg(help_heading = "How to launch")]
    until: RecordUntil,
    /// Stop recording after this time; the program continues
    #[cfg_attr(not(windows), doc = "(with --pages, it is ended)")]
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    #[arg(help_heading = "How to launch")]
    first: Option<Duration>,
    /// Record pages of files instead of functions (needs root)
    #[arg(long, help_heading = "How to launch", hide = cfg!(windows))]
    #[arg(conflicts_with_all = ["counts", "out", "weight", "functions", "export", "import"])]
    pages: bool,
    /// Also count the calls of each function. Slow: every counted call stops the program twice
    #[arg(long, help_heading = "How to launch")]
    counts: bool,
    /// Stop counting the calls of a function at this number
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "counts")]
    #[arg(value_parser = clap::value_parser!(u64).range(2..), help_heading = "How to launch")]
    count_limit: u64,
    /// End a launch that takes longer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::seconds)]
    #[arg(help_heading = "How to launch")]
    timeout: Duration,
    /// Accept a program that fails
    #[arg(short, long, help_heading = "How to launch")]
    ignore_failure: bool,
    #[command(flatten)]
    pin: PinArgs,
    /// Write the trace to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// How much this trace counts among others when an order is made
    #[arg(long, value_name = "X", default_value_t = 1.0, value_parser = weight)]
    #[arg(help_heading = "Output")]
    weight: f64,
    /// Print every called function to standard output, one per line
    #[arg(long, help_heading = "Output", conflicts_with = "json")]
    functions: bool,
    #[cfg_attr(
        not(windows),
        doc = "List every module; with --pages, every file, and every page in order of first touch"
    )]
    #[cfg_attr(windows, doc = "List every module")]
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
    /// Convert a trace instead of recording one: to openoffice, proftext or headstart
    #[arg(long, value_name = "FORMAT", value_parser = convert::exported())]
    #[arg(help_heading = "Other formats")]
    export: Option<ExportFormat>,
    /// Convert a trace of another recorder instead of recording one
    #[arg(long, value_name = "FORMAT", value_parser = convert::imported())]
    #[arg(help_heading = "Other formats")]
    import: Option<ImportFormat>,
    /// Export this module only: a part of its path
    #[arg(long, value_name = "NAME", requires = "export", help_heading = "Other formats")]
    module: Option<String>,
}

/// Records, or converts.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    // Not for conversions, which Ctrl-C ends at once, even while they wait for a pipe.
    if arguments.export.is_some() || arguments.import.is_some() {
        return convert::run(arguments);
    }
    os::interrupt::install();
    if arguments.pages {
        return host::pages(arguments);
    }
    let command = one_command_found(&arguments.command, host::find)?;
    check_file(&arguments.until, "remove it")?;
    if let Some(out) = &arguments.out {
        // A compiler's source, for one.
        let arguments = spared::named_by(&command.argv);
        let inputs = arguments.iter().chain([&command.program]);
        output::may_be_written_beside(out, inputs.map(PathBuf::as_path))?;
    }
    let request = arguments.request();
    let mut recorded = host::record(&command, &request)?;
    recorded.notes.extend(arguments.cut_short(&recorded));
    let (ending, ready) = (recorded.ending, recorded.ready);
    let trace = FunctionTrace {
        weight: arguments.weight,
        ..record::trace(RecordedFunctions { notes: recorded.notes.clone(), ..recorded }, &command)
    };
    if let Some(out) = &arguments.out {
        output::write_bytes(out, &native::write(&trace))?;
    }
    let report = TraceReport { ending, ready, ..arguments.report(&command, &trace) };
    arguments.print(&report, &trace)?;
    arguments.conclude(&report)
}

impl Arguments {
    fn request(&self) -> FunctionRequest {
        // Standard output is headstart's where somebody parses it.
        let stdout = if self.json || self.functions { Stream::stderr() } else { Stream::stdout() };
        FunctionRequest {
            until: self.until.clone(),
            first: self.first,
            count_limit: self.counts.then_some(self.count_limit),
            timeout: self.timeout,
            cpu: self.pin.cpu(),
            stdio: Stdio::inherited().with_stdout(stdout),
        }
    }

    /// Why the trace does not end where it was to end.
    fn cut_short(&self, recorded: &RecordedFunctions) -> Option<String> {
        if os::interrupt::requested() {
            let note = "headstart was interrupted, and the program with it: what it would have \
                        called later is missing";
            return Some(note.to_owned());
        }
        let is_never_ready = !recorded.ready && !until::is_exit(&self.until);
        let end = match recorded.ending {
            Ending::TimedOut => "the time was up (--timeout)",
            _ => "the end of the program",
        };
        is_never_ready.then(|| {
            format!(
                "'--until {}' never came true: the trace has all calls until {end}",
                until::words(&self.until)
            )
        })
    }

    fn report(&self, command: &Command, trace: &FunctionTrace) -> TraceReport {
        let modules = record::modules(trace);
        TraceReport {
            schema: TRACE_REPORT_SCHEMA,
            headstart: env!("CARGO_PKG_VERSION").to_owned(),
            command: command.line(),
            ending: Ending::Code(0),
            ready: false,
            watched: record::watched(&modules),
            first_calls: record::first_calls(trace),
            programs: trace.programs.len() as u64,
            modules,
            notes: trace.notes.clone(),
            file: self.out.as_deref().map(model::text::text),
        }
    }

    fn print(&self, report: &TraceReport, trace: &FunctionTrace) -> Result<()> {
        if self.json {
            return output::print(&report::export::json(report)?);
        }
        if self.functions {
            output::print(&report::functions::calls(trace))?;
        }
        output::print_aside(&report::functions::view(report, &output::style_aside(), self.all));
        Ok(())
    }

    /// The exit code: the trace is kept in any case.
    fn conclude(&self, report: &TraceReport) -> Result<ExitCode> {
        let kept = if self.out.is_some() { "; the calls until then are in the trace" } else { "" };
        self.conclude_with(report.ending, report.ready, kept)
    }

    /// The exit code of a launch, which may have been complete before its end; `kept` says what
    /// there is of one that failed.
    fn conclude_with(&self, ending: Ending, is_complete: bool, kept: &str) -> Result<ExitCode> {
        let failed =
            |code, what: String| Err(WithCode { code, text: format!("{what}{kept}") }.into());
        if let Some(code) = exit::interrupted() {
            return failed(code, "interrupted".to_owned());
        }
        match ending {
            Ending::TimedOut => failed(
                exit::TIMED_OUT,
                "the program did not finish in time; give it more with --timeout, or say when its \
                 launch is complete with --until"
                    .to_owned(),
            ),
            _ if is_complete => Ok(ExitCode::SUCCESS),
            _ if !until::is_exit(&self.until) => failed(
                exit::PROGRAM_FAILED,
                format!(
                    "the program {} before it was ready (--until {})",
                    ending.words(),
                    until::words(&self.until)
                ),
            ),
            _ if self.ignore_failure => Ok(ExitCode::SUCCESS),
            Ending::Code(0) => Ok(ExitCode::SUCCESS),
            Ending::Code(code) => failed(
                exit::PROGRAM_FAILED,
                format!("the program ended with code {code} (--ignore-failure accepts that)"),
            ),
            Ending::Signal(signal) => failed(
                exit::PROGRAM_FAILED,
                format!("the program was ended by signal {signal} (--ignore-failure accepts that)"),
            ),
            Ending::Status(_) => failed(
                exit::PROGRAM_FAILED,
                format!("the program {} (--ignore-failure accepts that)", ending.words()),
            ),
            Ending::Ready => Ok(ExitCode::SUCCESS),
        }
    }
}

/// A weight: a number above 0.
fn weight(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(weight) if is_weight(weight) => Ok(weight),
        _ => Err("write a number from 1e-12 to 1e12, such as 2 or 0.5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    #[test]
    fn programs_that_fail_are_told_how() {
        let concluded = |words: &[&str], ending| {
            let arguments = Line::parse_from(words).arguments;
            arguments.conclude_with(ending, false, "").map_err(|e| e.to_string())
        };
        let crash = Ending::Status(0xc000_0005);
        for (ending, how) in [
            (Ending::Code(3), "the program ended with code 3 ("),
            (Ending::Signal(11), "the program was ended by signal 11 ("),
            (crash, "the program ended with status c0000005 (access violation) ("),
        ] {
            let text = concluded(&["trace", "a"], ending).unwrap_err();
            assert!(text.starts_with(how) && text.contains("--ignore-failure"), "{text}");
            assert_eq!(concluded(&["trace", "-i", "a"], ending), Ok(ExitCode::SUCCESS));
        }
        assert_eq!(concluded(&["trace", "a"], Ending::Code(0)), Ok(ExitCode::SUCCESS));
    }
}
