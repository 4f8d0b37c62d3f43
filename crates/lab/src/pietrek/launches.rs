//! The launches of all forms in all places.

use super::Setting;
use super::places::Place;
use crate::{Event, LabError, RunFolder, Stop};
use model::{CacheState, Experiment, LaunchOptions, Sample, Schedule, Until, Variant};
use os::launcher::Launcher;

const WARM_ROUNDS: u32 = 300;
const COLD_ROUNDS: u32 = 50;
const WARM_UP_ROUNDS: u32 = 2;
/// Rounds that are made even where the budget is spent.
const LEAST_ROUNDS: u32 = 1;
const TIMEOUT_S: f64 = 60.0;

/// Launches of all forms in all places, in one state of the cache.
pub struct Launched {
    /// Variants are the forms of the first place, then those of the second, …
    pub experiment: Experiment,
    pub samples: Vec<Sample>,
    pub stop: Stop,
    pub notes: Vec<String>,
}

/// Makes one interleaved run of all forms in all places, kept in a folder within the one of all.
pub fn launch(
    state: CacheState,
    places: &[&Place],
    setting: &Setting<'_>,
    launcher: Launcher,
    observer: &mut dyn FnMut(Event),
) -> Result<Launched, LabError> {
    let Setting { request, forms, runner, folder } = setting;
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
        seed: request.seed.unwrap_or_else(crate::fresh_seed),
        warm_up_rounds: if warm { WARM_UP_ROUNDS } else { 0 },
        rounds: request.rounds.unwrap_or(if warm { WARM_ROUNDS } else { COLD_ROUNDS }),
        budget_s: Some(request.share_s()),
        ..Schedule::default()
    };
    let options = LaunchOptions {
        until: Until::Exit,
        cache: state,
        cpu: Some(request.cpu),
        realtime: false,
        timeout_s: TIMEOUT_S,
        ignore_failure: false,
        ignored_codes: Vec::new(),
        prepare: None,
    };
    let experiment = crate::experiment(variants, schedule, options);
    let name = if warm { "warm" } else { "cold" };
    let mut kept = Some(RunFolder::create(&folder.join(name), &experiment)?);
    let (mut samples, mut notes) = (Vec::new(), Vec::new());
    let to = (&mut kept, &mut notes);
    let stop = runner.launch_all(launcher, &experiment, &mut samples, to, LEAST_ROUNDS, observer);
    let stop = match stop.map_err(LabError::from) {
        Err(error) if error.is_interrupt() => Stop::Interrupted,
        stop => stop?,
    };
    Ok(Launched { experiment, samples, stop, notes })
}
