//! A sweep about to begin or to go on.

use super::Arguments;
use super::place::Place;
use crate::exit::{self, Usage};
use crate::runs;
use anyhow::Result;
use lab::sweep::{PLAN, PLAN_SCHEMA, Plan, WARM_UP_ROUNDS};
use lab::{LabError, RunFolder, Samples, Stop};
use model::growth::Unit;
use model::{Command, Experiment, Sample, Schedule, Until};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Rounds at most where the budget allows them.
const ROUNDS: u32 = 50;
const BUDGET_S: f64 = 60.0;

/// Everything that a sweep works on.
pub struct Session {
    pub plan: Plan,
    pub experiment: Experiment,
    pub samples: Vec<Sample>,
    pub folder: Option<RunFolder>,
    pub place: Place,
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
    /// A new sweep and its run folder.
    pub fn begin(arguments: &Arguments) -> Result<Session> {
        let (subject, sizes) = arguments.subject.subject()?;
        let unit = arguments.count.map_or(Unit::Us, Unit::from);
        let request = arguments.launching.request();
        if unit != Unit::Us && request.until != Until::Exit {
            let text = "work is counted until a program ends: leave --until away with --count";
            return Err(Usage(text.to_owned()).into());
        }
        let plan = Plan {
            schema: PLAN_SCHEMA,
            subject,
            unit,
            sizes,
            budget_s: arguments.budget.map_or(BUDGET_S, |budget| budget.as_secs_f64()),
            chosen: Vec::new(),
            counts: Vec::new(),
            notes: Vec::new(),
        };
        let schedule = Schedule {
            seed: arguments.seed.unwrap_or_else(runs::fresh_seed),
            warm_up_rounds: WARM_UP_ROUNDS,
            rounds: arguments.runs.unwrap_or(ROUNDS),
            precision: None,
            budget_s: None,
        };
        let experiment = runs::experiment(Vec::new(), schedule, request);
        let (folder, note) =
            runs::create(arguments.run.as_deref(), Path::new("scale"), &experiment)?;
        if let Some(folder) = &folder {
            plan.write(folder)?;
        }
        let place = Place::new(folder.as_ref().map(RunFolder::path), arguments.run.is_none())?;
        let notes = note.into_iter().collect();
        let (samples, started) = (Vec::new(), Instant::now());
        Ok(Session { plan, experiment, samples, folder, place, notes, resumed: false, started })
    }

    /// A sweep that was ended before it was complete, or is to have more rounds.
    pub fn resume(path: &Path, arguments: &Arguments) -> Result<Session> {
        let mut plan = Plan::read(path)?;
        let (folder, mut experiment, samples) = RunFolder::resume(path)?;
        if let Some(rounds) = arguments.runs {
            experiment.schedule.rounds = rounds;
        }
        if let Some(budget) = arguments.budget {
            plan.budget_s = budget.as_secs_f64();
        }
        let notes = runs::moved(&experiment).into_iter().collect();
        let place = Place::new(Some(path), false)?;
        let (folder, started) = (Some(folder), Instant::now());
        Ok(Session { plan, experiment, samples, folder, place, notes, resumed: true, started })
    }

    /// The command at size `n`.
    pub fn make(&self, n: u64) -> Result<Command> {
        self.place.make(&self.plan.subject, n)
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
                runs::say_ended(interrupted, "scale", Some(folder.path()));
            }
        }
        match stop {
            _ if interrupted => Ok(ExitCode::from(exit::INTERRUPTED)),
            Ok(_) => Ok(ExitCode::SUCCESS),
            Err(error) => Err(error),
        }
    }
}
