//! OpenOffice's experiment (*Reorder Symbols For Libraries*, 2009) on a program of today: its
//! functions traced, ordered, linked again and verified, and the question that the document leaves
//! open: is it better to read the whole file ahead (`pagein`), to order it, or both?
//!
//! [`openoffice`] takes an [`OpenOfficeRequest`] and gives a [`model::OrderExperiment`]. The program
//! comes from `programs`; the order is tried as [`crate::attempt`] does it; `pagein` asks the question.

mod error;
mod pagein;
mod places;
mod programs;

use crate::attempt::{self, AttemptRequest, Attempted, build_line};
use crate::orders::Algorithm;
use crate::shell;
use crate::verify::{VerifyRequest, VerifyStep};
use crate::write::{self, Linker};
use files::Permit;
use model::{
    Command, ORDER_EXPERIMENT_SCHEMA, OrderExperiment, OrderReport, OrderVerification, text,
};
use os::launcher::Launcher;
use places::Places;
use programs::LinkableProgram;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

pub use error::OpenOfficeError;

/// What to make the experiment with.
#[derive(Clone, Debug)]
pub struct OpenOfficeRequest {
    /// The program.
    pub source: ProgramSource,
    /// The linker that its build uses.
    pub linker: Linker,
    /// A folder on the file system that the program is to be launched from; the run folder where none
    /// is named.
    pub on: Option<PathBuf>,
    /// The new folder for the order and the tables; one in the default place where none is named.
    pub save: Option<PathBuf>,
    /// How builds are compared; its commands are filled in here.
    pub verify: VerifyRequest,
}

/// Where the program comes from.
#[derive(Clone, Debug)]
pub enum ProgramSource {
    /// vim, of Debian's source package.
    Vim,
    /// `clang -cc1`, of the static archives in Debian's packages.
    Clang,
    /// A program of the user's.
    Own(OwnProgram),
}

/// A program that the user builds.
#[derive(Clone, Debug)]
pub struct OwnProgram {
    /// The folder in which it is built.
    pub source: PathBuf,
    /// The command line that links it, for a shell, with [`attempt::ORDER`] and [`attempt::OUT`] in it.
    pub build: String,
    /// Launches for which it is ordered; the first is measured. None is one launch without
    /// arguments.
    pub launches: Vec<Task>,
    /// Launches for which it is not.
    pub held_out: Vec<Task>,
}

/// What a program is launched for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// In few words.
    pub title: String,
    /// The program's arguments.
    pub arguments: Vec<OsString>,
}

/// Processes that launch, started before anything large was in memory.
pub struct ExperimentLaunchers {
    /// For what builds the program in the order of its link.
    pub build: Launcher,
    /// For trying an order, as [`attempt::attempt`] wants them.
    pub attempt: [Launcher; 3],
    /// For comparing an order with reading ahead.
    pub pagein: Launcher,
}

impl ExperimentLaunchers {
    /// Starts them.
    ///
    /// # Errors
    /// There are too many processes.
    pub fn start() -> Result<ExperimentLaunchers, os::LaunchError> {
        let attempt = [Launcher::start()?, Launcher::start()?, Launcher::start()?];
        Ok(ExperimentLaunchers { build: Launcher::start()?, attempt, pagein: Launcher::start()? })
    }
}

/// The experiment, and the folder in which its order is.
#[derive(Debug)]
pub struct OpenOffice {
    /// What was found.
    pub experiment: OrderExperiment,
    /// The run folder.
    pub folder: PathBuf,
}

/// Makes the experiment.
///
/// # Errors
/// [`OpenOfficeError`]. What only root may see is unavailable elsewhere, and no error.
pub fn openoffice(
    request: &OpenOfficeRequest,
    launchers: ExperimentLaunchers,
    observer: &mut dyn FnMut(VerifyStep),
) -> Result<OpenOffice, OpenOfficeError> {
    let folder = places::claim(request.save.as_deref())?;
    let made = made(request, &folder, launchers, observer);
    if made.is_err() {
        // Only an empty one goes.
        let _ = std::fs::remove_dir(&folder);
    }
    Ok(OpenOffice { experiment: made?, folder })
}

fn made(
    request: &OpenOfficeRequest,
    folder: &Path,
    launchers: ExperimentLaunchers,
    observer: &mut dyn FnMut(VerifyStep),
) -> Result<OrderExperiment, OpenOfficeError> {
    let ExperimentLaunchers { mut build, attempt, pagein } = launchers;
    observer(VerifyStep { what: request.source.preparing(), done: 0, of: 1 });
    let program = programs::prepare(&request.source, &mut build)?;
    let places = Places::new(request.on.as_deref().unwrap_or(folder), &program.name)?;
    observer(VerifyStep { what: "linking without an order", done: 0, of: 1 });
    link_unordered(&program, &places, request.linker, &mut build)?;
    let order = folder.join(format!("{}.order", program.name));
    let attempt_request = attempt_request(request, &program, &places, order);
    let attempted = attempt::attempt(attempt_request, attempt, observer)?;
    let Attempted { mut order, assumption, verification, .. } = attempted;
    order.notes.extend(assumption.map(|assumption| assumption.to_string()));
    observer(VerifyStep { what: "comparing with reading the whole file ahead", done: 0, of: 1 });
    let first = program.launches.first().map_or(&[][..], |task| &task.arguments);
    let pagein = pagein::compare(&places, first, &request.verify, pagein)?;
    let (order, verification) = named(&program, order, verification);
    Ok(OrderExperiment {
        schema: ORDER_EXPERIMENT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        machine: os::host::machine(),
        run: Some(text::text(folder)),
        program: program.about,
        order,
        verification,
        pagein,
        file_system: places.file_system(),
        read_ahead_kib: os::host::read_ahead_kib(&places.before),
    })
}

/// What was found, without the folder that is gone by now.
fn named(
    program: &LinkableProgram,
    order: OrderReport,
    mut verification: OrderVerification,
) -> (OrderReport, OrderVerification) {
    for (launch, task) in verification.held_out.iter_mut().zip(&program.held_out) {
        launch.command.clone_from(&task.title);
    }
    (OrderReport { image: program.name.clone(), ..order }, verification)
}

/// The program as it is without an order: the same command line with an order file that lists nothing.
fn link_unordered(
    program: &LinkableProgram,
    places: &Places,
    linker: Linker,
    launcher: &mut Launcher,
) -> Result<(), OpenOfficeError> {
    let nothing = write::write(linker, &[], None);
    let written = files::write_over(&places.empty, nothing.text.as_bytes(), Permit::Created(0o666));
    written.map_err(|error| OpenOfficeError::io(&places.empty, error.into()))?;
    let command = build_line(&program.build, &places.empty, Some(&places.before));
    if let Some(ending) = shell::run(&command, launcher)? {
        return Err(OpenOfficeError::Build { command, ending });
    }
    if !places.before.is_file() {
        return Err(OpenOfficeError::NothingBuilt { command, path: places.before.clone() });
    }
    Ok(())
}

fn attempt_request(
    request: &OpenOfficeRequest,
    program: &LinkableProgram,
    places: &Places,
    order: PathBuf,
) -> AttemptRequest {
    let launch = |task: &Task| launch(&places.before, &task.arguments);
    let mut launches = program.launches.iter().map(launch);
    AttemptRequest {
        launch: launches.next().unwrap_or_else(|| launch(&Task::default())),
        also: launches.collect(),
        held_out: program.held_out.iter().map(launch).collect(),
        relink: program.build.clone(),
        out: Some(places.after.clone()),
        linker: request.linker,
        algorithm: Algorithm::Signature,
        order,
        verify: request.verify.clone(),
    }
}

fn launch(program: &Path, arguments: &[OsString]) -> Command {
    let name = [program.as_os_str().to_owned()];
    Command {
        argv: name.into_iter().chain(arguments.iter().cloned()).collect(),
        program: program.to_owned(),
        directory: None,
        environment: Vec::new(),
    }
}

impl ProgramSource {
    /// What is to be waited for.
    fn preparing(&self) -> &'static str {
        match self {
            ProgramSource::Vim => {
                "downloading vim's source from Debian (20 MB) and compiling it, once"
            }
            ProgramSource::Clang => "compiling what clang is linked from, once",
            ProgramSource::Own(_) => "checking the source",
        }
    }
}

#[cfg(test)]
mod tests;
