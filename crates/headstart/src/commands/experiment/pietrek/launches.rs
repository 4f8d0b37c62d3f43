//! The launches of all forms in all places.

use super::Setting;
use super::places::Place;
use crate::progress::StatusLine;
use anyhow::Result;
use lab::{LabError, RunFolder, Stop};
use model::{CacheState, Experiment, LaunchOptions, Sample, Schedule, Until, Variant};
use os::launcher::Launcher;
use std::time::Instant;

const WARM_ROUNDS: u32 = 300;
const COLD_ROUNDS: u32 = 50;
const WARM_UP_ROUNDS: u32 = 2;
const TIMEOUT_S: f64 = 60.0;

/// Launches of all forms in all places, in one state of the cache.
pub struct Launched {
    /// Variants are the forms of the first place, then those of the second, …
    pub experiment: Experiment,
    pub samples: Vec<Sample>,
    pub stop: Stop,
    pub notes: Vec<String>,
}

/// Makes one interleaved run of all forms in all places, kept in a folder within `folder`.
pub fn all(
    state: CacheState,
    places: &[&Place],
    setting: &Setting<'_>,
    mut launcher: Launcher,
) -> Result<Launched> {
    let Setting { arguments, forms, runner, cpu, folder } = setting;
    let mut variants = Vec::new();
    for place in places {
        for form in *forms {
            let mut command = runner.command(&place.program(form))?;
            command.environment.extend(form.environment.iter().cloned());
            variants.push(Variant::new(format!("{}: {}", place.name, form.name), command));
        }
    }
    let warm = state == CacheState::Warm;
    let schedule = Schedule {
        seed: arguments.seed.unwrap_or_else(lab::fresh_seed),
        warm_up_rounds: if warm { WARM_UP_ROUNDS } else { 0 },
        rounds: arguments.runs.unwrap_or(if warm { WARM_ROUNDS } else { COLD_ROUNDS }),
        budget_s: Some(arguments.share_s()),
        ..Schedule::default()
    };
    let options = LaunchOptions {
        until: Until::Exit,
        cache: state,
        cpu: Some(*cpu),
        realtime: false,
        timeout_s: TIMEOUT_S,
        ignore_failure: false,
        ignored_codes: Vec::new(),
        prepare: None,
    };
    let experiment = lab::experiment(variants, schedule, options);
    let name = if warm { "warm" } else { "cold" };
    let mut kept = Some(RunFolder::create(&folder.join(name), &experiment)?);
    let (mut samples, mut notes) = (Vec::new(), Vec::new());
    let (began, mut failures) = (Instant::now(), runner.failures());
    let mut left = experiment.clone();
    let stop = loop {
        let where_to = (&mut kept, &mut notes);
        let line = StatusLine::new();
        let stop =
            lab::launch_all(launcher, &left, &mut samples, where_to, &mut |e| line.observe(e));
        match stop.map_err(LabError::from) {
            // What was launched before is worth a table.
            Err(error) if error.is_interrupt() => break Stop::Interrupted,
            Err(error) if failures.go_on(&error, samples.len()) => launcher = Launcher::start()?,
            stop => break stop?,
        }
        let left_s = arguments.share_s() - began.elapsed().as_secs_f64();
        left.schedule.budget_s = Some(left_s.max(0.0));
    };
    notes.extend(failures.note());
    Ok(Launched { experiment, samples, stop, notes })
}
