//! `headstart sharing`: private and shared memory of processes, by modules and sections.

use crate::args::{idle_or_until, one_command_found, seconds, split};
use crate::exit::{self, Usage};
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use clap::Args;
use model::{
    Command, SHARING_REPORT_SCHEMA, SharingComparison, SharingReport, SharingState, Until,
};
use ordering::windows;
use os::copies::{CopiesRequest, CopiesUntil};
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

/// How long a copy may take to end before it is ended.
const GRACE: Duration = Duration::from_secs(1);

/// Show which memory processes share, and which is private to each
///
/// Give the numbers of processes, which are neither stopped nor changed; or, behind --, a command,
/// of which copies are launched at the same time, looked at when they have started, and ended. A
/// program that ends by itself is looked at just before its end. Memory is divided among the
/// sections of ELF and PE files page by page, and sums up to what the kernel says (smaps_rollup).
#[derive(Debug, Args)]
pub struct Arguments {
    /// Processes that run already, by number
    #[arg(value_name = "PID", value_parser = pid)]
    pids: Vec<u32>,
    /// A command to be launched, with its arguments
    #[arg(last = true, value_name = "CMD", conflicts_with_all = ["pids", "compare"])]
    command: Vec<OsString>,
    /// Commands to be compared, one argument each, such as the original and a bundle of it
    #[arg(long, value_name = "CMD", num_args = 2.., conflicts_with = "pids")]
    compare: Vec<OsString>,
    /// Copies of each command
    #[arg(long, value_name = "N", default_value = "4", conflicts_with = "pids")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=512))]
    copies: u32,
    /// When copies have started: idle, exit, entry, output:REGEX, port:N or file:PATH
    #[arg(long, value_name = "WHEN", default_value = "idle", conflicts_with = "pids")]
    #[arg(value_parser = idle_or_until)]
    until: MaybeUntil,
    /// How long copies must have been idle
    #[arg(long, value_name = "TIME", default_value = "150ms", value_parser = seconds)]
    #[arg(conflicts_with = "pids")]
    settle: Duration,
    /// Look at copies at the latest after this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = seconds)]
    #[arg(conflicts_with = "pids")]
    timeout: Duration,
    /// The descendants of the processes, too
    #[arg(long, requires = "pids")]
    children: bool,
    /// Show all modules with all sections, and all other mappings
    #[arg(long)]
    all: bool,
    /// Show the tables of OpenOffice's document, too
    #[arg(long, conflicts_with = "json")]
    published: bool,
    /// Print a JSON object; its figures are sums of all processes
    #[arg(long)]
    json: bool,
}

/// Nothing is `idle`. (A bare `Option` would make the argument optional.)
type MaybeUntil = Option<Until>;

fn pid(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| {
        "a process is a number; to launch a command, write -- before it: headstart sharing -- CMD"
            .to_owned()
    })
}

/// Looks at the memory and prints what is there.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    if !arguments.compare.is_empty() {
        return compare(arguments);
    }
    let mut report = if arguments.command.is_empty() {
        if arguments.pids.is_empty() {
            let text = "name processes by number, or write a command: headstart sharing -- CMD";
            return Err(Usage(text.to_owned()).into());
        }
        sharing::of_processes(&arguments.pids, arguments.children)?
    } else {
        let command = found(&arguments.command)?;
        launched(arguments, &command)?
    };
    env!("CARGO_PKG_VERSION").clone_into(&mut report.headstart);
    output::print_either(arguments.json, &report, |style| {
        let mut view = report::sharing::view(&report, style, arguments.all);
        if arguments.published {
            view += &report::sharing::published(style);
        }
        view
    })?;
    Ok(conclude(arguments, &[report]))
}

fn compare(arguments: &Arguments) -> Result<ExitCode> {
    let mut commands = Vec::new();
    for line in &arguments.compare {
        let words = match line.to_str() {
            Some(line) => split(line)?,
            None => vec![line.clone()],
        };
        commands.push(found(&words)?);
    }
    let mut reports = Vec::new();
    for command in &commands {
        let mut report = launched(arguments, command)?;
        env!("CARGO_PKG_VERSION").clone_into(&mut report.headstart);
        reports.push(report);
    }
    let comparison = SharingComparison {
        schema: SHARING_REPORT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        commands: reports,
    };
    output::print_either(arguments.json, &comparison, |style| {
        let mut view = report::sharing::comparison(&comparison, style);
        if arguments.published {
            view += &report::sharing::published(style);
        }
        view
    })?;
    Ok(conclude(arguments, &comparison.commands))
}

fn found(words: &[OsString]) -> Result<Command> {
    let command = one_command_found(words, windows::find)?;
    if windows::is_for_windows(&command) {
        let text = "Windows programs cannot be launched by name here; give the launch with Wine: \
                    headstart sharing -- wine64 app.exe";
        return Err(Usage(text.to_owned()).into());
    }
    Ok(command)
}

fn launched(arguments: &Arguments, command: &Command) -> Result<SharingReport> {
    let line = StatusLine::new();
    line.show(0.0, format!("starting {} of {}", copies(arguments.copies), command.line()));
    let request = CopiesRequest {
        count: arguments.copies,
        until: match &arguments.until {
            None => CopiesUntil::Idle(arguments.settle),
            Some(until) => CopiesUntil::Launch(until.clone()),
        },
        timeout: arguments.timeout,
        grace: GRACE,
    };
    let report = sharing::of_copies(command, &request);
    line.clear();
    Ok(report?)
}

fn copies(count: u32) -> String {
    if count == 1 { "1 copy".to_owned() } else { format!("{count} copies") }
}

/// Copies that were not as they were asked for are a failure, and so are processes that could not
/// be read.
fn conclude(arguments: &Arguments, reports: &[SharingReport]) -> ExitCode {
    let processes = || reports.iter().flat_map(|report| &report.processes);
    let asked = arguments.until.is_some();
    let late = [SharingState::Busy, SharingState::Stopped];
    if asked && processes().any(|process| late.contains(&process.state)) {
        return exit::TIMED_OUT.into();
    }
    let unread: Vec<_> = reports.iter().flat_map(|report| &report.unread).collect();
    for process in &unread {
        output::tell(&process.reason);
    }
    if unread.is_empty() { ExitCode::SUCCESS } else { exit::NO.into() }
}
