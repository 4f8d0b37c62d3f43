//! Whether an order does what it promised: two builds of a program traced, read cold and timed in
//! turns.

mod builds;
pub(crate) mod cold;
pub(crate) mod coldness;
mod held_out;
mod pairs;
mod repeated;
mod same_work;
mod sameness;
pub(crate) mod times;
mod traced;
mod verdict;

use crate::ended::Ended;
use crate::subject::Subject;
use builds::{Layout, ModulePair};
use cold::ColdReads;
use image::ImageError;
use model::{
    BuildFigures, Command, HeldOutLaunch, LayoutFigures, ORDER_VERIFICATION_SCHEMA,
    OrderVerification, Reading,
};
use os::LaunchError;
use os::launcher::Launcher;
use os::trace::FunctionRequest;
use repeated::{Comparison, Repeated};
use std::time::Duration;
use times::Times;
use traced::{TracedBuilds, traced};
use verdict::{Evidence, LaunchEndings};

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
    /// Neither command has another build of a module of the other one.
    #[error(
        "no module of '{new}' is another build of a module of '{old}'; give the program before and \
         after the relink"
    )]
    SameFiles {
        /// The command before.
        old: String,
        /// The command after.
        new: String,
    },
    /// A launch failed while it was traced.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// The functions of the launched program are not in its trace.
    #[error(
        "the functions of '{program}' itself were not recorded{reason}, so there is nothing to \
         compare; give a program for this machine that you may read"
    )]
    NotRecorded {
        /// The program.
        program: String,
        /// Why, in parentheses, where that is known.
        reason: String,
    },
    /// The builds have nothing to do with each other.
    #[error(
        "these are not builds of the same program, or its functions have other names now: of \
         {named} called functions of the {which} build the other one has {found}, by name; give the \
         program before and after the relink"
    )]
    Unrelated {
        /// Which of the builds.
        which: &'static str,
        /// Its called functions that have a name.
        named: usize,
        /// Those that the other build has.
        found: usize,
    },
    /// A held-out launch does not use what was relinked.
    #[error(
        "the held-out launch '{command}' calls no function of a relinked module; leave it out, or \
         give one that does"
    )]
    HeldOutElsewhere {
        /// Its command.
        command: String,
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
    let both = traced([&request.old, &request.new], request)?;
    if both.pairs.is_empty() {
        let (old, new) = (request.old.line(), request.new.line());
        return Err(VerifyError::SameFiles { old, new });
    }
    let mut sameness = sameness::sameness(&both.pairs)?;
    let mut check_work = |pairs: &[ModulePair]| -> Result<(), ImageError> {
        if sameness.value().is_some() {
            sameness = same_work::same_work(pairs)?;
        }
        Ok(())
    };
    check_work(&both.pairs)?;
    let (mut held_out, mut others) = (Vec::new(), Vec::new());
    let mut endings = vec![endings_of(&request.new, &both)];
    for launch in &request.held_out {
        step("tracing a held-out launch");
        let traced = traced([&launch.old, &launch.new], request)?;
        endings.push(endings_of(&launch.new, &traced));
        let (found, comparisons) = held_out_launch(launch, &traced.pairs)?;
        check_work(&traced.pairs)?;
        held_out.push(found);
        others.extend(comparisons);
    }
    step("recording cold reads");
    let launches = both.launches.max(cold::LAUNCHES);
    let cold_reads = cold::record(request, &both.pairs, launches)?;
    others.splice(..0, cold_reads.reads());
    step("timing warm launches");
    let [warm_launcher, cold_launcher] = launchers;
    let warm = times::warm(request, warm_launcher)?;
    step("timing cold launches");
    let cold = times::cold(request, cold_launcher, cold::files(&both.pairs))?;
    let layouts = [0, 1].map(|side| builds::layouts(&both.pairs, side));
    let measured = Measured { layouts: &layouts, reads: &cold_reads, warm: &warm, cold: &cold };
    let resolved = builds::resolved_percent(&both.pairs);
    let unnamed = || Reading::unavailable("no called function has a name", sameness::STRIPPED);
    let verification = OrderVerification {
        schema: ORDER_VERIFICATION_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        old: measured.figures(&request.old, 0),
        new: measured.figures(&request.new, 1),
        traces: both.launches as u64,
        resolved_percent: resolved.map_or_else(unnamed, Reading::Value),
        modules: cold_reads.modules(&both.pairs),
        held_out,
        warm: warm.effect,
        cold: cold.effect,
        verdict: model::OrderVerdict::Same,
        notes: both.notes,
    };
    let pages = layouts.map(|layouts| layouts.into_iter().map(|layout| layout.pages as f64));
    let pages = compared("pages".to_owned(), pages);
    Ok(verdict::judged(verification, &Evidence { sameness, pages, others, endings }))
}

/// What was measured of both builds.
struct Measured<'a> {
    layouts: &'a [Vec<Layout>; 2],
    reads: &'a ColdReads,
    warm: &'a Times,
    cold: &'a Times,
}

impl Measured<'_> {
    fn figures(&self, command: &Command, side: usize) -> BuildFigures {
        let (layout, reads) = (builds::median(&self.layouts[side]), self.reads);
        BuildFigures {
            command: command.line(),
            pages: layout.pages,
            windows: layout.windows,
            floor: layout.floor,
            reads: reads.sum(side, |file| file.reads.len() as u64),
            bytes: reads.sum(side, model::ReadFile::bytes),
            distance: reads.sum(side, cold::distance),
            major_faults: reads.sum(side, |file| file.major_faults),
            read_us: reads.read_us(side),
            median_us: self.warm.median_us(side),
            cold_median_us: self.cold.median_us(side),
            read_list: reads.list(side),
        }
    }
}

fn compared(what: String, values: [impl Iterator<Item = f64>; 2]) -> Comparison {
    let [old, new] = values.map(Repeated::of);
    Comparison { what, old, new }
}

fn endings_of(command: &Command, traced: &TracedBuilds) -> LaunchEndings {
    LaunchEndings { command: command.line(), sides: traced.endings.clone() }
}

/// What a launch does that the order may not know, and what of that must not rise.
fn held_out_launch(
    launch: &HeldOutCommand,
    pairs: &[ModulePair],
) -> Result<(HeldOutLaunch, [Comparison; 2]), VerifyError> {
    let command = launch.new.line();
    let is_called = |pair: &ModulePair| !pair.sides[0].called().is_empty();
    if !pairs.iter().any(is_called) {
        return Err(VerifyError::HeldOutElsewhere { command });
    }
    let [old, new] = [held_out::figures(pairs, 0)?, held_out::figures(pairs, 1)?];
    let each = |of: fn(&LayoutFigures) -> f64| [&old, &new].map(|launches| launches.iter().map(of));
    let comparisons = [
        compared(format!("pages of '{command}'"), each(|launch| launch.pages)),
        compared(format!("predicted reads of '{command}'"), each(|launch| launch.reads)),
    ];
    let [old, new] = [held_out::median(&old), held_out::median(&new)];
    Ok((HeldOutLaunch { command: launch.old.line(), old, new }, comparisons))
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
