//! The question of OpenOffice's `pagein`: whole files read ahead, exact ranges, or nothing?

use crate::args::{one_command, seconds};
use crate::commands::prefetch::program_meant;
use crate::commands::record;
use crate::exit::{self, Usage, WithCode};
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use lab::pagein::{PageinError, PageinLaunch, PageinRequest, PageinTimes, pagein};
use model::Disk;
use model::published::PublishedOrder;
use model::{
    AheadForm, CacheState, Command, Ending, PAGEIN_EXPERIMENT_SCHEMA, PageinDisk, PageinExperiment,
    PageinRecording, ReadSum, Reading, Recording, Rules, Until, text,
};
use os::LaunchError;
use os::attend::AttendOptions;
use os::cache::DropError;
use os::launcher::Launcher;
use os::prefetch::AheadDone;
use prefetch::plan::{self, Amount};
use prefetch::record::RecordRequest;
use prefetch::store;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Does a cold start gain more from reading whole files ahead, or only what it needs?
///
/// OpenOffice's start script reads whole files ahead (pagein), as vmtouch does. Here a program is
/// launched cold as it is, with its whole files asked for first, and with the recorded ranges of them
/// asked for while it starts; and warm. All forms take turns in random order. As root the page cache
/// is dropped before each cold launch, for everybody else the files of the launch are evicted. The
/// last line says which pays on this disk; what the document says of pagein is printed above it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// What to launch; it has to end by itself
    #[arg(trailing_var_arg = true, value_name = "CMD", required = true)]
    command: Vec<OsString>,
    /// Use the recording in this file [default: one that is made now]
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Evict the files of the launch alone, also as root: other programs keep theirs in memory
    #[arg(long)]
    evict: bool,
    /// Rounds, in each of which every form is launched once
    #[arg(short, long, value_name = "N", default_value_t = 15)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// End a launch that takes longer, and give up
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds)]
    timeout: Duration,
    /// Seed of the random order
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Keep the recording and the tables in this new folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    save: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Makes the experiment and prints the tables.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let launcher = Launcher::start()?;
    let command = program_meant(one_command(&arguments.command)?)?;
    let given = arguments.record.as_deref().map(store::load).transpose()?;
    if let Some(folder) = &arguments.save {
        super::new_folder(folder)?;
    }
    let line = StatusLine::new();
    let recording = match given {
        Some(recording) => recording,
        None => recorded(arguments, &command, &line)?,
    };
    // Whoever starts the program reads the recording from a file.
    let folder = tempfile::tempdir()?;
    let path = arguments.record.clone().unwrap_or_else(|| folder.path().join("launch.record"));
    if arguments.record.is_none() {
        store::save(&path, &recording)?;
    }
    let mut notes = about(&recording, &command);
    let request = PageinRequest {
        forms: forms(&command, &recording, &path, &mut notes)?,
        files: files(arguments, &command, &recording, &path)?,
        cold: cold(arguments.evict, &mut notes),
        rounds: arguments.runs,
        seed: arguments.seed,
        timeout: arguments.timeout,
    };
    let made = pagein(launcher, &request, &mut |share| {
        line.show(share, "launching cold and warm".to_owned());
    });
    line.clear();
    let times = made.map_err(told)?;
    let found = found(arguments, &command, &recording, times, notes);
    print(arguments, &recording, &found)?;
    Ok(ExitCode::SUCCESS)
}

fn told(error: PageinError) -> anyhow::Error {
    let code = match &error {
        PageinError::Launch(_) => return anyhow::Error::from(error),
        PageinError::Failed { ending: Ending::TimedOut, .. } => exit::TIMED_OUT,
        PageinError::Failed { .. } => exit::PROGRAM_FAILED,
        PageinError::Drop(_) => exit::NOT_PERMITTED,
    };
    WithCode { code, text: error.to_string() }.into()
}

/// A recording of a cold launch, in the most precise way that is permitted.
fn recorded(arguments: &Arguments, command: &Command, line: &StatusLine) -> Result<Recording> {
    let request =
        RecordRequest { until: Until::Exit, first: arguments.timeout, cpu: None, mode: None };
    let recorded = prefetch::record::record(command, &request, &mut |step| {
        line.show(0.0, record::words(step).to_owned());
    });
    if exit::interrupted().is_some() {
        return Err(LaunchError::Interrupted.into());
    }
    let recorded = recorded?;
    match recorded.ending {
        Some(ending) if !ending.is_success() => {
            Err(told(PageinError::Failed { command: command.line(), ending }))
        }
        _ => Ok(recorded.recording),
    }
}

/// What is launched in each form. Everything is asked for once before, to learn what can be.
fn forms(
    command: &Command,
    recording: &Recording,
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<Vec<PageinLaunch>> {
    let plain = |form| PageinLaunch { form, command: command.clone(), asked: None };
    let mut forms = vec![plain(AheadForm::Cold)];
    let kinds = [
        (AheadForm::WholeFiles, Amount::WholeFiles, &["--files"][..]),
        (AheadForm::Ranges, Amount::Recorded, &[]),
    ];
    for (form, amount, option) in kinds {
        let plan = plan::plan(recording, amount, Disk::of(recording));
        let done = os::prefetch::read_ahead(&plan);
        if done.without_memory {
            notes.push(format!(
                "'{}' was left out: {} would fill more than half of the memory that is available.",
                form.words(),
                model::figures::bytes(plan.bytes())
            ));
            continue;
        }
        skipped(&done, notes);
        if done.bytes == 0 {
            let text = format!(
                "nothing of the recording can be read ahead: its files have changed, are gone or may \
                 not be read; record again: headstart record --out FILE -- {}",
                command.line()
            );
            return Err(Usage(text).into());
        }
        let asked = Some(ReadSum { reads: done.requests, bytes: done.bytes });
        forms.push(PageinLaunch { form, command: ahead(command, path, option)?, asked });
    }
    forms.push(plain(AheadForm::Warm));
    Ok(forms)
}

/// The command that reads ahead and becomes the program.
fn ahead(command: &Command, recording: &Path, option: &[&str]) -> Result<Command> {
    let own = std::env::current_exe()?;
    let mut words: Vec<OsString> = vec![own.into(), "prefetch".into(), "--quiet".into()];
    words.extend(option.iter().map(Into::into));
    words.extend(["--record".into(), recording.into(), "--".into()]);
    words.push(command.program.clone().into());
    words.extend(command.argv.iter().skip(1).cloned());
    Ok(os::program::resolve(&words)?)
}

fn skipped(done: &AheadDone, notes: &mut Vec<String>) {
    // Both forms skip the same files.
    if let Some(first) = done.skipped.first() {
        let others = match done.skipped.len() - 1 {
            0 => String::new(),
            others => format!(", and {}", model::figures::plural(others as u64, "other", "others")),
        };
        let first = first.path.display();
        let note = format!("Left alone, as changed, gone or not readable: '{first}'{others}.");
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
}

/// All that leaves memory before a cold launch: what the launch uses, what is read ahead of it, and the
/// recording.
fn files(
    arguments: &Arguments,
    command: &Command,
    recording: &Recording,
    path: &Path,
) -> Result<Vec<PathBuf>> {
    let options = AttendOptions { timeout: arguments.timeout, cpu: None, to_entry: false };
    let mapped = os::cache::mapped_files(command, &options)?.files;
    let recorded = recording.files.iter().map(|file| PathBuf::from(text::name(&file.path)));
    let all = mapped.into_iter().chain(recorded).chain([path.to_owned()]);
    let real: BTreeSet<PathBuf> = all.filter_map(|path| path.canonicalize().ok()).collect();
    Ok(real.into_iter().filter(|path| path.is_file() && File::open(path).is_ok()).collect())
}

/// How the cache is emptied.
fn cold(evict: bool, notes: &mut Vec<String>) -> CacheState {
    if evict {
        return CacheState::ColdEvicted;
    }
    match os::cache::may_drop() {
        Ok(()) => CacheState::ColdDropped,
        Err(error) => {
            let why = match error {
                DropError::NotPermitted(_) => "only root may drop the page cache".to_owned(),
                DropError::Failed(_) => error.to_string(),
            };
            notes.push(format!(
                "The files of the launch were evicted, and names and inodes stay in memory: {why}."
            ));
            CacheState::ColdEvicted
        }
    }
}

/// What is to be known of the recording.
fn about(recording: &Recording, command: &Command) -> Vec<String> {
    let mut notes = vec![
        "Forms that read ahead are started by headstart prefetch, so its own start is in their times."
            .to_owned(),
    ];
    let program = command.program.canonicalize().unwrap_or_else(|_| command.program.clone());
    if text::text(&program) != recording.program {
        notes.push(format!("The recording is of another program: {}.", recording.command));
    }
    notes
}

fn found(
    arguments: &Arguments,
    command: &Command,
    recording: &Recording,
    times: PageinTimes,
    mut notes: Vec<String>,
) -> PageinExperiment {
    if times.cold.state == CacheState::ColdDropped {
        notes.push(
            "What was read is counted in launches of their own; before the cold ones the files were evicted."
                .to_owned(),
        );
    }
    let least = Rules::default().least_rounds;
    if arguments.runs < least {
        notes.push(format!("With fewer than {least} rounds no difference is called one."));
    }
    PageinExperiment {
        schema: PAGEIN_EXPERIMENT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        command: command.line(),
        recording: PageinRecording {
            path: arguments.record.as_ref().map(text::text),
            mode: recording.mode,
            files: recording.files.len() as u32,
            file_bytes: recording.files.iter().map(|file| file.identity.size_bytes).sum(),
            recorded_bytes: recording.bytes(),
        },
        disk: disk(&command.program),
        cold: times.cold,
        rounds: arguments.runs,
        seed: times.seed,
        forms: times.forms,
        effects: times.effects,
        ranges_against_files: times.ranges_against_files,
        notes,
    }
}

fn disk(program: &Path) -> PageinDisk {
    let folder = program.canonicalize().ok();
    let folder = folder.as_deref().and_then(Path::parent).unwrap_or(Path::new("/"));
    PageinDisk {
        file_system: match os::host::file_system(folder) {
            Ok(kind) => Reading::Value(kind),
            Err(error) => Reading::unavailable(error.to_string(), ""),
        },
        read_ahead_kib: os::host::read_ahead_kib(program),
    }
}

fn print(arguments: &Arguments, recording: &Recording, found: &PageinExperiment) -> Result<()> {
    let published = PublishedOrder::openoffice();
    if arguments.json {
        output::print(&object(found)?)?;
    } else {
        output::print(&report::published::pagein(found, &published, &output::style()))?;
    }
    let Some(folder) = &arguments.save else { return Ok(()) };
    let write = |name: &str, text: &str| output::write_file(&folder.join(name), text);
    write("pagein.json", &object(found)?)?;
    write("table.md", &report::published::pagein_markdown(found, &published))?;
    store::save(&folder.join("launch.record"), recording)?;
    if !arguments.json {
        output::print(&format!("\nRecording and tables: {}\n", output::quoted(folder)))?;
    }
    Ok(())
}

/// What was found, with the published figures beside it.
fn object(found: &PageinExperiment) -> Result<String> {
    let mut value = serde_json::to_value(found)?;
    let PublishedOrder { source, start_machine, starts, pagein, .. } = PublishedOrder::openoffice();
    value["published"] = serde_json::json!({
        "source": source, "pagein": pagein, "start_machine": start_machine, "starts": starts,
    });
    Ok(report::export::json(&value)?)
}
