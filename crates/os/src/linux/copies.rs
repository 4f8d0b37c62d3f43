//! Copies of a program that stand still while somebody looks at their memory.

use super::error::LaunchError;
use super::launcher::{Launcher, Stdio};
use model::Command;
use std::io::{self, PipeWriter};

pub use super::launcher::{CopiesRequest, CopiesUntil, Held, HeldProcess};

/// Copies of a program. They end, with whatever they have started, when this is dropped.
pub struct Copies {
    launcher: Launcher,
    held: Held,
    /// Their standard input has no end as long as this is open.
    _input: PipeWriter,
}

impl Copies {
    /// Launches copies of `command` at the same time, waits until they have started, and holds
    /// them. stdin is a pipe to which nobody writes, stdout and stderr are `/dev/null`, as far as
    /// it is not their output that is waited for.
    ///
    /// # Errors
    /// The program cannot be started or traced.
    pub fn start(command: &Command, request: &CopiesRequest) -> Result<Copies, LaunchError> {
        let failed = LaunchError::failed("creating a pipe for the input", "raise ulimit -n");
        let null = Stdio::null()?;
        let mut launcher = Launcher::start()?;
        let (read_end, write_end) = io::pipe().map_err(failed)?;
        let slot = launcher.prepare(command, &null.with_stdin(read_end), &[])?;
        let held = launcher.hold(slot, request)?;
        Ok(Copies { launcher, held, _input: write_end })
    }

    /// All processes, and the copies that could not be held.
    pub fn held(&self) -> &Held {
        &self.held
    }

    /// Ends them: first asked to, then without their consent.
    ///
    /// # Errors
    /// The launcher was ended by somebody else.
    pub fn end(mut self) -> Result<(), LaunchError> {
        self.launcher.release()
    }
}
