//! `headstart load`: how long libraries take to load, one after the other.

use crate::args::seconds;
use crate::exit::{self, FileError, Usage};
use crate::input;
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use clap::ArgGroup;
use lab::libraries::{self, DllListRequest, LoadListRequest};
use lab::prefetching::{PrefetchExperimentError, PrefetchRequest, prefetching};
use model::published::PublishedPrefetch;
use model::{AheadWhen, Disk, LibraryLoadReport, RecordingMode, Until};
use os::prefetch::AheadPlan;
use prefetch::plan::{Amount, plan};
use prefetch::record::RecordRequest;
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Load libraries one after the other and show how long each takes
///
/// LIST is a text file with the name or path of a library on each line, as LoadDlls has it. Each is
/// loaded by dlopen (RTLD_NOW) in a process that does nothing else. Names are files of the current
/// folder, or else searched for as programs' libraries are. A library that fails, crashes, exits or
/// hangs is reported, and the others are loaded all the same.
///
/// A list of DLLs is loaded by LoadLibrary under Wine, in a prefix that is removed afterwards. Names
/// are searched for as Windows does (system32, the current folder, WINEPATH); a path may be one of
/// Linux (/opt/app/a.dll) or of Windows (C:\windows\system32\user32.dll).
#[derive(Debug, clap::Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(false))]
pub struct Arguments {
    /// The list; comments begin with # or ;
    #[arg(group = "what", value_name = "LIST")]
    list: Option<PathBuf>,
    /// Evict the files from the page cache first; the list is loaded once before, untimed, to find
    /// them
    #[arg(long)]
    cold: bool,
    /// Read the files ahead before loading: whole files, those of needed libraries included
    #[arg(long)]
    prefetch: bool,
    /// Read the files ahead while loading, by several threads. The loads themselves stay one after
    /// the other: the loader has one lock for all of a process
    #[arg(long)]
    parallel: bool,
    /// Load the list cold with and without reading ahead, in interleaved rounds, and show LoadDlls'
    /// published figures beside
    #[arg(long, conflicts_with_all = ["cold", "prefetch", "parallel", "strict"])]
    compare: bool,
    /// Rounds of --compare
    #[arg(short, long, value_name = "N", default_value_t = 10, requires = "compare")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Give a library up that takes longer
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = seconds)]
    timeout: Duration,
    /// Exit with code 1 unless all libraries were loaded
    #[arg(long)]
    strict: bool,
    /// Write a list of common libraries of this system instead: those of ld.so.cache that most
    /// others need, from as many packages as possible, that load without error or side effects
    #[arg(long, group = "what")]
    #[arg(conflicts_with_all = ["cold", "prefetch", "parallel", "compare", "strict", "json", "timeout"])]
    sample: bool,
    /// Number of libraries in the list of --sample
    #[arg(long, value_name = "N", default_value_t = 100, requires = "sample")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    count: u32,
    /// Write the list of --sample to this file
    #[arg(long, value_name = "FILE", requires = "sample")]
    out: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// How long the load may take that is recorded.
const RECORD_LIMIT: Duration = Duration::from_secs(120);

/// Loads everything and prints what it took; or writes a list.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let Some(list) = &arguments.list else { return sample(arguments) };
    let names = names(list)?;
    if names_dlls(&names) {
        return dlls(arguments, list, names);
    }
    let request = LoadListRequest {
        list: list.display().to_string(),
        names,
        timeout: arguments.timeout,
        cold: arguments.cold,
        ahead: match (arguments.prefetch, arguments.parallel) {
            (_, true) => Some(AheadWhen::Meanwhile),
            (true, false) => Some(AheadWhen::Before),
            (false, false) => None,
        },
    };
    if arguments.compare {
        compare(
            PrefetchRequest {
                recorded: recorded(&request),
                load: request,
                rounds: arguments.runs,
                seed: None,
            },
            arguments.json,
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let line = StatusLine::new();
    let report = libraries::load_libraries(&request, &mut |share| {
        line.show(share, "loading libraries".to_owned());
    })?;
    line.clear();
    show(arguments, &report)
}

fn show(arguments: &Arguments, report: &LibraryLoadReport) -> Result<ExitCode> {
    output::print_either(arguments.json, report, |style| {
        report::library_loads::view(report, style)
    })?;
    let good = !arguments.strict || report.failed() == 0;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(exit::NO) })
}

/// Whether a list is one of DLLs. In a list that has libraries of both systems dlopen refuses DLLs,
/// each with the reason.
fn names_dlls(names: &[OsString]) -> bool {
    names.iter().all(|name| libraries::is_dll_name(name))
}

/// Loads DLLs under Wine and prints what it took.
fn dlls(arguments: &Arguments, list: &Path, names: Vec<OsString>) -> Result<ExitCode> {
    let asked = [
        (arguments.cold, "--cold"),
        (arguments.prefetch, "--prefetch"),
        (arguments.parallel, "--parallel"),
        (arguments.compare, "--compare"),
    ];
    if let Some((_, option)) = asked.into_iter().find(|(is_asked, _)| *is_asked) {
        return Err(only_for_linux(list, option).into());
    }
    let request =
        DllListRequest { list: list.display().to_string(), names, timeout: arguments.timeout };
    let line = StatusLine::new();
    line.show(0.0, "preparing Wine".to_owned());
    let report = libraries::load_dlls(&request, &mut |share| {
        line.show(share, "loading libraries under Wine".to_owned());
    });
    line.clear();
    show(arguments, &report?)
}

/// Under Wine nobody knows which files a list takes: system DLLs are copies in a new prefix.
fn only_for_linux(list: &Path, what: &str) -> Usage {
    Usage(format!(
        "'{}' names DLLs: {what} is for libraries of Linux, because most files that a DLL takes \
         under Wine are in the prefix, which is new each time; load it without",
        list.display()
    ))
}

/// The names of a list.
fn names(list: &Path) -> Result<Vec<OsString>> {
    if output::is_named_pipe(list) {
        return Err(FileError {
            path: list.display().to_string(),
            source: std::io::Error::other("it is a named pipe, which waits for somebody to write"),
            remedy: "give a file",
        }
        .into());
    }
    let bytes = input::read_at_most(list, libraries::LARGEST_LIST_BYTES as u64 + 1)?;
    let names = libraries::library_names(&bytes).map_err(|error| FileError {
        path: list.display().to_string(),
        remedy: error.remedy,
        source: std::io::Error::other(error.to_string()),
    })?;
    Ok(names)
}

/// The names of a list that dlopen can load; `what` is to be done with them.
pub fn linux_names(list: &Path, what: &str) -> Result<Vec<OsString>> {
    let names = names(list)?;
    if names_dlls(&names) {
        return Err(only_for_linux(list, what).into());
    }
    Ok(names)
}

/// What a cold load of the list needs, to the page, as a plan; or why that is not known.
pub fn recorded(load: &LoadListRequest) -> Result<AheadPlan, String> {
    let line = StatusLine::new();
    line.show(0.0, "recording a cold load".to_owned());
    let found = record(load);
    line.clear();
    found.map_err(|error| {
        let text = format!("a cold load could not be recorded exactly: {error:#}");
        if text.ends_with('.') { text } else { text + "." }
    })
}

/// Records a copy of this command that loads the same list.
fn record(load: &LoadListRequest) -> Result<AheadPlan> {
    os::file_pages::permitted()?;
    let mut list = tempfile::NamedTempFile::new()?;
    for name in &load.names {
        // In quotation marks a name may have what begins a comment.
        let quote: &[u8] = if name.as_encoded_bytes().contains(&b'"') { b"'" } else { b"\"" };
        list.write_all(&[quote, name.as_encoded_bytes(), quote, b"\n"].concat())?;
    }
    let timeout = format!("{}ms", load.timeout.as_millis());
    let program = std::env::current_exe()?;
    let words: [OsString; 5] =
        [program.into(), "load".into(), "--timeout".into(), timeout.into(), list.path().into()];
    let command = os::program::resolve(&words)?;
    let request = RecordRequest {
        until: Until::Exit,
        first: RECORD_LIMIT,
        cpu: None,
        mode: Some(RecordingMode::Exact),
    };
    let recorded = prefetch::record::record(&command, &request, &mut |_| ())?;
    if recorded.ending.is_none_or(|ending| !ending.is_success()) {
        anyhow::bail!("it did not end well");
    }
    let recording = &recorded.recording;
    Ok(plan(recording, Amount::Recorded, Disk::of(recording)))
}

/// LoadDlls' procedure; what it found.
pub fn compare(request: PrefetchRequest, json: bool) -> Result<model::PrefetchExperiment> {
    let line = StatusLine::new();
    let found = prefetching(&request, &mut |share| {
        line.show(share, "loading libraries with and without reading ahead".to_owned());
    });
    line.clear();
    let found = found.map_err(|error| match error {
        PrefetchExperimentError::Launch(error) => anyhow::Error::from(error),
        nothing => exit::WithCode { code: exit::NO, text: nothing.to_string() }.into(),
    })?;
    let published = PublishedPrefetch::loaddlls();
    if json {
        output::print(&object(&found)?)?;
    } else {
        let view = report::published::prefetching(&found, &published, &output::style());
        output::print(&view)?;
    }
    Ok(found)
}

/// What was found, with the published figures beside it.
pub fn object(found: &model::PrefetchExperiment) -> Result<String> {
    let mut value = serde_json::to_value(found)?;
    value["published"] = serde_json::to_value(PublishedPrefetch::loaddlls())?;
    Ok(report::export::json(&value)?)
}

fn sample(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(out) = &arguments.out {
        output::may_be_written(out)?;
    }
    let line = StatusLine::new();
    let found = libraries::sample(arguments.count as usize, &mut |share| {
        line.show(share, "trying libraries".to_owned());
    })?;
    line.clear();
    if found.names.is_empty() {
        let text = "ld.so.cache names no library that can be loaded; run ldconfig as root";
        return Err(exit::WithCode { code: exit::NO, text: text.to_owned() }.into());
    }
    let text = list_text(&found);
    match &arguments.out {
        None => output::print(&text)?,
        Some(out) => {
            output::write_file(out, &text)?;
            let (count, out) = (found.names.len(), output::quoted(out));
            output::print(&format!("{count} libraries: {out}\n"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list_text(found: &libraries::Sampled) -> String {
    let mut text = format!(
        "# {} common libraries of this system, from {} packages; headstart load --sample chose them \
         among {}\n",
        found.names.len(),
        found.packages,
        found.candidates
    );
    found.names.iter().for_each(|name| text += &format!("{name}\n"));
    text
}
