use crate::{Chill, LabError, Launching};
use model::{ColdCheck, Command, Ending, Experiment, Launch, Until};
use os::launcher::{Configuration, GRACE, LaunchSpec, Launcher, Slot, dev_null};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// Where the programs' output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// To `/dev/null`.
    Discard,
    /// To headstart's own stdout and stderr.
    Inherit,
}

/// Launches an experiment's variants through one launcher process.
pub struct Bench<'a> {
    experiment: &'a Experiment,
    launcher: Launcher,
    slots: Vec<Slot>,
    prepare: Option<Slot>,
    chill: Option<Chill>,
    spec: LaunchSpec,
    started: Instant,
    null: OwnedFd,
}

impl<'a> Bench<'a> {
    /// Sets the launcher up for the experiment.
    pub fn new(
        experiment: &'a Experiment,
        mut launcher: Launcher,
        output: Output,
        chill: Option<Chill>,
    ) -> Result<Self, LabError> {
        let request = &experiment.request;
        let null = dev_null()?;
        let (stdout, stderr) = match output {
            Output::Discard => (null.as_raw_fd(), null.as_raw_fd()),
            Output::Inherit => {
                (std::io::stdout().as_fd().as_raw_fd(), std::io::stderr().as_fd().as_raw_fd())
            }
        };
        let mut prepare_slot =
            |command: &Command, stdio: [RawFd; 3]| launcher.prepare(command, stdio, &[]);
        let mut slots = Vec::new();
        for variant in &experiment.variants {
            slots.push(prepare_slot(&variant.command, [null.as_raw_fd(), stdout, stderr])?);
        }
        let prepare = match &request.prepare {
            Some(command) => Some(prepare_slot(command, [null.as_raw_fd(); 3])?),
            None => None,
        };
        if let Some(cpu) = request.cpu {
            os::host::stay_off(cpu);
        }
        launcher.configure(Configuration { cpu: request.cpu, realtime: request.realtime })?;
        let timeout = Duration::try_from_secs_f64(request.timeout_s).unwrap_or(Duration::MAX);
        let spec = LaunchSpec { until: request.until.clone(), timeout, grace: GRACE };
        let started = Instant::now();
        Ok(Bench { experiment, launcher, slots, prepare, chill, spec, started, null })
    }

    fn command(&self, variant: usize) -> &Command {
        &self.experiment.variants[variant].command
    }

    /// Whether the launch counts; the error it makes otherwise.
    fn judge(&mut self, variant: usize, launch: &Launch) -> Result<(), LabError> {
        let command = self.command(variant).line();
        let ending = launch.ending;
        match ending {
            Ending::Ready => Ok(()),
            Ending::TimedOut => {
                Err(LabError::TimedOut { command, timeout_s: self.experiment.request.timeout_s })
            }
            _ if self.spec.until != Until::Exit => Err(LabError::NeverReady {
                command,
                ending,
                until: describe(&self.spec.until),
                output: self.output_of(variant),
            }),
            Ending::Code(0) => Ok(()),
            _ if self.experiment.request.ignore_failure => Ok(()),
            _ => {
                let mut output = self.output_of(variant);
                output.push_str("\nTo measure it all the same, give --ignore-failure.");
                Err(LabError::Failed { command, ending, output })
            }
        }
    }

    /// The last lines a failing program writes, from one more launch; empty where it writes none.
    fn output_of(&mut self, variant: usize) -> String {
        match self.launch_with_output(variant) {
            Some(text) if !text.trim().is_empty() => {
                let lines: Vec<_> = text.trim_end().lines().collect();
                let last = lines.iter().skip(lines.len().saturating_sub(8));
                let quoted: String = last.map(|line| format!("\n  | {line}")).collect();
                format!("; it wrote:{quoted}")
            }
            _ => String::new(),
        }
    }

    fn launch_with_output(&mut self, variant: usize) -> Option<String> {
        let mut file: File = tempfile::tempfile().ok()?;
        let command = self.command(variant).clone();
        let stdio = [self.null.as_raw_fd(), file.as_raw_fd(), file.as_raw_fd()];
        let slot = self.launcher.prepare(&command, stdio, &[]).ok()?;
        self.launcher.once(slot, &self.spec).ok()?;
        file.rewind().ok()?;
        let mut bytes = Vec::new();
        file.take(1 << 20).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn describe(until: &Until) -> String {
    match until {
        Until::Exit => "--until exit".to_owned(),
        Until::Entry => "--until entry".to_owned(),
        Until::Output(pattern) => format!("--until output:{pattern}"),
        Until::Port(port) => format!("--until port:{port}"),
        Until::File(path) => format!("--until file:{path}"),
    }
}

impl Launching for Bench<'_> {
    fn prepare_round(&mut self) -> Result<(), LabError> {
        let (Some(slot), Some(command)) = (self.prepare, &self.experiment.request.prepare) else {
            return Ok(());
        };
        match self.launcher.once(slot, &self.spec)?.launch.ending {
            Ending::Code(0) => Ok(()),
            ending => Err(LabError::Prepare { command: command.line(), ending }),
        }
    }

    fn chill(&mut self, variant: usize) -> Result<Option<ColdCheck>, LabError> {
        self.chill.as_ref().map(|chill| chill.apply(variant)).transpose()
    }

    fn launch(&mut self, variant: usize) -> Result<Launch, LabError> {
        let launch = self.launcher.launch(self.slots[variant], &self.spec)?;
        // A Ctrl-C reaches the program too: what it did then is no result.
        if self.interrupted() {
            return Err(os::LaunchError::Interrupted.into());
        }
        self.judge(variant, &launch)?;
        Ok(launch)
    }

    fn elapsed_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    fn interrupted(&self) -> bool {
        os::interrupt::requested()
    }
}
