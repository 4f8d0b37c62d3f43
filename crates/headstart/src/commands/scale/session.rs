//! A sweep about to begin or to go on.

use super::Arguments;
use super::place::Place;
use crate::exit::{self, Usage};
use crate::runs;
use anyhow::Result;
use lab::sweep::{Measured, PLAN, PLAN_SCHEMA, Plan, WARM_UP_ROUNDS};
use lab::{LabError, RunFolder, Samples, Stop};
use model::{Command, EXPERIMENT_SCHEMA, Experiment, Sample, Schedule, Until};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

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
    started: Instant,
}

impl Samples for Session {
    fn append(&mut self, sample: &Sample) -> Result<(), LabError> {
        self.folder.as_mut().map_or(Ok(()), |folder| folder.append(sample))
    }
}

impl Session {
    /// A new sweep and its run folder.
    pub fn begin(arguments: &Arguments) -> Result<Session> {
        let (subject, sizes) = arguments.subject.subject()?;
        let measured = arguments.count.map_or(Measured::Times, Measured::from);
        let request = arguments.launching.request();
        if measured != Measured::Times && request.until != Until::Exit {
            let text = "work is counted until a program ends: leave --until away with --count";
            return Err(Usage(text.to_owned()).into());
        }
        let plan = Plan {
            schema: PLAN_SCHEMA,
            subject,
            measured,
            sizes,
            budget_s: arguments.budget.map_or(BUDGET_S, |budget| budget.as_secs_f64()),
            chosen: Vec::new(),
            counts: Vec::new(),
            notes: Vec::new(),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let experiment = Experiment {
            schema: EXPERIMENT_SCHEMA,
            headstart: env!("CARGO_PKG_VERSION").to_owned(),
            started_unix_s: now.as_secs(),
            machine: os::host::machine(),
            variants: Vec::new(),
            schedule: Schedule {
                // Small enough for every JSON reader to keep it exactly.
                seed: arguments.seed.unwrap_or(now.as_nanos() as u64 % (1 << 48)),
                warm_up_rounds: WARM_UP_ROUNDS,
                rounds: arguments.runs.unwrap_or(ROUNDS),
                precision: None,
                budget_s: None,
            },
            request,
        };
        let (folder, note) = create(arguments, &experiment)?;
        if let Some(folder) = &folder {
            plan.write(folder)?;
        }
        let place = Place::new(folder.as_ref().map(RunFolder::path), arguments.run.is_none())?;
        let notes = note.into_iter().collect();
        let samples = Vec::new();
        Ok(Session { plan, experiment, samples, folder, place, notes, started: Instant::now() })
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
        let mut notes = Vec::new();
        if experiment.machine != os::host::machine() {
            let text = "The run began on another machine or kernel: its launches differ.";
            notes.push(text.to_owned());
        }
        let place = Place::new(Some(path), false)?;
        let folder = Some(folder);
        Ok(Session { plan, experiment, samples, folder, place, notes, started: Instant::now() })
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
        let empty = self.is_empty();
        if let Some(folder) = self.folder.filter(|_| ended_early) {
            let said = if interrupted { "interrupted" } else { "what was measured before is kept" };
            if empty {
                // It would only get in the way of the next run of that name.
                self.place.discard();
                let _ = std::fs::remove_file(folder.path().join(PLAN));
                folder.discard();
            } else {
                let path = folder.path().display().to_string();
                let path = shlex::try_quote(&path).unwrap_or_default();
                anstream::eprintln!(
                    "headstart: {said}; go on with: headstart scale --resume {path}"
                );
            }
        }
        match stop {
            _ if interrupted => Ok(ExitCode::from(exit::INTERRUPTED)),
            Ok(_) => Ok(ExitCode::SUCCESS),
            Err(error) => Err(error),
        }
    }
}

/// The folder asked for, else one in the default place, else none and a note.
fn create(
    arguments: &Arguments,
    experiment: &Experiment,
) -> Result<(Option<RunFolder>, Option<String>)> {
    if let Some(path) = &arguments.run {
        return Ok((Some(RunFolder::create(path, experiment)?), None));
    }
    let unkept = |why: String| (None, Some(format!("The launches are not kept on disk: {why}")));
    Ok(match runs::default_folder(Path::new("scale")) {
        None => unkept("neither XDG_CACHE_HOME nor HOME is set; use --run".to_owned()),
        Some(path) => match RunFolder::create(&path, experiment) {
            Ok(folder) => (Some(folder), None),
            Err(error) => unkept(error.to_string()),
        },
    })
}
