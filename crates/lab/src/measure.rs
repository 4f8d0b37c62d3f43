//! Measuring: from the request, through the launches and where they are kept, to the results.

use crate::created;
use crate::schedule::since_1970;
use crate::{
    Bench, CacheEmptier, Event, Failure, LabError, RunFolder, Stop, default_folder, launch_rounds,
};
use model::{
    CacheState, EXPERIMENT_SCHEMA, Experiment, LaunchOptions, Results, Rules, Sample, Schedule,
    Until, Variant,
};
use os::launcher::Launcher;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What to measure.
#[derive(Clone, Debug)]
pub struct MeasureRequest {
    /// What is launched in turns; the first is the baseline.
    pub variants: Vec<Variant>,
    /// In which order, and how often.
    pub schedule: Schedule,
    /// In which manner.
    pub options: LaunchOptions,
    /// Where the launches are kept.
    pub keep: Keep,
}

/// Where the launches of a run are kept as they are made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// In memory alone.
    Nowhere,
    /// In the user's cache folder, where that is possible.
    ByDefault,
    /// In this new folder.
    In(PathBuf),
}

/// A run to go on with.
#[derive(Clone, Debug)]
pub struct ResumeRequest {
    /// Its folder.
    pub folder: PathBuf,
    /// What is to be different from now on.
    pub changes: ScheduleChanges,
}

/// What a run that goes on may do differently. What is not given stays as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ScheduleChanges {
    /// Rounds at most.
    pub rounds: Option<u32>,
    /// The precision after which it ends.
    pub precision: Option<f64>,
    /// Seconds after which it ends.
    pub budget_s: Option<f64>,
}

/// Rounds at most where a precision or a time is asked for and no number: these end the run.
pub const UNBOUNDED_ROUNDS: u32 = 1_000_000;
/// Seconds that a run to a precision may take unless another time is given.
const PRECISION_BUDGET_S: f64 = 60.0;
/// Rounds that are made even where the budget is spent.
const LEAST_ROUNDS: u32 = 1;

impl ScheduleChanges {
    /// Applies what is given.
    pub fn apply(&self, schedule: &mut Schedule) {
        if let Some(precision) = self.precision {
            schedule.precision = Some(precision);
            schedule.rounds = UNBOUNDED_ROUNDS;
            schedule.budget_s = schedule.budget_s.or(Some(PRECISION_BUDGET_S));
        }
        if let Some(rounds) = self.rounds {
            schedule.rounds = rounds;
        }
        if let Some(budget_s) = self.budget_s {
            schedule.budget_s = Some(budget_s);
        }
    }
}

/// A run that is over, for whatever reason.
#[derive(Debug)]
pub struct Measured {
    /// What was launched, and how.
    pub experiment: Experiment,
    /// All launches, warm-up included.
    pub samples: Vec<Sample>,
    /// What they say; without variants where not a single launch was counted.
    pub results: Results,
    /// Why they ended.
    pub stop: Result<Stop, Failure>,
    /// Why they are not on disk, where that was not asked for.
    pub unkept: Option<LabError>,
}

/// Makes the launches of a new run. `launcher` was started before anything large was in memory.
///
/// # Errors
/// The folder that was asked for cannot be made. What goes wrong later is in [`Measured::stop`].
pub fn measure(
    launcher: Launcher,
    request: MeasureRequest,
    observer: &mut dyn FnMut(Event),
) -> Result<Measured, LabError> {
    Ok(Run::begin(request)?.measured(launcher, observer))
}

/// Makes the launches that a run still lacks.
///
/// # Errors
/// The folder is none of a run, or cannot be read or written. What goes wrong later is in
/// [`Measured::stop`].
pub fn resume(
    launcher: Launcher,
    request: &ResumeRequest,
    observer: &mut dyn FnMut(Event),
) -> Result<Measured, LabError> {
    Ok(Run::resume(request)?.measured(launcher, observer))
}

/// A run that begins here and now.
pub fn experiment(
    variants: Vec<Variant>,
    schedule: Schedule,
    options: LaunchOptions,
) -> Experiment {
    Experiment {
        schema: EXPERIMENT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix_s: since_1970().as_secs(),
        machine: os::host::machine(),
        variants,
        schedule,
        options,
    }
}

/// A run whose launches are to be made, or made to their end.
struct Run {
    experiment: Experiment,
    samples: Vec<Sample>,
    folder: Option<RunFolder>,
    /// The folder is older than this process.
    resumed: bool,
    notes: Vec<String>,
    unkept: Option<LabError>,
}

impl Run {
    fn begin(request: MeasureRequest) -> Result<Run, LabError> {
        let MeasureRequest { variants, schedule, options, keep } = request;
        let experiment = experiment(variants, schedule, options);
        let program = experiment.variants.first().map(|variant| variant.command.program.as_path());
        let (folder, unkept) = create(&keep, program.unwrap_or(Path::new("")), &experiment)?;
        let notes = entry_of_scripts(&experiment);
        Ok(Run { experiment, samples: Vec::new(), folder, resumed: false, notes, unkept })
    }

    fn resume(request: &ResumeRequest) -> Result<Run, LabError> {
        let (folder, mut experiment, samples) = RunFolder::resume(&request.folder)?;
        let before = experiment.schedule.clone();
        request.changes.apply(&mut experiment.schedule);
        if experiment.schedule != before {
            folder.write_experiment(&experiment)?;
        }
        let notes = moved(&experiment).into_iter().collect();
        let folder = Some(folder);
        Ok(Run { experiment, samples, folder, resumed: true, notes, unkept: None })
    }

    fn measured(mut self, launcher: Launcher, observer: &mut dyn FnMut(Event)) -> Measured {
        let Run { experiment, samples, folder, notes, .. } = &mut self;
        let kept = (folder, notes);
        let stop = launch_all(launcher, experiment, samples, kept, LEAST_ROUNDS, observer);
        let mut results = stats::results(&self.experiment, &self.samples, &Rules::default());
        if let Some(folder) = self.folder {
            if self.samples.is_empty() && !self.resumed {
                // It would only get in the way of the next run of that name.
                folder.discard();
            } else {
                results.run = Some(folder.path().display().to_string());
            }
        }
        results.notes.splice(0..0, self.notes);
        results.notes.extend(created::notes(&self.experiment, &self.samples));
        if matches!(stop, Ok(Stop::Budget)) && self.experiment.schedule.precision.is_some() {
            let text = "The budget was spent before the result was as precise as asked for.";
            results.notes.push(text.to_owned());
        }
        let Run { experiment, samples, unkept, .. } = self;
        Measured { experiment, samples, results, stop, unkept }
    }
}

/// Where the samples of a run go, and why they go nowhere though that was not asked for: such a
/// run goes on all the same. By default the folder is named after `program`.
///
/// # Errors
/// The folder that was asked for cannot be made.
pub fn create(
    keep: &Keep,
    program: &Path,
    experiment: &Experiment,
) -> Result<(Option<RunFolder>, Option<LabError>), LabError> {
    match keep {
        Keep::Nowhere => Ok((None, None)),
        Keep::In(path) => Ok((Some(RunFolder::create(path, experiment)?), None)),
        Keep::ByDefault => {
            let created =
                default_folder::new(program).and_then(|path| RunFolder::create(&path, experiment));
            Ok(match created {
                Ok(folder) => (Some(folder), None),
                Err(error) => (None, Some(error)),
            })
        }
    }
}

/// A note where a run goes on elsewhere than it began.
pub fn moved(experiment: &Experiment) -> Option<String> {
    (experiment.machine != os::host::machine()).then(|| {
        "The run began on another machine or kernel, so its launches are not comparable.".to_owned()
    })
}

/// What measuring up to the entry point means for scripts, as their figures look like those of
/// programs.
fn entry_of_scripts(experiment: &Experiment) -> Vec<String> {
    if experiment.options.until != Until::Entry {
        return Vec::new();
    }
    let is_script = |variant: &&Variant| {
        let mut start = [0; 2];
        let read = std::fs::File::open(&variant.command.program)
            .and_then(|mut file| file.read_exact(&mut start));
        read.is_ok() && &start == b"#!"
    };
    let scripts = experiment.variants.iter().filter(is_script);
    scripts
        .map(|variant| {
            let name = variant.command.name();
            format!("{name} is a script: the entry measured is its interpreter's.")
        })
        .collect()
}

/// Makes the launches that `samples` still lacks, and appends them there and to the folder. What
/// the figures of cold launches leave open is added to the notes. `least_rounds` as in
/// [`launch_rounds`].
///
/// # Errors
/// A launch fails, or a sample cannot be kept.
pub(crate) fn launch_all(
    launcher: Launcher,
    experiment: &Experiment,
    samples: &mut Vec<Sample>,
    (folder, notes): (&mut Option<RunFolder>, &mut Vec<String>),
    least_rounds: u32,
    observer: &mut dyn FnMut(Event),
) -> Result<Stop, Failure> {
    let mut emptier = None;
    if experiment.options.cache != CacheState::Warm {
        observer(Event::FindingFiles);
        let found = emptier.insert(CacheEmptier::new(experiment)?);
        notes.extend(found.limits(experiment));
    }
    let mut bench = Bench::new(experiment, launcher, emptier)?;
    bench.set_up()?;
    let stop = launch_rounds(experiment, samples, &mut bench, folder, least_rounds, observer);
    observer(Event::Over);
    let cleaned = bench.clean_up();
    // Why the launches ended says more than what failed after them.
    let stop = stop?;
    if stop != Stop::Interrupted {
        cleaned?;
    }
    Ok(stop)
}
