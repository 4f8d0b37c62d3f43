//! The launches of a sweep whose times are measured.

use super::session::Session;
use super::subject::variant_name;
use crate::progress;
use anyhow::Result;
use lab::sweep::{Trying, choose, launch_all};
use lab::{Bench, Failure, LabError, Launching, Stop};
use model::{Command, Experiment, Until, Variant, VariantId};
use os::launcher::Launcher;
use std::time::{Duration, Instant};

/// Chooses the sizes where that has not been done, and launches them in turns.
pub fn run(session: &mut Session, launcher: Launcher) -> Result<Stop> {
    let line = progress::Line::new();
    if session.plan.chosen.is_empty() {
        let chosen = {
            let budget_s = session.plan.budget_s;
            let mut trials = Trials { session, line: &line };
            choose(&trials.session.plan.sizes, budget_s, &mut trials)?
        };
        session.plan.chosen = chosen.variants.iter().map(|(n, _)| *n).collect();
        session.plan.notes = chosen.notes;
        let variant = |(n, command)| Variant::new(variant_name(n), command);
        session.experiment.variants = chosen.variants.into_iter().map(variant).collect();
    } else {
        // What was generated may have been moved or removed since.
        for index in 0..session.experiment.variants.len() {
            let Some(&n) = session.plan.chosen.get(index) else { break };
            if matches!(session.plan.subject, lab::sweep::Subject::Workload { .. }) {
                session.experiment.variants[index].command = session.make(n)?;
            }
        }
    }
    let left_s = session.plan.budget_s - session.elapsed_s();
    session.experiment.schedule.budget_s = Some(left_s.max(0.0));
    session.keep()?;
    if session.experiment.variants.is_empty() {
        return Ok(Stop::Budget);
    }
    launch(session, launcher, &line)
}

/// Makes the launches; those that fail by Wine's fault once more.
fn launch(session: &mut Session, mut launcher: Launcher, line: &progress::Line) -> Result<Stop> {
    let mut failures = session.runner.failures();
    let stop = loop {
        match launch_left(session, launcher, line) {
            Err(failure) if failures.go_on(&failure.error, session.samples.len()) => {
                launcher = Launcher::start()?;
            }
            stop => break stop,
        }
    };
    session.notes.extend(failures.note());
    Ok(stop.map_err(LabError::from)?)
}

fn launch_left(
    session: &mut Session,
    launcher: Launcher,
    line: &progress::Line,
) -> Result<Stop, Failure> {
    let mut experiment = session.experiment.clone();
    let left_s = session.plan.budget_s - session.elapsed_s();
    experiment.schedule.budget_s = Some(left_s.max(0.0));
    let mut samples = std::mem::take(&mut session.samples);
    let launched = Bench::new(&experiment, launcher, None).and_then(|mut bench| {
        launch_all(&experiment, &mut samples, &mut bench, session, &mut |event| {
            line.observe(event);
        })
    });
    session.samples = samples;
    launched
}

struct Trials<'a> {
    session: &'a Session,
    line: &'a progress::Line,
}

impl Trying<anyhow::Error> for Trials<'_> {
    fn make(&mut self, n: u64) -> Result<Command> {
        self.line.show(0.0, format!("trying n = {n}"));
        self.session.make(n)
    }

    fn attempt(&mut self, command: &Command, limit: Duration) -> Result<Option<f64>> {
        let session = self.session;
        let timeout_s = session.experiment.options.timeout_s;
        let variant = Variant::new(String::new(), command.clone());
        let mut only = Experiment { variants: vec![variant], ..session.experiment.clone() };
        only.options.timeout_s = timeout_s.min(limit.as_secs_f64());
        let mut bench = Bench::new(&only, Launcher::start()?, None).map_err(LabError::from)?;
        let began = Instant::now();
        let mut launched = bench.launch(VariantId(0));
        if let Err(error) = &launched
            && session.runner.failures().go_on(error, 0)
        {
            launched = bench.launch(VariantId(0));
        }
        match launched {
            // The extra launch that tells a small program's peak is made once, not every time.
            Ok(launch) if only.options.until == Until::Exit => Ok(Some(launch.total_us / 1e6)),
            // Ending a program that was ready takes time as well.
            Ok(_) => Ok(Some(began.elapsed().as_secs_f64())),
            Err(LabError::TimedOut { .. }) if only.options.timeout_s < timeout_s => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn elapsed_s(&self) -> f64 {
        self.session.elapsed_s()
    }
}
