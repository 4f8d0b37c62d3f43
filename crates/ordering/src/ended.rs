//! How a traced launch ended, and whether what it called says anything.

use model::{Ending, Until};
use os::trace::{FunctionRequest, RecordUntil, RecordedFunctions};

/// A launch that did not end as it should.
#[derive(Debug, thiserror::Error)]
#[error("'{command}' {how}")]
pub struct Ended {
    /// The command.
    pub command: String,
    /// What became of it.
    pub how: BadEnding,
}

/// What became of a launch that did not end as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadEnding {
    /// It failed.
    #[error("{} when it was traced", .0.words())]
    Failed(Ending),
    /// It ended before it was complete.
    #[error("{} before its launch was complete", .0.words())]
    Incomplete(Ending),
    /// It took too long.
    #[error("did not finish in time when it was traced")]
    TimedOut,
}

/// How the launch ended: [`Ending::Ready`] where it was complete before its end.
///
/// # Errors
/// It failed, which `ignore_failure` accepts, or was never complete.
pub fn checked(
    recorded: &RecordedFunctions,
    request: &FunctionRequest,
    ignore_failure: bool,
) -> Result<Ending, BadEnding> {
    let until_exit = request.until == RecordUntil::Launch(Until::Exit);
    judged(recorded.ending, recorded.ready, until_exit, ignore_failure)
}

fn judged(
    ending: Ending,
    is_complete: bool,
    until_exit: bool,
    ignore_failure: bool,
) -> Result<Ending, BadEnding> {
    match ending {
        _ if is_complete => Ok(Ending::Ready),
        Ending::TimedOut => Err(BadEnding::TimedOut),
        _ if !until_exit => Err(BadEnding::Incomplete(ending)),
        Ending::Code(0) => Ok(ending),
        _ if ignore_failure => Ok(ending),
        _ => Err(BadEnding::Failed(ending)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_has_to_succeed_or_to_be_complete() {
        let signal = Ending::Signal(15);
        let code = Ending::Code(3);
        let crash = Ending::Status(0xc000_0005);
        for (ending, is_complete, until_exit, ignore_failure, wanted) in [
            (Ending::Code(0), false, true, false, Ok(Ending::Code(0))),
            (code, false, true, false, Err(BadEnding::Failed(code))),
            (code, false, true, true, Ok(code)),
            (crash, false, true, false, Err(BadEnding::Failed(crash))),
            (signal, true, false, false, Ok(Ending::Ready)),
            (Ending::Code(0), false, false, true, Err(BadEnding::Incomplete(Ending::Code(0)))),
            (Ending::TimedOut, false, true, true, Err(BadEnding::TimedOut)),
        ] {
            assert_eq!(judged(ending, is_complete, until_exit, ignore_failure), wanted);
        }
    }
}
