//! `headstart record`: which pages of which files a launch reads.

mod export;

use super::trace::check_file;
use crate::args::{PinArgs, one_command, values};
use crate::exit::{self, Usage, WithCode};
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use model::{
    Command, Ending, RECORDING_REPORT_SCHEMA, Recording, RecordingMode, RecordingReport, Until,
};
use os::trace::RecordUntil;
use prefetch::export::ListFormat;
use prefetch::record::{RecordRequest, RecordStep, Recorded};
use prefetch::store::{self, Store, StoreError};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Record which pages of which files a launch reads, so that they can be read ahead next time
///
/// Launches the program two or three times, with /dev/null as its input and output. As root, the last launch
/// is a cold one without read-ahead, so exactly the pages that the launch needs are known; the read-ahead
/// of the disks is set back whatever happens. Other users get the pages around page faults. Children
/// and libraries that are loaded later are included.
///
/// The recording is kept for this program and this kind of arguments, united with the one that
/// is there; `headstart prefetch` uses it. Given the file of a recording instead of a command, prints
/// it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The program and its arguments; or a recording to be printed; with --merge, recordings
    #[arg(trailing_var_arg = true, value_name = "CMD|FILE", required = true)]
    command: Vec<OsString>,
    /// When a launch is complete: exit, entry, output:REGEX, port:N or file:PATH
    #[arg(long, value_name = "WHEN", default_value = "exit", value_parser = values::until)]
    #[arg(help_heading = "How to launch")]
    until: Until,
    /// Record no longer than this; then the program is ended
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = values::seconds)]
    #[arg(help_heading = "How to launch")]
    first: Duration,
    /// Record in this way only: exact, tracepoints or page-faults [default: the most precise that is
    /// permitted]
    #[arg(long, value_name = "MODE", value_parser = mode, help_heading = "How to launch")]
    mode: Option<RecordingMode>,
    #[command(flatten)]
    pin: PinArgs,
    /// Accept a program that fails
    #[arg(short, long, help_heading = "How to launch")]
    ignore_failure: bool,
    /// Write the recording to this file instead of keeping it for the program
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Replace the recording that is kept, rather than unite the two
    #[arg(long, conflicts_with = "out", help_heading = "Output")]
    replace: bool,
    /// Unite these recordings in the file of --out
    #[arg(long, requires = "out", help_heading = "Output")]
    merge: bool,
    /// Print the files of the recording in this program's list: mksquashfs (-sort), estargz
    /// (prioritized files) or nydus (prefetch list)
    #[arg(long, value_name = "FORMAT", value_parser = export::format, help_heading = "Output")]
    #[arg(conflicts_with_all = ["merge", "json", "all", "replace"])]
    export: Option<ListFormat>,
    /// The folder that becomes the root of the image
    #[arg(long, value_name = "FOLDER", default_value = "/", requires = "export")]
    #[arg(help_heading = "Output")]
    root: PathBuf,
    /// List every file
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Records, unites, or prints.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if arguments.merge {
        return merge(arguments);
    }
    if arguments.export.is_none()
        && let [one] = arguments.command.as_slice()
        && store::is_recording(Path::new(one))
    {
        if arguments.out.is_some() {
            let text = "this is a recording already; --out takes a command that is recorded, or \
                        --merge or --export";
            return Err(Usage(text.to_owned()).into());
        }
        let recording = store::load(Path::new(one))?;
        print(arguments, &recording, None)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(format) = arguments.export {
        return export::run(arguments, format);
    }
    let command = super::prefetch::program_meant(one_command(&arguments.command)?)?;
    if let Some(out) = &arguments.out {
        may_be_written(out)?;
    }
    check_file(&RecordUntil::Launch(arguments.until.clone()), "remove it")?;
    let recorded = record(arguments, &command)?;
    let path = keep(arguments, &command, &recorded.recording)?;
    print(arguments, &recorded.recording, Some(&path))?;
    let kept = arguments.out.is_none().then(|| Path::new(&recorded.recording.program));
    super::prefetch::renew_launchers(kept, &path);
    conclude(arguments, recorded.ending)
}

fn record(arguments: &Arguments, command: &Command) -> Result<Recorded> {
    os::interrupt::install();
    let request = RecordRequest {
        until: arguments.until.clone(),
        first: arguments.first,
        cpu: arguments.pin.cpu(),
        mode: arguments.mode,
    };
    let line = StatusLine::new();
    let mut observer = |step| {
        let part = if step == RecordStep::FindingFiles { 0.0 } else { 0.6 };
        line.show(part, words(step).to_owned());
    };
    let recorded = prefetch::record::record(command, &request, &mut observer);
    line.clear();
    if let Some(code) = exit::interrupted() {
        let text = "interrupted; nothing is kept of an unfinished recording".to_owned();
        return Err(WithCode { code, text }.into());
    }
    Ok(recorded?)
}

/// What a recording does at a step, for people who wait.
pub fn words(step: RecordStep) -> &'static str {
    match step {
        RecordStep::FindingFiles => "finding the files of a launch",
        RecordStep::ColdLaunch => "recording a cold launch",
    }
}

/// Refused before anything is launched: a file that is no recording is not replaced by one.
fn may_be_written(out: &Path) -> Result<()> {
    if store::is_recording(out) { Ok(()) } else { output::may_be_written(out) }
}

/// Writes the recording where it belongs, and gives that place.
fn keep(arguments: &Arguments, command: &Command, recording: &Recording) -> Result<PathBuf> {
    if let Some(out) = &arguments.out {
        store::save(out, recording)?;
        return Ok(out.clone());
    }
    let store = Store::of_user(lab::default_folder::cache())?;
    let path = store.path(Path::new(&recording.program), &command.argv[1..]);
    let kept = match store::load(&path) {
        Ok(old) if !arguments.replace && is_current(&old) => {
            prefetch::merge::merge(vec![recording.clone(), old]).unwrap_or(recording.clone())
        }
        _ => recording.clone(),
    };
    store.keep(&path, &kept)?;
    Ok(path)
}

/// Whether all files are as they were. What is stale would only make the union larger.
fn is_current(recording: &Recording) -> bool {
    recording.files.iter().all(|file| prefetch::state(file) == prefetch::FileState::Same)
}

fn print(arguments: &Arguments, recording: &Recording, kept: Option<&Path>) -> Result<()> {
    let states: Vec<_> = recording.files.iter().map(prefetch::state).collect();
    let report = RecordingReport {
        schema: RECORDING_REPORT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        bytes: recording.bytes(),
        stale: super::prefetch::stale(recording, &states),
        recording: recording.clone(),
    };
    output::print_either(arguments.json, &report, |style| {
        let mut view = report::recording::view(&report, style, arguments.all);
        if let Some(path) = kept {
            view += &format!("\nKept in {}\n", output::quoted(path));
        }
        view
    })
}

fn merge(arguments: &Arguments) -> Result<ExitCode> {
    let paths = arguments.command.iter().map(Path::new);
    let recordings = paths.map(store::load).collect::<Result<Vec<_>, StoreError>>()?;
    let united =
        prefetch::merge::merge(recordings).map_err(|problem| Usage(problem.to_string()))?;
    // It is required with --merge.
    if let Some(out) = &arguments.out {
        may_be_written(out)?;
        store::save(out, &united)?;
        print(arguments, &united, Some(out))?;
        super::prefetch::renew_launchers(None, out);
    }
    Ok(ExitCode::SUCCESS)
}

/// The exit code: the recording is kept in any case.
fn conclude(arguments: &Arguments, ending: Option<Ending>) -> Result<ExitCode> {
    let failed = |code, text: String| Err(WithCode { code, text }.into());
    match ending {
        _ if arguments.ignore_failure => Ok(ExitCode::SUCCESS),
        Some(Ending::Code(code)) if code != 0 && arguments.until == Until::Exit => failed(
            exit::PROGRAM_FAILED,
            format!(
                "the program ended with code {code}; what it read until then is in the recording \
                 (--ignore-failure accepts that)"
            ),
        ),
        Some(Ending::Signal(signal)) => failed(
            exit::PROGRAM_FAILED,
            format!(
                "the program was ended by signal {signal}; what it read until then is in the \
                 recording (--ignore-failure accepts that)"
            ),
        ),
        Some(ending @ Ending::Status(_)) => failed(
            exit::PROGRAM_FAILED,
            format!(
                "the program {}; what it read until then is in the recording (--ignore-failure \
                 accepts that)",
                ending.words()
            ),
        ),
        Some(Ending::TimedOut) if arguments.until != Until::Exit => failed(
            exit::TIMED_OUT,
            "the program was not ready in time; what it read until then is in the recording \
             (give it more with --first)"
                .to_owned(),
        ),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// A way to record, as it is typed.
fn mode(text: &str) -> Result<RecordingMode, String> {
    match text {
        "exact" => Ok(RecordingMode::Exact),
        "tracepoints" => Ok(RecordingMode::Tracepoints),
        "page-faults" => Ok(RecordingMode::PageFaults),
        _ => Err("write exact, tracepoints or page-faults".to_owned()),
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
            conclude(&Line::parse_from(words).arguments, Some(ending)).map_err(|e| e.to_string())
        };
        let crash = Ending::Status(0xc000_0005);
        for (ending, how) in [
            (Ending::Code(3), "the program ended with code 3;"),
            (Ending::Signal(11), "the program was ended by signal 11;"),
            (crash, "the program ended with status c0000005 (access violation);"),
        ] {
            let text = concluded(&["record", "a"], ending).unwrap_err();
            assert!(text.starts_with(how) && text.contains("--ignore-failure"), "{text}");
            assert_eq!(concluded(&["record", "-i", "a"], ending), Ok(ExitCode::SUCCESS));
        }
        assert_eq!(concluded(&["record", "a"], Ending::Code(0)), Ok(ExitCode::SUCCESS));
    }
}
