//! The launches of a sweep whose times are measured.

use super::choose::{Trying, choose};
use super::session::Session;
use super::{LEAST_ROUNDS, SweepSubject};
use crate::{Bench, Event, LabError, Launching, Stop};
use model::{Command, Experiment, Until, Variant, VariantId};
use os::launcher::Launcher;
use std::time::{Duration, Instant};

/// Chooses the sizes where that has not been done, and launches them in turns.
pub fn run(
    session: &mut Session,
    launcher: Launcher,
    observer: &mut dyn FnMut(Event),
) -> Result<Stop, LabError> {
    if session.plan.chosen.is_empty() {
        let chosen = {
            let budget_s = session.plan.budget_s;
            let mut trials = Trials { session, observer };
            choose(&trials.session.plan.sizes, budget_s, &mut trials)?
        };
        session.plan.chosen = chosen.variants.iter().map(|(n, _)| *n).collect();
        session.plan.notes.clear();
        session.note_left_out(chosen.left_out);
        let variant = |(n, command)| Variant::new(format!("n = {n}"), command);
        session.experiment.variants = chosen.variants.into_iter().map(variant).collect();
    } else {
        // What was generated may have been moved or removed since.
        if matches!(session.plan.subject, SweepSubject::Workload { .. }) {
            let made = session.plan.chosen.iter().map(|&n| session.make(n));
            let made: Vec<Command> = made.collect::<Result<_, _>>()?;
            for (variant, command) in session.experiment.variants.iter_mut().zip(made) {
                variant.command = command;
            }
        }
    }
    let left_s = session.plan.budget_s - session.elapsed_s();
    session.experiment.schedule.budget_s = Some(left_s.max(0.0));
    session.keep()?;
    if session.experiment.variants.is_empty() {
        return Ok(Stop::Budget);
    }
    let Session { runner, experiment, samples, folder, notes, .. } = session;
    let kept = (folder, notes);
    Ok(runner.launch_all(launcher, experiment, samples, kept, LEAST_ROUNDS, observer)?)
}

struct Trials<'a> {
    session: &'a Session,
    observer: &'a mut dyn FnMut(Event),
}

impl Trying<LabError> for Trials<'_> {
    fn make(&mut self, n: u64) -> Result<Command, LabError> {
        (self.observer)(Event::Trying { size: n });
        self.session.make(n)
    }

    fn attempt(&mut self, command: &Command, limit: Duration) -> Result<Option<f64>, LabError> {
        let session = self.session;
        let timeout_s = session.experiment.options.timeout_s;
        let variant = Variant::new(String::new(), command.clone());
        let mut only = Experiment { variants: vec![variant], ..session.experiment.clone() };
        only.options.timeout_s = timeout_s.min(limit.as_secs_f64());
        let mut bench = Bench::new(&only, Launcher::start()?, None)?;
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
            Err(error) => Err(error),
        }
    }

    fn elapsed_s(&self) -> f64 {
        self.session.elapsed_s()
    }
}
