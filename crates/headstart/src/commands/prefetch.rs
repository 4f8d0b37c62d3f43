//! `headstart prefetch`: what a launch reads, read ahead while the program starts.

mod install;
mod quick;
mod stored;

use crate::args::{disk, one_command};
use crate::exit::Usage;
use crate::output;
use anyhow::Result;
use model::{Command, Disk, Recording};
use os::prefetch::AheadDone;
use prefetch::launchers::{InstallError, known, launcher};
use prefetch::plan::{self, Amount};
use prefetch::store::{self, Store};
pub use quick::run_now;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
pub use stored::stale;

/// Start a program while what it is going to read is read ahead
///
/// Looks whether the recorded pages are in memory. If they are, the program is started and nothing
/// else is done. If not, a process of its own asks the kernel for all of them at once, while the
/// program starts. The process becomes the program, with the same process id, input, output, signals
/// and exit code. Needs no privileges.
///
/// The recording is that of `headstart record` for this program and this kind of arguments; if there is
/// none, all recordings of the program are used together. Files that have changed since are left
/// alone.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<stored::Action>,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, value_name = "CMD", required = true)]
    command: Vec<OsString>,
    /// Use the recording in this file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Read ahead, say what was read, and do not start the program
    #[arg(long)]
    only: bool,
    /// Read whole files one after the other before the program starts, as OpenOffice's pagein did
    #[arg(long)]
    files: bool,
    /// Read before the program starts rather than meanwhile
    #[arg(long)]
    before: bool,
    /// The disk [default: as an exact recording shows, else flash]
    #[arg(long, value_name = "DISK", value_parser = disk())]
    disk: Option<Disk>,
    /// Do not say why nothing is read ahead
    #[arg(short, long, conflicts_with = "only")]
    quiet: bool,
    /// With --only, print one JSON object
    #[arg(long, requires = "only")]
    json: bool,
}

/// What is to be done, as far as a start needs it.
#[derive(Debug, Default)]
struct Request {
    record: Option<PathBuf>,
    disk: Option<Disk>,
    files: bool,
    before: bool,
    quiet: bool,
}

/// Reads ahead and becomes the program, or looks at what is kept.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    if let Some(action) = &arguments.action {
        return stored::run(action);
    }
    let mut request = Request {
        record: arguments.record.clone(),
        disk: arguments.disk,
        files: arguments.files,
        before: arguments.before,
        quiet: arguments.quiet,
    };
    let command = meant(one_command(&arguments.command)?, &mut request)?;
    if !arguments.only {
        return Err(start(&command, &request).into());
    }
    let recording = recording(&command, &request)?.ok_or_else(|| {
        Usage(format!(
            "there is no recording of {}; make one: headstart record -- {}",
            command.name(),
            command.line()
        ))
    })?;
    let plan = planned(&recording, &request);
    let warm = os::prefetch::is_warm(&plan, &command.program);
    let done = if warm { AheadDone::default() } else { os::prefetch::read_ahead(&plan) };
    let report = stored::ahead_report(&recording, &plan, &done, warm);
    output::print_either(arguments.json, &report, |style| {
        report::recording::ahead(&report, style)
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The command that is meant: of a launcher, its program, and its recording if no other is wanted.
fn meant(command: Command, request: &mut Request) -> Result<Command, InstallError> {
    let (command, record) = launcher::meant(command)?;
    request.record = request.record.take().or(record);
    Ok(command)
}

/// The command that is meant: of a launcher, its program.
pub fn program_meant(command: Command) -> Result<Command, InstallError> {
    meant(command, &mut Request::default())
}

/// Becomes the program; returns only why that is not possible.
fn start(command: &Command, request: &Request) -> os::LaunchError {
    if is_warm(command, request) {
        return os::prefetch::become_program(command, None);
    }
    let plan = match recording(command, request) {
        Ok(Some(recording)) => Some(planned(&recording, request)),
        Ok(None) => {
            tell(
                request,
                format!(
                    "note: nothing is read ahead: there is no recording of {}; make one: \
                     headstart record -- {}",
                    command.name(),
                    command.line()
                ),
            );
            None
        }
        // A program must not fail to start for the sake of its recording.
        Err(error) => {
            tell(request, format!("note: nothing is read ahead: {error}"));
            None
        }
    };
    // A union of other recordings has samples of its own.
    let plan = plan.filter(|plan| !os::prefetch::is_warm(plan, &command.program));
    if let Some(plan) = plan.as_ref().filter(|_| request.before || request.files) {
        os::prefetch::read_ahead(plan);
        return os::prefetch::become_program(command, None);
    }
    os::prefetch::become_program(command, plan.as_ref())
}

/// Whether everything that the recording has as a sample is in memory; the rest of it is not read
/// for that.
fn is_warm(command: &Command, request: &Request) -> bool {
    let of_class = || {
        let store = Store::of_user(lab::default_folder::cache()).ok()?;
        let arguments = command.argv.get(1..).unwrap_or_default();
        Some(store.path(&real_program(command), arguments))
    };
    let path = request.record.clone().or_else(of_class);
    let samples = path.and_then(|path| store::samples(&path));
    samples.is_some_and(|samples| os::prefetch::is_warm(&samples, &command.program))
}

/// The program's file, whatever links lead to it.
fn real_program(command: &Command) -> PathBuf {
    command.program.canonicalize().unwrap_or_else(|_| command.program.clone())
}

/// Writes the launchers again that use what is kept of this program, or this recording. Where that fails, a
/// note says so: the recording itself is in its place.
pub fn renew_launchers(program: Option<&Path>, record: &Path) {
    let record = std::path::absolute(record).unwrap_or_else(|_| record.to_owned());
    let renewed = Store::of_user(lab::default_folder::cache())
        .map_err(InstallError::from)
        .and_then(|store| known::renew(&store, program, &record));
    match renewed {
        Ok(renewed) => {
            for at in renewed.renewed {
                output::tell(format!("renewed the launcher {}", output::quoted(&at)));
            }
            for error in renewed.failed {
                output::tell(format!("note: a launcher still reads ahead what it did: {error}"));
            }
        }
        Err(error) => output::tell(format!("note: no launcher is renewed: {error}")),
    }
}

fn tell(request: &Request, words: String) {
    if !request.quiet {
        output::tell(words);
    }
}

fn recording(command: &Command, request: &Request) -> Result<Option<Recording>> {
    if let Some(path) = &request.record {
        return Ok(Some(store::load(path)?));
    }
    let store = Store::of_user(lab::default_folder::cache())?;
    Ok(store.find(&real_program(command), command.argv.get(1..).unwrap_or_default())?)
}

fn planned(recording: &Recording, request: &Request) -> os::prefetch::AheadPlan {
    let amount = if request.files { Amount::WholeFiles } else { Amount::Recorded };
    plan::plan(recording, amount, request.disk.unwrap_or_else(|| Disk::of(recording)))
}
