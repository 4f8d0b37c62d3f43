//! A sweep from its request to what it found.

use super::workload_folder::WorkloadFolder;
use super::{
    LeftOut, PLAN, PLAN_SCHEMA, SweepPlan, SweepSubject, WARM_UP_ROUNDS, counted, timed, workloads,
};
use crate::{Event, Keep, LabError, RunFolder, Runner, Stop, fresh_seed};
use model::growth::{Creation, Fit, Point, Quantile, SCALE_SCHEMA, Scale, Unit};
use model::{Command, Experiment, Format, Launch, LaunchOptions, Reading, Sample, Schedule};
use os::launcher::Launcher;
use std::path::Path;
use std::time::Instant;

/// Rounds at most where the budget allows them.
const ROUNDS: u32 = 50;
/// Seconds for a sweep where no other time is given: with its last round and what is removed
/// afterwards it is over in a minute.
const BUDGET_S: f64 = 50.0;

/// What to sweep.
#[derive(Clone, Debug)]
pub struct SweepRequest {
    /// What changes its size.
    pub subject: SweepSubject,
    /// What is measured or counted.
    pub unit: Unit,
    /// The sizes, ascending.
    pub sizes: Vec<u64>,
    /// How often, and for how long.
    pub extent: SweepExtent,
    /// Seed of the order; a fresh one where none is given.
    pub seed: Option<u64>,
    /// How launches are made.
    pub options: LaunchOptions,
    /// Where the run is kept.
    pub keep: Keep,
    /// Whether generated workloads stay in its folder.
    pub keep_workloads: bool,
}

/// How often the sizes are launched, and for how long.
#[derive(Clone, Debug)]
pub struct SweepExtent {
    /// Rounds at most.
    pub rounds: Option<u32>,
    /// Seconds for the whole sweep, or for what a resumed one still lacks.
    pub budget_s: Option<f64>,
    /// How one allows more time, for the note about what is left out: `use a larger budget`.
    pub more_time: &'static str,
}

/// What a sweep found.
pub struct Swept {
    /// The points and their law; without points where nothing was found.
    pub scale: Scale,
    /// The folder of the run, where there is something in it.
    pub folder: Option<RunFolder>,
    /// Why it ended.
    pub stop: Result<Stop, LabError>,
    /// Why it is not on disk, where that was not asked for.
    pub unkept: Option<LabError>,
}

/// Makes the launches of a new sweep.
///
/// # Errors
/// It cannot begin. What goes wrong later is in [`Swept::stop`].
pub fn sweep(
    launcher: Launcher,
    request: SweepRequest,
    observer: &mut dyn FnMut(Event),
) -> Result<Swept, LabError> {
    Ok(Session::begin(request)?.swept(launcher, observer))
}

/// Goes on with a sweep that was ended before it was complete, or is to have more rounds.
///
/// # Errors
/// It cannot go on. What goes wrong later is in [`Swept::stop`].
pub fn resume_sweep(
    launcher: Launcher,
    folder: &Path,
    extent: &SweepExtent,
    observer: &mut dyn FnMut(Event),
) -> Result<Swept, LabError> {
    Ok(Session::resume(folder, extent)?.swept(launcher, observer))
}

/// What loads the images of the plan.
///
/// # Errors
/// They cannot be loaded here, or what is to be counted cannot.
fn runner(plan: &SweepPlan, options: &LaunchOptions) -> Result<Runner, LabError> {
    let format = match &plan.subject {
        SweepSubject::Workload { format, .. } => *format,
        _ => Runner::OWN,
    };
    counted::check(plan.unit)?;
    Runner::for_format(format, options.cpu)
}

/// On Linux the words of what is launched say so.
const OF_WINE: &str = "These are times of Wine's loader, not of the Windows loader.";
/// The entries are those that `workload::Dawson` emits.
const UNMEASURED: &str = "Every program has a Guard CF table of 45 entries, and one for each class \
                          and each function. Wine ignores it, so the law of Windows, which reads \
                          it, is not measured here.";
const ALIGNMENT: &str = "Wine maps a section only if its offset in the file is a multiple of \
                         4096, and reads it otherwise. With the linkers' usual file alignment of \
                         512 this differs from size to size, so the times lie on two lines; with \
                         4096 nothing is read.";

/// What to know where Wine loads the images.
fn of_wine(plan: &SweepPlan, runner: &Runner) -> Vec<String> {
    let mut notes = Vec::new();
    if runner.wine().is_some() && Runner::OWN == Format::Pe {
        notes.push(OF_WINE);
    }
    match &plan.subject {
        SweepSubject::Workload { kind, .. } if kind == "dawson" && runner.wine().is_some() => {
            notes.extend([UNMEASURED, ALIGNMENT]);
        }
        _ => {}
    }
    notes.into_iter().map(str::to_owned).collect()
}

/// What grows names the folders of its workloads: a plan may name parameters only.
fn check(plan: &SweepPlan, folder: &Path) -> Result<(), LabError> {
    let SweepSubject::Workload { kind, varied, fixed, .. } = &plan.subject else { return Ok(()) };
    let names = std::iter::once(varied).chain(fixed.iter().map(|(name, _)| name));
    match workloads::unknown(kind, names) {
        None => Ok(()),
        Some(name) => {
            let problem = format!("'{kind}' has no parameter '{name}'");
            Err(LabError::folder(&folder.join(PLAN), problem, "start a new sweep"))
        }
    }
}

/// The law of the points, or why there is none.
fn fit(points: &[Point]) -> Reading<Fit> {
    stats::growth::fit(points)
        .map_or_else(|error| Reading::unavailable(error.to_string(), ""), Reading::Value)
}

/// Everything that a sweep works on.
pub(super) struct Session {
    pub plan: SweepPlan,
    pub experiment: Experiment,
    pub samples: Vec<Sample>,
    pub folder: Option<RunFolder>,
    pub runner: Runner,
    pub notes: Vec<String>,
    workloads: WorkloadFolder,
    unkept: Option<LabError>,
    more_time: &'static str,
    /// The folder is older than this process.
    resumed: bool,
    started: Instant,
}

impl Session {
    fn begin(request: SweepRequest) -> Result<Session, LabError> {
        let SweepRequest { subject, unit, sizes, extent, seed, options, .. } = request;
        let plan = SweepPlan {
            schema: PLAN_SCHEMA,
            subject,
            unit,
            sizes,
            budget_s: extent.budget_s.unwrap_or(BUDGET_S),
            chosen: Vec::new(),
            counts: Vec::new(),
            notes: Vec::new(),
        };
        // Its budget is the plan's.
        let schedule = Schedule {
            seed: seed.unwrap_or_else(fresh_seed),
            warm_up_rounds: WARM_UP_ROUNDS,
            rounds: extent.rounds.unwrap_or(ROUNDS),
            ..Schedule::default()
        };
        let runner = runner(&plan, &options)?;
        let experiment = crate::experiment(Vec::new(), schedule, options);
        let (folder, unkept) = crate::create(&request.keep, Path::new("scale"), &experiment)?;
        if let Some(folder) = &folder {
            plan.write(folder)?;
        }
        let path = folder.as_ref().map(RunFolder::path);
        Ok(Session {
            workloads: WorkloadFolder::new(path, !request.keep_workloads)?,
            notes: of_wine(&plan, &runner),
            plan,
            experiment,
            samples: Vec::new(),
            folder,
            runner,
            unkept,
            more_time: extent.more_time,
            resumed: false,
            started: Instant::now(),
        })
    }

    fn resume(path: &Path, extent: &SweepExtent) -> Result<Session, LabError> {
        let mut plan = SweepPlan::read(path)?;
        check(&plan, path)?;
        let (folder, mut experiment, samples) = RunFolder::resume(path)?;
        if let Some(rounds) = extent.rounds {
            experiment.schedule.rounds = rounds;
        }
        if let Some(budget_s) = extent.budget_s {
            plan.budget_s = budget_s;
        }
        let runner = runner(&plan, &experiment.options)?;
        let notes = crate::moved(&experiment).into_iter().chain(of_wine(&plan, &runner));
        Ok(Session {
            notes: notes.collect(),
            workloads: WorkloadFolder::new(Some(path), false)?,
            runner,
            plan,
            experiment,
            samples,
            folder: Some(folder),
            unkept: None,
            more_time: extent.more_time,
            resumed: true,
            started: Instant::now(),
        })
    }

    /// The command at size `n`.
    pub fn make(&self, n: u64) -> Result<Command, LabError> {
        self.workloads.make(&self.plan.subject, n, &self.runner)
    }

    /// Seconds since this process began or resumed the sweep.
    pub fn elapsed_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Keeps the plan and the experiment as they are now.
    pub fn keep(&self) -> Result<(), LabError> {
        let Some(folder) = &self.folder else { return Ok(()) };
        folder.write_experiment(&self.experiment)?;
        self.plan.write(folder)
    }

    /// Notes in the plan what does not fit into the budget.
    pub fn note_left_out(&mut self, left_out: Option<LeftOut>) {
        let more_time = self.more_time;
        self.plan.notes.extend(left_out.map(|left_out| format!("{left_out}; {more_time}.")));
    }

    fn swept(mut self, launcher: Launcher, observer: &mut dyn FnMut(Event)) -> Swept {
        let stop = match self.plan.unit {
            Unit::Us => timed::run(&mut self, launcher, observer),
            unit => {
                drop(launcher);
                counted::run(&mut self, unit, observer)
            }
        };
        observer(Event::Over);
        let scale = self.scale();
        let ended_early = matches!(stop, Ok(Stop::Interrupted) | Err(_));
        self.workloads.tidy(!ended_early);
        let is_empty = self.samples.is_empty() && self.plan.counts.is_empty();
        let mut folder = self.folder;
        if ended_early && is_empty && !self.resumed {
            // It would only get in the way of the next run of that name.
            if let Some(folder) = folder.take() {
                self.workloads.discard();
                let _ = std::fs::remove_file(folder.path().join(PLAN));
                folder.discard();
            }
        }
        Swept { scale, folder, stop, unkept: self.unkept }
    }

    /// What the sweep has found so far.
    fn scale(&self) -> Scale {
        let plan = &self.plan;
        let (points, quantile) = match plan.unit {
            Unit::Us => self.times(&self.samples),
            _ => (plan.counts.iter().map(|&(n, count)| Point::counted(n, count)).collect(), None),
        };
        let fit = fit(&points);
        let (mut workload, parameter) = plan.subject.words();
        if self.runner.wine().is_some() {
            workload += &format!(", {}", self.runner.words());
        }
        Scale {
            schema: SCALE_SCHEMA,
            headstart: self.experiment.headstart.clone(),
            workload,
            parameter,
            unit: plan.unit,
            quantile,
            fit,
            points,
            created: self.creation(),
            notes: self.notes.iter().chain(&plan.notes).cloned().collect(),
        }
    }

    /// The times until the processes were created, where that is known of each.
    fn creation(&self) -> Option<Creation> {
        let until_created = |sample: &Sample| {
            let launch = Launch { total_us: sample.launch.created_us?, ..sample.launch.clone() };
            Some(Sample { launch, ..sample.clone() })
        };
        let samples: Vec<Sample> = self.samples.iter().map(until_created).collect::<Option<_>>()?;
        let (points, quantile) = self.times(&samples);
        if points.is_empty() {
            return None;
        }
        Some(Creation { quantile: quantile?, fit: fit(&points), points })
    }

    fn times(&self, samples: &[Sample]) -> (Vec<Point>, Option<Quantile>) {
        let times = stats::times(&self.experiment, samples);
        let series: Vec<(u64, Vec<f64>)> = self.plan.chosen.iter().copied().zip(times).collect();
        let (points, quantile) = stats::growth::points(&series, self.experiment.schedule.seed);
        (points, Some(quantile))
    }
}
