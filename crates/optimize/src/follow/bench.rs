//! Launches of scenes in turns.

use super::scene::Scene;
use crate::{OptimizeError, OptimizeEvent, OptimizeRequest};
use lab::{Failure, LabError, Launching, Stop, experiment, launch_rounds};
use model::optimization::VariantFigures;
use model::{
    CacheState, ColdCheck, Ending, Launch, LaunchOptions, Results, Rules, Until, Variant, VariantId,
};
use os::LaunchError;
use os::launcher::{Configuration, GRACE, LaunchSpec, Launcher, Slot, Stdio};
use std::time::{Duration, Instant};

/// A launcher of each scene.
struct SceneBench {
    seats: Vec<(Launcher, Slot, String)>,
    spec: LaunchSpec,
    expected: Ending,
    started: Instant,
}

/// Launches each of the scenes as often as asked for, in turns. All have to end as expected.
pub(super) fn measured(
    scenes: &[(String, Scene)],
    request: &OptimizeRequest,
    expected: Ending,
    observer: &mut dyn FnMut(OptimizeEvent),
) -> Result<Result<Results, Failure>, OptimizeError> {
    let variants = scenes.iter();
    let variants = variants.map(|(name, scene)| Variant::new(name.clone(), scene.command.clone()));
    let options = LaunchOptions { cache: CacheState::Warm, ..request.options.clone() };
    let experiment = experiment(variants.collect(), request.warm.clone(), options);
    let mut bench = SceneBench::new(scenes, &experiment.options, expected)?;
    let (mut samples, mut kept) = (Vec::new(), Vec::new());
    observer(OptimizeEvent::Begins);
    let mut launched = |event| observer(OptimizeEvent::Launches(event));
    let stop = launch_rounds(&experiment, &mut samples, &mut bench, &mut kept, 1, &mut launched);
    match stop {
        Ok(Stop::Interrupted) => Err(LaunchError::Interrupted.into()),
        Ok(_) => Ok(Ok(stats::results(&experiment, &samples, &Rules::default()))),
        Err(failure) if failure.error.is_interrupt() => Err(failure.error.into()),
        Err(failure) => Ok(Err(failure)),
    }
}

/// Figures of the variant of that name.
pub(super) fn figures_of(results: &Results, name: &str) -> VariantFigures {
    let Some(result) = results.variants.iter().find(|result| result.name == name) else {
        return VariantFigures::default();
    };
    let effect = results.effects.iter().find(|effect| effect.variant == name);
    crate::measure::figures(result, effect)
}

impl SceneBench {
    fn new(
        scenes: &[(String, Scene)],
        options: &LaunchOptions,
        expected: Ending,
    ) -> Result<SceneBench, OptimizeError> {
        let null = Stdio::null()?;
        let LaunchOptions { cpu, realtime, timeout_s, .. } = *options;
        if let Some(cpu) = cpu {
            os::host::stay_off(cpu);
        }
        let mut seats = Vec::new();
        for (_, scene) in scenes {
            let mut launcher = scene.launcher()?;
            launcher.configure(Configuration { cpu, realtime })?;
            let slot = launcher.prepare(&scene.command, &null, &[])?;
            seats.push((launcher, slot, scene.command.line()));
        }
        let timeout = Duration::try_from_secs_f64(timeout_s).unwrap_or(Duration::MAX);
        let spec = LaunchSpec { until: Until::Exit, timeout, grace: GRACE };
        Ok(SceneBench { seats, spec, expected, started: Instant::now() })
    }
}

impl Launching for SceneBench {
    fn prepare(&mut self, _: VariantId, _: i32) -> Result<(), LabError> {
        Ok(())
    }

    fn empty_cache(&mut self, _: VariantId) -> Result<Option<ColdCheck>, LabError> {
        Ok(None)
    }

    fn launch(&mut self, variant: VariantId) -> Result<Launch, LabError> {
        let (launcher, slot, line) = &mut self.seats[variant.index()];
        let launch = launcher.once(*slot, &self.spec)?.launch;
        if os::interrupt::requested() {
            return Err(LaunchError::Interrupted.into());
        }
        let (command, ending) = (line.clone(), launch.ending);
        match ending {
            Ending::TimedOut => {
                let timeout_s = self.spec.timeout.as_secs_f64();
                Err(LabError::TimedOut { command, timeout_s })
            }
            _ if ending == self.expected => Ok(launch),
            _ => Err(LabError::Failed { command, ending, output: String::new() }),
        }
    }

    fn conclude(&mut self, _: VariantId) -> Result<(), LabError> {
        Ok(())
    }

    fn elapsed_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn interrupted(&self) -> bool {
        os::interrupt::requested()
    }
}
