//! `headstart trace --pages`: which pages of which files a launch touches.

use super::{Arguments, until};
use crate::args::one_command_found;
use crate::exit::Usage;
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use model::{
    Command, Ending, FilePages, PAGES_REPORT_SCHEMA, PagesReport, Reading, TouchedFile, Until,
};
use ordering::windows;
use os::attend::AttendOptions;
use os::file_pages::{HeldFiles, PagesRequest};
use os::trace::RecordUntil;
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

/// How long the launches may take that only find the files, where the program does not end by
/// itself.
const FINDING: Duration = Duration::from_secs(5);

/// Records and prints.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let request = request(arguments)?;
    let command = one_command_found(&arguments.command, windows::find)?;
    // Refused before anything is launched.
    if windows::is_for_windows(&command) {
        let text = "Windows programs cannot be launched by name with --pages; give the launch with \
                    Wine: headstart trace --pages -- wine64 app.exe";
        return Err(Usage(text.to_owned()).into());
    }
    os::file_pages::permitted()?;
    until::check_file(&arguments.until, "remove it")?;
    let line = StatusLine::new();
    line.show(0.0, "finding the files of a launch".to_owned());
    let mut finding = request.options.clone();
    if request.until != Until::Exit || request.first.is_some() {
        finding.timeout = finding.timeout.min(request.first.unwrap_or(FINDING)).min(FINDING);
    }
    let files = os::cache::mapped_files(&command, &finding)?;
    until::check_file(
        &arguments.until,
        "the launches that find the files of the program have made it; choose output or port, or \
         --first",
    )?;
    line.show(0.5, "recording a cold launch".to_owned());
    let found = os::file_pages::record(&command, &files.files, &request)?;
    line.clear();
    let report = report(arguments, &command, &found, files.source);
    output::print_either(arguments.json, &report, |style| {
        report::pages::view(&report, style, arguments.all)
    })?;
    if is_over(arguments, &found) {
        return Ok(ExitCode::SUCCESS);
    }
    arguments.conclude_with(found.ending, found.ending == Ending::Ready, "")
}

/// Whether the time of `--first` was over.
fn is_over(arguments: &Arguments, found: &FilePages) -> bool {
    let within = |first: Duration| first <= arguments.timeout;
    found.ending == Ending::TimedOut && arguments.first.is_some_and(within)
}

fn request(arguments: &Arguments) -> Result<PagesRequest> {
    let RecordUntil::Launch(until) = &arguments.until else {
        let text = "--pages stops nothing in the program, so it sees neither signals nor functions; \
                    use --until with exit, entry, output, port or file, or --first";
        return Err(Usage(text.to_owned()).into());
    };
    let cpu = arguments.pin.cpu();
    Ok(PagesRequest {
        until: until.clone(),
        first: arguments.first,
        with_read_ahead: false,
        held: HeldFiles::Used,
        options: AttendOptions { timeout: arguments.timeout, cpu, to_entry: false },
    })
}

fn report(
    arguments: &Arguments,
    command: &Command,
    found: &FilePages,
    files_from: String,
) -> PagesReport {
    let (files, order) = ordering::pages::by_section(found);
    PagesReport {
        schema: PAGES_REPORT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.line(),
        ending: found.ending,
        total_us: found.total_us,
        page_bytes: found.page_bytes,
        files_from,
        files,
        order: arguments.all.then_some(order),
        notes: notes(found),
    }
}

/// What is not known, and why.
fn notes(found: &FilePages) -> Vec<String> {
    let mut notes = Vec::new();
    let held = found.files.iter().filter(|file| !file.in_memory.is_empty());
    let held: Vec<&TouchedFile> = held.filter(|file| file.touched.value().is_some()).collect();
    if !held.is_empty() {
        notes.push(format!(
            "pages of {} could not leave memory, because other programs have them mapped or they \
             are not written to the disk yet: whether the launch touched those is not known, and \
             it may have touched more than is listed",
            these(held.len())
        ));
    }
    let read = found.files.iter().filter(|file| !file.by_others.is_empty()).count();
    if read > 0 {
        notes.push(format!(
            "other programs read pages of {} during the launch: whether it touched those is not \
             known; run the command again when the machine is quiet",
            these(read)
        ));
    }
    if found.lost > 0 {
        notes.push(format!(
            "the kernel dropped {} records: pages are missing; run the command again",
            found.lost
        ));
    }
    let mut reasons: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for file in &found.files {
        if let Reading::Unavailable { reason, remedy } = &file.touched {
            reasons.entry((reason, remedy)).or_default().push(&file.path);
        }
    }
    for ((reason, remedy), paths) in reasons {
        let others = match paths.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let remedy = if remedy.is_empty() { String::new() } else { format!("; {remedy}") };
        notes.push(format!("not known of {}{others}: {reason}{remedy}", paths[0]));
    }
    if found.other_files > 0 {
        notes.push(format!(
            "{} pages of {} entered memory that the launches before did not use: those that this \
             one wrote, or others that it read",
            found.other_pages,
            these(found.other_files as usize)
        ));
    }
    notes
}

fn these(files: usize) -> String {
    if files == 1 { "1 file".to_owned() } else { format!("{files} files") }
}
