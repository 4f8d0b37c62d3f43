//! Commands that are run, untimed, around launches.

use crate::{HookKind, LabError, OutputFile};
use model::{Command, Ending, Experiment, Hooks, OutputTo, Until};
use os::launcher::{GRACE, LaunchSpec, Launcher, Slot, Stdio, Stream};
use std::time::Duration;

/// A launcher for them alone: a server that one of them starts lives on beside the launches, and
/// ends with this value.
pub struct HookRunner {
    launcher: Launcher,
    /// The latest one.
    slot: Option<Slot>,
    /// What the latest one wrote.
    output: OutputFile,
}

impl HookRunner {
    /// `None` where nothing is run around the launches.
    pub fn new(experiment: &Experiment) -> Result<Option<HookRunner>, LabError> {
        let plain = experiment.variants.iter().all(|variant| variant.hooks.is_empty());
        if plain && experiment.options.prepare.is_none() {
            return Ok(None);
        }
        let output = OutputFile::new()?;
        Ok(Some(HookRunner { launcher: Launcher::start()?, slot: None, output }))
    }

    /// Runs a command, with no limit of time.
    pub fn run(
        &mut self,
        (hook, command): (HookKind, &Command),
        to: &OutputTo,
    ) -> Result<(), LabError> {
        // A server that an earlier one has left writes to its own.
        self.output = OutputFile::new()?;
        let stdio = match to {
            OutputTo::Inherit => Stdio::inherited().with_stdin(Stream::null()?),
            _ => Stdio::null()?.with_output(self.output.stream()),
        };
        let slot = match self.slot {
            Some(slot) => self.launcher.replace(slot, command, &stdio, &[]).map(|()| slot)?,
            None => *self.slot.insert(self.launcher.prepare(command, &stdio, &[])?),
        };
        let spec = LaunchSpec { until: Until::Exit, timeout: Duration::MAX, grace: GRACE };
        let ending = self.launcher.aside(slot, &spec)?.launch.ending;
        if os::interrupt::requested() {
            // A Ctrl-C reaches the command too.
            return Err(os::LaunchError::Interrupted.into());
        }
        match ending {
            Ending::Code(0) => Ok(()),
            ending => {
                let (command, output) = (command.line(), self.output.quoted());
                Err(LabError::Hook { hook, command, ending, output })
            }
        }
    }
}

/// The setup commands, or those that clean up, of all variants; one that several share is run
/// once.
pub fn once(
    experiment: &Experiment,
    which: fn(&Hooks) -> &Option<Command>,
) -> Vec<(&Command, &OutputTo)> {
    let mut found: Vec<(&Command, &OutputTo)> = Vec::new();
    for variant in &experiment.variants {
        if let Some(command) = which(&variant.hooks)
            && !found.iter().any(|(other, _)| *other == command)
        {
            found.push((command, &variant.streams.output));
        }
    }
    found
}
