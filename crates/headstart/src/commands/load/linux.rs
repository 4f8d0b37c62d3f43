//! Libraries of Linux, loaded by dlopen, and DLLs, loaded under Wine.

use super::{Arguments, dlls, names, show};
use crate::exit::{self, Usage};
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use lab::libraries::{self, LoadListRequest};
use lab::prefetching::{PrefetchExperimentError, PrefetchRequest, prefetching};
use model::published::PublishedPrefetch;
use model::{AheadWhen, Disk, RecordingMode, Until};
use os::prefetch::AheadPlan;
use prefetch::plan::{Amount, plan};
use prefetch::record::RecordRequest;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// Loads everything and prints what it took; or writes a list.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let Some(list) = &arguments.list else { return sample(arguments) };
    let names = names(list)?;
    if names_dlls(&names) {
        if let Some(option) = arguments.option_of_linux() {
            return Err(only_for_linux(list, option).into());
        }
        let waits = ["preparing Wine", "loading libraries under Wine"];
        return dlls(arguments, list, names, waits);
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

/// How long the load may take that is recorded.
const RECORD_LIMIT: Duration = Duration::from_secs(120);

/// Whether a list is one of DLLs. In a list that has libraries of both systems dlopen refuses DLLs,
/// each with the reason.
fn names_dlls(names: &[OsString]) -> bool {
    names.iter().all(|name| libraries::is_dll_name(name))
}

/// Under Wine nobody knows which files a list takes: system DLLs are copies in a new prefix.
fn only_for_linux(list: &Path, what: &str) -> Usage {
    Usage(format!(
        "'{}' names DLLs: {what} is for libraries of Linux, because most files that a DLL takes \
         under Wine are in the prefix, which is new each time; load it without",
        list.display()
    ))
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
