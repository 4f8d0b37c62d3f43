//! A sweep about to begin or to go on.

use super::place::Place;
use super::workloads;
use crate::{exit, output};
use anyhow::Result;
use lab::sweep::{PLAN, PLAN_SCHEMA, Plan, Subject, WARM_UP_ROUNDS};
use lab::{FolderRemedy, Keep, LabError, RunFolder, Runner, Samples, Series, Stop};
use model::growth::Unit;
use model::{Command, Experiment, Format, LaunchOptions, Sample, Schedule};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Rounds at most where the budget allows them.
const ROUNDS: u32 = 50;
/// Seconds for a sweep where no other time is given: with its last round and what is removed
/// afterwards it is over in a minute.
const BUDGET_S: f64 = 50.0;

/// What is to be swept, before any size was tried.
pub fn plan(subject: Subject, unit: Unit, sizes: Vec<u64>, budget: Option<Duration>) -> Plan {
    Plan {
        schema: PLAN_SCHEMA,
        subject,
        unit,
        sizes,
        budget_s: budget.map_or(BUDGET_S, |budget| budget.as_secs_f64()),
        chosen: Vec::new(),
        counts: Vec::new(),
        notes: Vec::new(),
    }
}

/// The schedule of a sweep; its budget is the plan's.
pub fn schedule(seed: Option<u64>, rounds: Option<u32>) -> Schedule {
    Schedule {
        seed: seed.unwrap_or_else(lab::fresh_seed),
        warm_up_rounds: WARM_UP_ROUNDS,
        rounds: rounds.unwrap_or(ROUNDS),
        ..Schedule::default()
    }
}

/// What loads the images of the plan.
fn runner(plan: &Plan, options: &LaunchOptions) -> Result<Runner> {
    let format = match &plan.subject {
        Subject::Workload { format, .. } => *format,
        _ => Format::Elf,
    };
    Ok(Runner::of(format, options.cpu)?)
}

/// The entries are those that `workload::Dawson` emits.
const UNMEASURED: &str = "Every program has a Guard CF table of 45 entries, and one for each class \
                          and each function. Wine ignores it, so the law of Windows, which reads \
                          it, is not measured here.";
const ALIGNMENT: &str = "Wine maps a section only if its offset in the file is a multiple of \
                         4096, and reads it otherwise. With the linkers' usual --file-alignment \
                         512 this differs from size to size, so the times lie on two lines; with \
                         4096 nothing is read.";

/// What to know where another system's images are launched.
fn foreign(plan: &Plan) -> Vec<String> {
    match &plan.subject {
        Subject::Workload { format: Format::Pe, kind, .. } if kind == "dawson" => {
            [UNMEASURED, ALIGNMENT].map(str::to_owned).to_vec()
        }
        _ => Vec::new(),
    }
}

/// What grows names the folders of its workloads: a plan may name parameters only.
fn check(plan: &Plan, folder: &Path) -> Result<(), LabError> {
    let Subject::Workload { kind, varied, fixed, .. } = &plan.subject else { return Ok(()) };
    let names = std::iter::once(varied).chain(fixed.iter().map(|(name, _)| name));
    match workloads::unknown(kind, names) {
        None => Ok(()),
        Some(name) => Err(LabError::Folder {
            path: folder.join(PLAN),
            problem: format!("'{kind}' has no parameter '{name}'"),
            remedy: FolderRemedy::Other("start a new sweep".to_owned()),
        }),
    }
}

/// Everything that a sweep works on.
pub struct Session {
    pub plan: Plan,
    pub experiment: Experiment,
    pub samples: Vec<Sample>,
    pub folder: Option<RunFolder>,
    pub place: Place,
    pub runner: Runner,
    pub notes: Vec<String>,
    /// The folder is older than this process.
    resumed: bool,
    started: Instant,
}

impl Samples for Session {
    fn append(&mut self, sample: &Sample) -> Result<(), LabError> {
        self.folder.append(sample)
    }
}

impl Session {
    /// A new sweep and its run folder: the one that is asked for, or one in the default place.
    /// Generated workloads stay in it where `keep` says so.
    pub fn begin(
        plan: Plan,
        schedule: Schedule,
        options: LaunchOptions,
        run: Option<&Path>,
        keep: bool,
    ) -> Result<Session> {
        let runner = runner(&plan, &options)?;
        let experiment = lab::experiment(Vec::new(), schedule, options);
        let keep_in = run.map_or(Keep::ByDefault, |run| Keep::In(run.to_owned()));
        let (folder, unkept) = lab::create(&keep_in, Path::new("scale"), &experiment)?;
        if let Some(folder) = &folder {
            plan.write(folder)?;
        }
        let place = Place::new(folder.as_ref().map(RunFolder::path), !keep)?;
        let notes = unkept.iter().map(exit::unkept).chain(foreign(&plan)).collect();
        let (samples, resumed, started) = (Vec::new(), false, Instant::now());
        Ok(Session { plan, experiment, samples, folder, place, runner, notes, resumed, started })
    }

    /// A sweep that was ended before it was complete, or is to have more rounds.
    pub fn resume(path: &Path, rounds: Option<u32>, budget: Option<Duration>) -> Result<Session> {
        let mut plan = Plan::read(path)?;
        check(&plan, path)?;
        let (folder, mut experiment, samples) = RunFolder::resume(path)?;
        if let Some(rounds) = rounds {
            experiment.schedule.rounds = rounds;
        }
        if let Some(budget) = budget {
            plan.budget_s = budget.as_secs_f64();
        }
        let notes = lab::moved(&experiment).into_iter().chain(foreign(&plan)).collect();
        let place = Place::new(Some(path), false)?;
        let runner = runner(&plan, &experiment.options)?;
        let (folder, resumed, started) = (Some(folder), true, Instant::now());
        Ok(Session { plan, experiment, samples, folder, place, runner, notes, resumed, started })
    }

    /// The command at size `n`.
    pub fn make(&self, n: u64) -> Result<Command> {
        self.place.make(&self.plan.subject, n, &self.runner)
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

    fn is_empty(&self) -> bool {
        self.samples.is_empty() && self.plan.counts.is_empty()
    }

    /// The exit code, after why the sweep ended early has been said on stderr.
    pub fn conclude(self, stop: Result<Stop>, interrupted: bool) -> Result<ExitCode> {
        self.place.tidy(stop.is_ok() && !interrupted);
        let ended_early = interrupted || stop.is_err();
        let empty = self.is_empty() && !self.resumed;
        if let Some(folder) = self.folder.filter(|_| ended_early) {
            if empty {
                // It would only get in the way of the next run of that name.
                self.place.discard();
                let _ = std::fs::remove_file(folder.path().join(PLAN));
                folder.discard();
            } else {
                output::say_ended(interrupted, Some((Series::OfSizes, folder.path())));
            }
        }
        match stop {
            _ if interrupted => Ok(ExitCode::from(exit::INTERRUPTED)),
            Ok(_) => Ok(ExitCode::SUCCESS),
            Err(error) => Err(error),
        }
    }
}
