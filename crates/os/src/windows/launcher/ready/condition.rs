//! What "ready" means, and whether a program is.

use super::output::WatchedOutput;
use super::port::answers;
use crate::phrases::Phrase;
use crate::stdio::Stdio;
use crate::windows::LaunchError;
use crate::windows::launcher::child::Child;
use crate::windows::launcher::pattern;
use model::Until;
use std::os::windows::io::RawHandle;
use std::path::Path;
use std::time::Duration;

/// What "ready" means, with what is needed to see it.
pub(in crate::windows) enum ReadyCondition {
    Output(WatchedOutput),
    Port(u16),
    File(String),
}

impl ReadyCondition {
    /// Prepares to watch; `None` for what is not watched from outside.
    ///
    /// # Errors
    /// The condition holds already or cannot be watched.
    pub(in crate::windows) fn new(until: &Until) -> Result<Option<Self>, LaunchError> {
        let condition = match until {
            Until::Output(text) => {
                let pattern = pattern(text).map_err(|error| {
                    let until_output = Phrase::UntilOutput.words();
                    let words = format!("{until_output}: {error}; correct the expression");
                    LaunchError::AlreadyReady(words)
                })?;
                ReadyCondition::Output(WatchedOutput::new(pattern)?)
            }
            Until::Port(port) => ReadyCondition::Port(*port),
            Until::File(path) => ReadyCondition::File(path.clone()),
            Until::Exit | Until::Entry => return Ok(None),
        };
        match &condition {
            ReadyCondition::Port(port) if answers(*port) => {
                Err(LaunchError::AlreadyReady(format!(
                    "port {port} already answers before the launch; stop that server (netstat -ano \
                     shows it) or choose another port"
                )))
            }
            ReadyCondition::File(path) if Path::new(path).exists() => {
                Err(LaunchError::AlreadyReady(format!(
                    "'{path}' already exists before the launch; remove it, or {}",
                    Phrase::RemoveBeforeLaunch.words()
                )))
            }
            _ => Ok(Some(condition)),
        }
    }

    /// The streams with which the program is launched, once: its output goes here where it is what
    /// is looked at.
    pub(in crate::windows) fn watched(&mut self, stdio: Stdio) -> Stdio {
        match self {
            ReadyCondition::Output(output) => output.watched(stdio),
            _ => stdio,
        }
    }

    /// Whether it is told, so that there is nothing to look for again and again.
    pub(in crate::windows) fn is_output(&self) -> bool {
        matches!(self, ReadyCondition::Output(_))
    }

    /// An event that is set when the output matches, where that is waited for.
    pub(in crate::windows) fn matched(&self) -> Option<RawHandle> {
        match self {
            ReadyCondition::Output(output) => Some(output.matched()),
            _ => None,
        }
    }

    /// Waits for what is still in the pipe.
    pub(in crate::windows) fn hear_out(&mut self, most: Duration) {
        if let ReadyCondition::Output(output) = self {
            output.hear_out(most);
        }
    }

    /// When the program was ready, in microseconds of its launch, if it is.
    pub(in crate::windows) fn ready_us(&self, child: &Child) -> Option<f64> {
        match self {
            ReadyCondition::Output(output) => {
                output.matched_at().map(|at| at.us_since(child.started))
            }
            ReadyCondition::Port(port) => answers(*port).then(|| child.now_us()),
            ReadyCondition::File(path) => Path::new(path).exists().then(|| child.now_us()),
        }
    }
}
