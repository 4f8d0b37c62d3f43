//! Launches whose output is kept.

use lab::{OutputFile, quoted_end};
use model::{Command, Ending, Until};
use os::LaunchError;
use os::launcher::{Configuration, GRACE, LaunchSpec, Launcher, Stdio};
use std::time::Duration;

/// Output beyond this is counted, not compared.
const KEPT_BYTES: u64 = 64 << 20;

/// What a launch did that others can see.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// How it ended.
    pub ending: Ending,
    /// What it wrote.
    pub stdout: StreamOutput,
    /// What it wrote to stderr.
    pub stderr: StreamOutput,
    /// How long it took.
    pub total_us: f64,
}

/// What was written to one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamOutput {
    /// The first 64 MiB.
    pub bytes: Vec<u8>,
    /// How much there was.
    pub length: u64,
}

impl StreamOutput {
    /// Whether all of it was kept.
    pub(crate) fn is_whole(&self) -> bool {
        self.bytes.len() as u64 == self.length
    }
}

/// What glibc's loader and musl's say when they give up, with exit code 127.
const LOADER_GIVES_UP: [&str; 4] = [
    ": error while loading shared libraries: ",
    ": symbol lookup error: ",
    "Error loading shared library ",
    "Error relocating ",
];

impl Observed {
    /// What the loader said where it could not start the program.
    pub(crate) fn loader_failure(&self) -> Option<String> {
        let said = String::from_utf8_lossy(&self.stderr.bytes);
        let gives_up = |line: &&str| LOADER_GIVES_UP.iter().any(|words| line.contains(words));
        let line = said.lines().find(gives_up).map(str::to_owned);
        line.filter(|_| self.ending == Ending::Code(127))
    }

    /// The last lines that it wrote, to follow how it ended; empty where it wrote none.
    pub fn last_lines(&self) -> String {
        let quoted = [&self.stderr, &self.stdout].map(|stream| quoted_end(&stream.bytes));
        quoted.into_iter().find(|quoted| !quoted.is_empty()).unwrap_or_default()
    }
}

/// Makes launches one by one through a launcher of its own.
pub struct Launches {
    launcher: Launcher,
}

impl Launches {
    /// Launches through `launcher`, on `cpu` where one is given.
    ///
    /// # Errors
    /// The CPU is not permitted.
    pub fn new(mut launcher: Launcher, cpu: Option<u32>) -> Result<Launches, LaunchError> {
        launcher.configure(Configuration { cpu, realtime: false })?;
        Ok(Launches { launcher })
    }

    /// Launches `command` once and waits for its end, or ends it after `timeout`. stdin is
    /// `/dev/null`.
    ///
    /// # Errors
    /// It cannot be started, or the user wants to stop.
    pub fn observe(
        &mut self,
        command: &Command,
        timeout: Duration,
    ) -> Result<Observed, LaunchError> {
        let (mut stdout, mut stderr) = (OutputFile::new()?, OutputFile::new()?);
        let stdio = Stdio::null()?.with_stdout(stdout.stream()).with_stderr(stderr.stream());
        let slot = self.launcher.prepare(command, &stdio, &[])?;
        let spec = LaunchSpec { until: Until::Exit, timeout, grace: GRACE };
        let once = self.launcher.once(slot, &spec)?;
        // A Ctrl-C reaches the program too: what it did then says nothing.
        if os::interrupt::requested() {
            return Err(LaunchError::Interrupted);
        }
        Ok(Observed {
            ending: once.launch.ending,
            stdout: written(&mut stdout)?,
            stderr: written(&mut stderr)?,
            total_us: once.launch.total_us,
        })
    }
}

fn written(file: &mut OutputFile) -> Result<StreamOutput, LaunchError> {
    let (bytes, length) = file.written(KEPT_BYTES)?;
    Ok(StreamOutput { bytes, length })
}
