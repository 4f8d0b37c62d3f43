//! Whether an order does what it promised: two builds of a program traced, read cold and timed in
//! turns.

mod builds;
pub(crate) mod cold;
mod held_out;
pub(crate) mod times;
mod verdict;

use crate::record;
use crate::subject::Subject;
use builds::{ModulePair, TracedBuild};
use image::ImageError;
use model::{
    BuildFigures, Command, HeldOutLaunch, ORDER_VERIFICATION_SCHEMA, OrderVerification, Reading,
};
use os::LaunchError;
use os::launcher::Launcher;
use os::trace::{FunctionRequest, functions};
use std::time::Duration;

/// What to verify.
#[derive(Clone, Debug)]
pub struct VerifyRequest {
    /// A launch of the build before.
    pub old: Command,
    /// The same launch of the build after.
    pub new: Command,
    /// Further launches that the order may not know: each of the build before and of that after.
    pub held_out: Vec<HeldOutCommand>,
    /// How functions are recorded.
    pub recording: FunctionRequest,
    /// Launches of each build that are timed warm; 0 for none.
    pub warm_rounds: u32,
    /// Launches of each build that are timed cold; 0 for none.
    pub cold_rounds: u32,
    /// Whether a launch may fail.
    pub ignore_failure: bool,
}

/// A launch of both builds.
#[derive(Clone, Debug)]
pub struct HeldOutCommand {
    /// Of the build before.
    pub old: Command,
    /// Of the build after.
    pub new: Command,
}

/// Why two builds could not be compared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// A launch could not be made or recorded.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A launch failed while it was timed.
    #[error(transparent)]
    Lab(#[from] lab::LabError),
    /// A module could not be read.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Both commands use the same files.
    #[error(
        "'{old}' and '{new}' load the same files: no module differs in its build-id or path; give \
         the program before and after the relink"
    )]
    SameFiles {
        /// The command before.
        old: String,
        /// The command after.
        new: String,
    },
}

/// How far a verification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyStep {
    /// What is done now.
    pub what: &'static str,
    /// Steps that are done.
    pub done: u32,
    /// All steps.
    pub of: u32,
}

/// Compares the two builds. `launchers` were started before anything large was in memory: one for
/// warm launches, one for cold ones.
///
/// # Errors
/// [`VerifyError`]. What only root may see is unavailable elsewhere, and no error.
pub fn verify(
    request: &VerifyRequest,
    launchers: [Launcher; 2],
    observer: &mut dyn FnMut(VerifyStep),
) -> Result<OrderVerification, VerifyError> {
    let of = 4 + request.held_out.len() as u32;
    let mut done = 0;
    let mut step = |what| {
        observer(VerifyStep { what, done, of });
        done += 1;
    };
    step("tracing both builds");
    let old = traced(&request.old, request)?;
    let new = traced(&request.new, request)?;
    let pairs = builds::pairs(&old, &new);
    if pairs.is_empty() {
        let (old, new) = (request.old.line(), request.new.line());
        return Err(VerifyError::SameFiles { old, new });
    }
    let mut held_out = Vec::new();
    for launch in &request.held_out {
        step("tracing a held-out launch");
        held_out.push(held_out_launch(launch, request)?);
    }
    step("recording cold reads");
    let cold_reads = cold::record(request, &pairs)?;
    step("timing warm launches");
    let [warm_launcher, cold_launcher] = launchers;
    let warm = times::warm(request, warm_launcher)?;
    step("timing cold launches");
    let cold = times::cold(request, cold_launcher)?;
    let figures = |command: &Command, side: usize| -> BuildFigures {
        let layout = builds::layout(&pairs, side);
        BuildFigures {
            command: command.line(),
            pages: layout.pages,
            windows: layout.windows,
            floor: layout.floor,
            reads: cold_reads.sum(side, |file| file.reads.len() as u64),
            bytes: cold_reads.sum(side, model::ReadFile::bytes),
            distance: cold_reads.sum(side, cold::distance),
            major_faults: cold_reads.sum(side, |file| file.major_faults),
            read_us: cold_reads.read_us(side),
            median_us: warm.median_us(side),
            cold_median_us: cold.median_us(side),
            read_list: cold_reads.list(side),
        }
    };
    let verification = OrderVerification {
        schema: ORDER_VERIFICATION_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        old: figures(&request.old, 0),
        new: figures(&request.new, 1),
        resolved_percent: builds::resolved_percent(&pairs),
        modules: cold_reads.modules(&pairs),
        held_out,
        warm: warm.effect,
        cold: cold.effect,
        verdict: model::OrderVerdict::Same,
        notes: Vec::new(),
    };
    Ok(verdict::judged(verification))
}

/// A recorded launch, and what is known of its modules.
fn traced(command: &Command, request: &VerifyRequest) -> Result<TracedBuild, VerifyError> {
    let recorded = functions(command, &request.recording)?;
    Ok(TracedBuild { trace: record::trace(recorded, command) })
}

fn held_out_launch(
    launch: &HeldOutCommand,
    request: &VerifyRequest,
) -> Result<HeldOutLaunch, VerifyError> {
    let old = traced(&launch.old, request)?;
    let new = traced(&launch.new, request)?;
    let pairs = builds::pairs(&old, &new);
    Ok(HeldOutLaunch {
        command: launch.old.line(),
        old: held_out::figures(&pairs, 0)?,
        new: held_out::figures(&pairs, 1)?,
    })
}

/// A module of both builds: what is known of its files.
fn subject(pair: &ModulePair, side: usize) -> Result<Subject, ImageError> {
    let path = model::text::name(&pair.sides[side].path);
    Subject::open(std::path::Path::new(&path))
}

/// A missing figure that only root may see.
pub(crate) fn for_root<T>(error: &LaunchError) -> Reading<T> {
    let reason = error.to_string();
    let remedy = if reason.contains(REMEDY) { "" } else { REMEDY };
    Reading::unavailable(reason, remedy)
}

const REMEDY: &str = "run headstart as root";
/// How long a recorded cold launch may take.
const COLD_TIMEOUT: Duration = Duration::from_secs(120);
