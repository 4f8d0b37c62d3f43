//! Real launches.

mod hooks;
#[cfg(windows)]
pub(crate) mod missing_dlls;
mod seat;
mod spared;

use crate::{CacheEmptier, Failure, HookKind, LabError, Launching, OutputFile};
use hooks::HookRunner;
use model::{
    ColdCheck, Command, Ending, Experiment, Hooks, Launch, LaunchOptions, Reading, Until, Variant,
    VariantId,
};
use os::LaunchError;
use os::launcher::{Configuration, GRACE, LaunchSpec, Launcher, Stdio, unfollowed};
use seat::Seat;
use std::time::{Duration, Instant};

/// Launches an experiment's variants through one launcher process.
pub struct Bench<'a> {
    experiment: &'a Experiment,
    launcher: Launcher,
    seats: Vec<Seat>,
    hook_runner: Option<HookRunner>,
    emptier: Option<CacheEmptier>,
    spec: LaunchSpec,
    started: Instant,
    null: Stdio,
}

impl<'a> Bench<'a> {
    /// Sets the launcher up for the experiment.
    pub fn new(
        experiment: &'a Experiment,
        mut launcher: Launcher,
        emptier: Option<CacheEmptier>,
    ) -> Result<Self, Failure> {
        let null = Stdio::null().map_err(LabError::from)?;
        let mut seats = Vec::new();
        for (index, variant) in experiment.variants.iter().enumerate() {
            let seat = spared::check(&variant.streams, &experiment.variants)
                .and_then(|()| Seat::new(&mut launcher, variant, null.clone()));
            seats.push(seat.map_err(|error| Failure::at(VariantId::at(index), error))?);
        }
        let hook_runner = HookRunner::new(experiment)?;
        let LaunchOptions { until, cpu, realtime, timeout_s, .. } = &experiment.options;
        if let Some(cpu) = *cpu {
            os::host::stay_off(cpu);
        }
        let configuration = Configuration { cpu: *cpu, realtime: *realtime };
        launcher.configure(configuration).map_err(LabError::from)?;
        let timeout = Duration::try_from_secs_f64(*timeout_s).unwrap_or(Duration::MAX);
        let spec = LaunchSpec { until: until.clone(), timeout, grace: GRACE };
        let started = Instant::now();
        Ok(Bench { experiment, launcher, seats, hook_runner, emptier, spec, started, null })
    }

    /// Runs what the variants ask for before the first launch of all.
    ///
    /// # Errors
    /// One of these commands fails.
    pub fn set_up(&mut self) -> Result<(), LabError> {
        self.once(HookKind::Setup, |hooks| &hooks.setup)
    }

    /// Runs what the variants ask for after the last launch of all.
    ///
    /// # Errors
    /// One of these commands fails.
    pub fn clean_up(&mut self) -> Result<(), LabError> {
        self.once(HookKind::Cleanup, |hooks| &hooks.cleanup)
    }

    fn once(
        &mut self,
        hook: HookKind,
        which: fn(&Hooks) -> &Option<Command>,
    ) -> Result<(), LabError> {
        let Some(hook_runner) = &mut self.hook_runner else { return Ok(()) };
        for (command, to) in hooks::once(self.experiment, which) {
            hook_runner.run((hook, command), to)?;
        }
        Ok(())
    }

    fn command(&self, variant: VariantId) -> &Command {
        &self.experiment.variants[variant.index()].command
    }

    /// Whether the launch counts; the error it makes otherwise.
    fn judge(&mut self, variant: VariantId, launch: &Launch) -> Result<(), LabError> {
        let command = self.command(variant).line();
        let ending = launch.ending;
        match ending {
            Ending::Ready => Ok(()),
            Ending::TimedOut => {
                Err(LabError::TimedOut { command, timeout_s: self.experiment.options.timeout_s })
            }
            _ if self.spec.until != Until::Exit => {
                let output = self.lacking(variant, ending) + &self.output_of(variant);
                let until = self.spec.until.clone();
                Err(LabError::NeverReady { command, ending, until, output })
            }
            Ending::Code(0) => Ok(()),
            _ if self.experiment.options.ignores(ending) => Ok(()),
            _ => {
                let output = self.lacking(variant, ending) + &self.output_of(variant);
                Err(LabError::Failed { command, ending, output })
            }
        }
    }

    /// Whether a launch ended as it should.
    fn is_fine(&self, launch: &Launch) -> bool {
        launch.ending.is_success() || self.experiment.options.ignores(launch.ending)
    }

    /// What a program lacked that ended so, where the system says it and its name only.
    #[cfg(windows)]
    fn lacking(&mut self, variant: VariantId, ending: Ending) -> String {
        let seat = &self.seats[variant.index()];
        let slot = (!seat.exactly).then_some(seat.slot);
        let command = self.experiment.variants[variant.index()].command.clone();
        missing_dlls::words(&mut self.launcher, slot, &self.spec, &command, ending)
    }

    /// Nothing: what a program lacks is in what it writes.
    #[cfg(not(windows))]
    fn lacking(&self, _variant: VariantId, _ending: Ending) -> String {
        String::new()
    }

    /// The last lines a failing program writes, from one more launch; empty where it writes none.
    fn output_of(&mut self, variant: VariantId) -> String {
        if self.seats[variant.index()].exactly {
            return String::new();
        }
        self.launch_with_output(variant).map_or(String::new(), |mut output| output.quoted())
    }

    fn launch_with_output(&mut self, variant: VariantId) -> Result<OutputFile, LaunchError> {
        let output = OutputFile::new()?;
        let command = self.command(variant).clone();
        let stdio = self.null.clone().with_output(output.stream());
        let slot = self.launcher.prepare(&command, &stdio, &[])?;
        self.launcher.once(slot, &self.spec)?;
        Ok(output)
    }
}

impl Launching for Bench<'_> {
    fn prepare(&mut self, variant: VariantId, round: i32) -> Result<(), LabError> {
        let Variant { command, hooks, streams, .. } = &self.experiment.variants[variant.index()];
        let prepare = hooks.prepare.as_ref().or(self.experiment.options.prepare.as_ref());
        if let (Some(hook_runner), Some(prepare)) = (&mut self.hook_runner, prepare) {
            hook_runner.run((HookKind::Prepare, prepare), &streams.output)?;
        }
        let warm_up = i64::from(self.experiment.schedule.warm_up_rounds);
        let number = || match round {
            0.. => round.to_string(),
            _ => format!("warmup-{}", warm_up + i64::from(round)),
        };
        self.seats[variant.index()].renew(&mut self.launcher, command, number)
    }

    fn empty_cache(&mut self, variant: VariantId) -> Result<Option<ColdCheck>, LabError> {
        self.emptier.as_ref().map(|emptier| emptier.empty(variant)).transpose()
    }

    fn launch(&mut self, variant: VariantId) -> Result<Launch, LabError> {
        let seat = &self.seats[variant.index()];
        let launch = match self.spec.until {
            // Not once more for the peak of a small program.
            Until::Exit if seat.exactly => self.launcher.once(seat.slot, &self.spec)?.launch,
            _ => self.launcher.launch(seat.slot, &self.spec)?,
        };
        // A Ctrl-C reaches the program too: what it did then is no result.
        if self.interrupted() {
            return Err(LaunchError::Interrupted.into());
        }
        self.judge(variant, &launch)?;
        Ok(launch)
    }

    fn launch_followed(&mut self, variant: VariantId) -> Result<Launch, LabError> {
        if self.spec.until != Until::Exit {
            return self.launch(variant);
        }
        if let Some(missed) = unfollowed(self.command(variant)) {
            return Ok(Launch { private_kib: Some(missed), ..self.launch(variant)? });
        }
        let seat = &self.seats[variant.index()];
        let (slot, exactly) = (seat.slot, seat.exactly);
        let followed = self.launcher.followed(slot, &self.spec)?;
        if self.interrupted() {
            return Err(LaunchError::Interrupted.into());
        }
        if exactly || self.is_fine(&followed) {
            self.judge(variant, &followed)?;
            return Ok(followed);
        }
        // It may fail because it is traced: what counts is a launch that is not.
        let mut launch = self.launch(variant)?;
        launch.private_kib = Some(failed(followed.ending));
        Ok(launch)
    }

    fn private_kib(&mut self, variant: VariantId) -> Result<Option<Reading<u64>>, LabError> {
        let seat = &self.seats[variant.index()];
        let slot = seat.slot;
        if seat.exactly || self.spec.until != Until::Exit {
            return Ok(None);
        }
        if let Some(missed) = unfollowed(self.command(variant)) {
            return Ok(Some(missed));
        }
        let followed = self.launcher.followed(slot, &self.spec)?;
        if self.interrupted() {
            return Err(LaunchError::Interrupted.into());
        }
        Ok(match self.is_fine(&followed) {
            true => followed.private_kib,
            false => Some(failed(followed.ending)),
        })
    }

    fn conclude(&mut self, variant: VariantId) -> Result<(), LabError> {
        let Variant { hooks, streams, .. } = &self.experiment.variants[variant.index()];
        match (&mut self.hook_runner, &hooks.conclude) {
            (Some(hook_runner), Some(conclude)) => {
                hook_runner.run((HookKind::Conclude, conclude), &streams.output)
            }
            _ => Ok(()),
        }
    }

    fn elapsed_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn interrupted(&self) -> bool {
        os::interrupt::requested()
    }
}

/// Private memory of a launch that failed when it was traced.
fn failed(ending: Ending) -> Reading<u64> {
    Reading::unavailable(format!("the launch that was traced for it {}", ending.words()), "")
}
