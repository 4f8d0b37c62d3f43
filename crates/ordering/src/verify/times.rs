//! Start-up time of both builds, launched in turns.

use super::coldness::coldness;
use super::{VerifyError, VerifyRequest, for_root};
use lab::{Keep, LabError, MeasureRequest, Stop};
use model::{CacheState, Effect, LaunchOptions, Reading, Results, Schedule, Until, Variant};
use os::LaunchError;
use os::launcher::Launcher;
use os::trace::RecordUntil;
use std::path::PathBuf;

const OLD: &str = "old";
const NEW: &str = "new";
/// Launches that are not counted.
const WARM_UP: u32 = 2;

/// What launches in turns have shown.
pub struct Times {
    medians_us: [Reading<f64>; 2],
    pub effect: Reading<Effect>,
}

impl Times {
    pub fn median_us(&self, side: usize) -> Reading<f64> {
        self.medians_us[side].clone()
    }

    fn unavailable(reason: &str, remedy: &str) -> Times {
        let none = || Reading::unavailable(reason, remedy);
        Times { medians_us: [none(), none()], effect: Reading::unavailable(reason, remedy) }
    }

    fn of_reading(results: Reading<Results>) -> Times {
        match results {
            Reading::Value(results) => Times::of(&results),
            Reading::Unavailable { reason, remedy } => Times::unavailable(&reason, &remedy),
        }
    }

    fn of(results: &Results) -> Times {
        let median = |name: &str| {
            let variant = results.variants.iter().find(|variant| variant.name == name);
            let missing = Reading::unavailable("no launch was counted", "");
            variant.map_or(missing, |variant| Reading::Value(variant.summary.median_us))
        };
        let effect = results.effects.first().cloned();
        let missing = Reading::unavailable("no round has a launch of both builds", "");
        Times { medians_us: [OLD, NEW].map(median), effect: effect.map_or(missing, Reading::Value) }
    }
}

/// With everything in memory.
pub fn warm(request: &VerifyRequest, launcher: Launcher) -> Result<Times, VerifyError> {
    let how = (request.warm_rounds, CacheState::Warm);
    Ok(Times::of_reading(in_turns(variants(request), request, launcher, how)?))
}

/// With the page cache emptied before each launch, where the files of both builds leave it.
pub fn cold(
    request: &VerifyRequest,
    launcher: Launcher,
    [old, new]: [Vec<PathBuf>; 2],
) -> Result<Times, VerifyError> {
    let files = [old, new].concat();
    Ok(Times::of_reading(cold_in_turns(variants(request), request, launcher, &files)?))
}

fn variants(request: &VerifyRequest) -> Vec<Variant> {
    vec![
        Variant::new(OLD.to_owned(), request.old.clone()),
        Variant::new(NEW.to_owned(), request.new.clone()),
    ]
}

/// What cold launches in turns show, if these files are out of memory before the first and after the
/// last.
pub fn cold_in_turns(
    variants: Vec<Variant>,
    request: &VerifyRequest,
    launcher: Launcher,
    files: &[PathBuf],
) -> Result<Reading<Results>, VerifyError> {
    let unavailable = |cold: Reading<()>| match cold {
        Reading::Value(()) => None,
        Reading::Unavailable { reason, remedy } => Some(Reading::Unavailable { reason, remedy }),
    };
    let rounds = request.cold_rounds;
    if let Some(stayed) = unavailable(coldness(files)).filter(|_| rounds > 0) {
        return Ok(stayed);
    }
    let results = in_turns(variants, request, launcher, (rounds, CacheState::ColdEvicted))?;
    let is_measured = results.value().is_some();
    Ok(unavailable(coldness(files)).filter(|_| is_measured).unwrap_or(results))
}

/// What launches of the variants in turns show; the first is the baseline.
fn in_turns(
    variants: Vec<Variant>,
    request: &VerifyRequest,
    launcher: Launcher,
    (rounds, cache): (u32, CacheState),
) -> Result<Reading<Results>, VerifyError> {
    if rounds == 0 {
        return Ok(Reading::unavailable("it was not asked for", ""));
    }
    let RecordUntil::Launch(until) = &request.recording.until else {
        let reason = "launches are timed until exit, entry, output, port or file, not until a signal or \
                      a function";
        return Ok(Reading::unavailable(reason, ""));
    };
    let schedule = Schedule {
        seed: lab::fresh_seed(),
        warm_up_rounds: if cache == CacheState::Warm { WARM_UP } else { 0 },
        rounds,
        ..Schedule::default()
    };
    let options = options(request, until.clone(), cache);
    let asked = MeasureRequest { variants, schedule, options, keep: Keep::Nowhere };
    let measured = lab::measure(launcher, asked, &mut |_| {})?;
    match measured.stop {
        Ok(Stop::Interrupted) => Err(LaunchError::Interrupted.into()),
        Ok(_) => Ok(Reading::Value(measured.results)),
        Err(failure) => match failure.error {
            LabError::Launch(error @ LaunchError::NotPermitted { .. }) => Ok(for_root(&error)),
            LabError::Cold(reason) => Ok(Reading::unavailable(reason, "")),
            error => Err(error.into()),
        },
    }
}

fn options(request: &VerifyRequest, until: Until, cache: CacheState) -> LaunchOptions {
    LaunchOptions {
        until,
        cache,
        cpu: request.recording.cpu,
        realtime: false,
        timeout_s: request.recording.timeout.as_secs_f64(),
        ignore_failure: request.ignore_failure,
        ignored_codes: Vec::new(),
        prepare: None,
    }
}
