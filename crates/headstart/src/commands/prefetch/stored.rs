//! What is kept: listed, shown, removed.

use crate::commands::prefetch_name::{self, NameArguments};
use crate::exit::{FileError, Usage, WithCode};
use crate::{exit, output};
use anyhow::Result;
use model::{
    AHEAD_REPORT_SCHEMA, AheadReport, RECORDING_LIST_SCHEMA, RECORDING_REPORT_SCHEMA, Recording,
    RecordingEntry, RecordingList, RecordingReport, SkippedAhead, StaleFile,
};
use os::prefetch::{AheadDone, AheadPlan, SkipReason};
use prefetch::FileState;
use prefetch::store::{self, Store, StoredRecording};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What is done with the recordings that are kept.
#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// List the recordings that are kept
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show a recording: its files, and which of them have changed
    Show {
        /// A number or a part of the name or command that list shows, or a file
        #[arg(value_name = "RECORDING")]
        recording: String,
        /// List every file
        #[arg(long)]
        all: bool,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Remove recordings
    Rm {
        /// Numbers or parts of names or commands that list shows
        #[arg(value_name = "RECORDING", required = true)]
        recordings: Vec<String>,
    },
    Install(super::install::InstallArguments),
    Uninstall(super::install::UninstallArguments),
    Name(NameArguments),
}

/// Does it.
pub fn run(action: &Action) -> Result<ExitCode> {
    match action {
        Action::List { json } => list(*json),
        Action::Show { recording, all, json } => show(recording, *all, *json),
        Action::Rm { recordings } => remove(recordings),
        Action::Install(arguments) => super::install::install(arguments),
        Action::Uninstall(arguments) => super::install::uninstall(arguments),
        Action::Name(arguments) => prefetch_name::run(arguments),
    }
}

fn stored() -> Result<Vec<StoredRecording>> {
    Ok(Store::of_user(lab::default_folder::cache())?.list()?)
}

fn list(json: bool) -> Result<ExitCode> {
    let entry = |stored: StoredRecording| RecordingEntry {
        path: model::text::text(&stored.path),
        file_bytes: stored.file_bytes,
        stale_files: stored.content.as_ref().ok().map(|recording| {
            let changed = |file| prefetch::state(file) != FileState::Same;
            recording.files.iter().filter(|file| changed(file)).count() as u64
        }),
        bytes: stored.content.as_ref().ok().map(Recording::bytes),
        command: stored.content.as_ref().ok().map(|recording| recording.command.clone()),
        mode: stored.content.as_ref().ok().map(|recording| recording.mode),
        problem: stored.content.err(),
    };
    let recordings = stored()?.into_iter().map(entry).collect();
    let list = RecordingList { schema: RECORDING_LIST_SCHEMA, recordings };
    output::print_either(json, &list, |style| report::recording::list(&list, style))?;
    if list.recordings.is_empty() && !json {
        output::tell("make one: headstart record -- CMD");
    }
    Ok(ExitCode::SUCCESS)
}

/// The recording that a user means.
fn one(wanted: &str) -> Result<StoredRecording> {
    let stored = stored()?;
    if let Ok(number) = wanted.parse::<usize>() {
        let found = number.checked_sub(1).and_then(|index| stored.get(index));
        return found.cloned().ok_or_else(|| {
            let of = stored.len();
            Usage(format!("there is no recording {number}; there are {of}")).into()
        });
    }
    // The hashes in a name are no part that somebody would give.
    let is_meant = |stored: &&StoredRecording| {
        let name = stored.path.file_name().unwrap_or_default().to_string_lossy();
        let program = name.rsplitn(3, '-').last().unwrap_or_default();
        let command = stored.content.as_ref().is_ok_and(|found| found.command.contains(wanted));
        name == wanted || program.contains(wanted) || command
    };
    let meant: Vec<&StoredRecording> = stored.iter().filter(is_meant).collect();
    match meant.as_slice() {
        [found] => Ok((*found).clone()),
        [] => Err(Usage(format!(
            "no recording is called '{wanted}'; 'headstart prefetch list' shows all"
        ))
        .into()),
        several => Err(Usage(format!(
            "{} recordings are called '{wanted}'; give the number that 'headstart prefetch list' \
             shows",
            several.len()
        ))
        .into()),
    }
}

fn show(wanted: &str, all: bool, json: bool) -> Result<ExitCode> {
    let path = match store::is_recording(Path::new(wanted)) {
        true => PathBuf::from(wanted),
        false => one(wanted)?.path,
    };
    let recording = store::load(&path)?;
    let states: Vec<FileState> = recording.files.iter().map(prefetch::state).collect();
    let report = RecordingReport {
        schema: RECORDING_REPORT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        bytes: recording.bytes(),
        stale: stale(&recording, &states),
        recording,
    };
    output::print_either(json, &report, |style| report::recording::view(&report, style, all))?;
    Ok(ExitCode::SUCCESS)
}

/// All are found before the first is removed.
fn remove(wanted: &[String]) -> Result<ExitCode> {
    let found = wanted.iter().map(|wanted| one(wanted)).collect::<Result<Vec<_>>>()?;
    let program = |stored: StoredRecording| {
        (stored.path, stored.content.map(|recording| recording.program).unwrap_or_default())
    };
    let paths: BTreeMap<PathBuf, String> = found.into_iter().map(program).collect();
    for (path, program) in &paths {
        std::fs::remove_file(path).map_err(|source| FileError {
            path: path.display().to_string(),
            source,
            remedy: "check its permissions",
        })?;
        output::print(&format!("removed {}\n", output::quoted(path)))?;
        super::renew_launchers(Some(Path::new(program)), path);
    }
    if paths.is_empty() {
        let text = "nothing was removed".to_owned();
        return Err(WithCode { code: exit::NO, text }.into());
    }
    Ok(ExitCode::SUCCESS)
}

/// The files of a recording that are not read ahead any more, and why.
pub fn stale(recording: &Recording, states: &[FileState]) -> Vec<StaleFile> {
    let words = |state: &FileState| match state {
        FileState::Same => None,
        FileState::SameBuild => Some("it was written again, with the same content".to_owned()),
        FileState::Changed => Some("it has changed".to_owned()),
        FileState::Missing => Some("it is not there".to_owned()),
        FileState::Unreadable(words) => Some(format!("it cannot be read: {words}")),
    };
    let files = recording.files.iter().zip(states);
    let stale = files.filter_map(|(file, state)| {
        Some(StaleFile { path: file.path.clone(), reason: words(state)? })
    });
    stale.collect()
}

/// What became of a plan.
pub fn ahead_report(
    recording: &Recording,
    plan: &AheadPlan,
    done: &AheadDone,
    warm: bool,
) -> AheadReport {
    let reason = |reason: &SkipReason| match reason {
        SkipReason::Changed => "it has changed since it was recorded".to_owned(),
        SkipReason::NoFile => "it is no regular file".to_owned(),
        SkipReason::Refused(words) => words.clone(),
    };
    AheadReport {
        schema: AHEAD_REPORT_SCHEMA,
        command: recording.command.clone(),
        files: plan.files.len() as u64,
        was_in_memory: warm,
        asked_bytes: done.bytes,
        requests: done.requests,
        without_memory: done.without_memory,
        skipped: done
            .skipped
            .iter()
            .map(|skipped| SkippedAhead {
                path: model::text::text(&skipped.path),
                reason: reason(&skipped.reason),
            })
            .collect(),
    }
}
