//! `headstart io`: what a cold launch reads from storage, read by read.

mod notes;

use crate::args::{PinArgs, one_command_found, seconds};
use crate::exit::{self, Usage, WithCode};
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use model::published::PublishedOrder;
use model::{
    Command, Ending, FileReads, IO_REPORT_SCHEMA, IoReport, IoSource, PageFaults, ReadInSequence,
    Reading,
};
use ordering::{reads, windows};
use os::LaunchError;
use os::attend::AttendOptions;
use os::cache;
use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// List what a launch reads from storage: each read, and the sums by file, section and kind
///
/// The command is launched twice to find its files. These are evicted from memory, and a third launch
/// is recorded, by tracepoints of the block layer as root. For everybody else only page faults are
/// known: which pages the program waited for, but not how much was read. The program's input and
/// output are /dev/null.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", required = true)]
    command: Vec<OsString>,
    /// Leave in memory what is there: what the launch would read now
    #[arg(long, help_heading = "How to launch")]
    warm: bool,
    /// End a launch that takes longer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds)]
    #[arg(help_heading = "How to launch")]
    timeout: Duration,
    /// Accept a program that fails
    #[arg(short, long, help_heading = "How to launch")]
    ignore_failure: bool,
    #[command(flatten)]
    pin: PinArgs,
    /// List every file with its sections, and every read in order of time
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Print the sums of OpenOffice's document below: fwkmi.dll, read by read
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    published: bool,
    /// Write every read to this file, in order of time (needs root)
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    csv: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Records and prints.
///
/// # Errors
/// The program cannot be launched, or it fails; the CSV cannot be written.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let command = one_command_found(&arguments.command, windows::find)?;
    if windows::is_for_windows(&command) {
        let text = "Windows programs cannot be launched by name here; give the launch with Wine: \
                    headstart io -- wine64 app.exe";
        return Err(Usage(text.to_owned()).into());
    }
    if let Some(csv) = &arguments.csv {
        os::file_reads::permitted().map_err(|error| WithCode {
            code: exit::NOT_PERMITTED,
            text: format!("only root may record single reads, which --csv lists: {error}"),
        })?;
        output::may_be_written_beside(csv, [command.program.as_path()])?;
    }
    let (report, sequence) = report(arguments, &command)?;
    if let Some(csv) = &arguments.csv {
        output::write_file(csv, &report::io::csv(&report, &sequence))?;
    }
    let words = notes::advice(&report);
    output::print_either(arguments.json, &report, |style| {
        let mut view = report::io::view(&report, &words, style, arguments.all);
        if arguments.published {
            view += &report::io::published(&PublishedOrder::openoffice(), style);
        }
        view
    })?;
    conclude(arguments, report.ending)
}

/// What was recorded: what there is of it is printed in any case.
fn conclude(arguments: &Arguments, ending: Ending) -> Result<ExitCode> {
    let failed = |code, text: String| Err(WithCode { code, text }.into());
    if let Some(code) = exit::interrupted() {
        return failed(code, "interrupted".to_owned());
    }
    match ending {
        Ending::TimedOut => failed(
            exit::TIMED_OUT,
            "the program did not finish in time, and what it read until then is listed; give it \
             more with --timeout"
                .to_owned(),
        ),
        Ending::Code(0) => Ok(ExitCode::SUCCESS),
        _ if arguments.ignore_failure => Ok(ExitCode::SUCCESS),
        ending => failed(
            exit::PROGRAM_FAILED,
            format!("the program {} (--ignore-failure accepts that)", ending.words()),
        ),
    }
}

fn report(arguments: &Arguments, command: &Command) -> Result<(IoReport, Vec<ReadInSequence>)> {
    let cpu = arguments.pin.cpu();
    let options = AttendOptions { timeout: arguments.timeout, cpu, to_entry: false };
    let line = StatusLine::new();
    line.show(0.0, "finding the files of a launch".to_owned());
    let mut found = cache::mapped_files(command, &options)?;
    found.files.retain(|path| File::open(path).is_ok());
    line.show(0.5, "recording a launch".to_owned());
    let record = match arguments.warm {
        true => os::file_reads::record_warm,
        false => os::file_reads::record,
    };
    let recorded = match record(command, &found.files, &options) {
        Ok(recorded) => of_reads(arguments, command, &recorded, found.source),
        Err(LaunchError::NotPermitted { .. }) => {
            of_faults(arguments, command, &found.files, &options, found.source)?
        }
        Err(error) => return Err(error.into()),
    };
    line.clear();
    Ok(recorded)
}

fn of_reads(
    arguments: &Arguments,
    command: &Command,
    found: &FileReads,
    files_from: String,
) -> (IoReport, Vec<ReadInSequence>) {
    let (files, sequence) = reads::by_file(found, cache::page_bytes());
    let own = files.iter().filter_map(|file| file.reads.get());
    let total = own.fold(found.others.sum(), |sum, next| sum + next);
    let report = IoReport {
        schema: IO_REPORT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.line(),
        ending: found.ending,
        is_cold: !arguments.warm,
        total_us: found.total_us,
        source: IoSource::BlockReads,
        files_from,
        total: Reading::Value(total),
        read_us: Reading::Value(files.iter().filter_map(|file| file.read_us.get()).sum()),
        distance_bytes: Reading::Value(
            files.iter().filter_map(|file| file.distance_bytes.get()).sum(),
        ),
        kernel_bytes: found.read_bytes.clone(),
        resident_pages: found.cold.resident_pages.clone(),
        brought_pages: found.brought_pages.clone(),
        kinds: reads::kinds(&files),
        advice: reads::advice(&files),
        others: Reading::Value(found.others.clone()),
        sequence: arguments.all.then(|| sequence.clone()),
        notes: notes::of_reads(found, &files, !arguments.warm),
        files,
    };
    (report, sequence)
}

/// What is known without root.
fn of_faults(
    arguments: &Arguments,
    command: &Command,
    files: &[PathBuf],
    options: &AttendOptions,
    files_from: String,
) -> Result<(IoReport, Vec<ReadInSequence>)> {
    let resident_pages = match arguments.warm {
        true => cache::check(files, model::CacheState::Warm).resident_pages,
        false => cache::emptied_of(files).resident_pages,
    };
    let (found, ending): (PageFaults, Ending) = os::faults::record_ended(command, options)?;
    let files = reads::by_fault(&found, cache::page_bytes());
    let report = IoReport {
        schema: IO_REPORT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.line(),
        ending,
        is_cold: !arguments.warm,
        total_us: found.total_us,
        source: IoSource::MajorFaults,
        files_from,
        total: reads::only_root(),
        read_us: reads::only_root(),
        distance_bytes: reads::only_root(),
        kernel_bytes: found.read_bytes.clone(),
        resident_pages,
        brought_pages: reads::only_root(),
        kinds: reads::kinds(&files),
        advice: reads::advice(&files),
        others: reads::only_root(),
        sequence: None,
        notes: notes::of_faults(&found),
        files,
    };
    Ok((report, Vec::new()))
}
