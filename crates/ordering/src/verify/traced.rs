//! Launches of both builds, traced in turns: several of each, as launches of the same build may
//! differ.

use super::builds::{ModulePair, is_steady};
use super::pairs::{Pairing, pairing};
use super::{VerifyError, VerifyRequest};
use crate::ended::{self, Ended};
use crate::record;
use model::{Command, Ending, FunctionTrace};
use os::trace::functions;

/// Traced launches of each build.
const TRACES: usize = 3;
/// The same where launches differ: a change is only one beyond their spread.
const TRACES_OF_VARYING: usize = 9;

/// What traced launches of both builds show.
pub struct TracedBuilds {
    pub pairs: Vec<ModulePair>,
    /// What was not recorded or is not compared.
    pub notes: Vec<String>,
    /// How the launches of each build ended.
    pub endings: [Vec<Ending>; 2],
    /// Launches of each build.
    pub launches: usize,
}

/// Traces a launch of both builds, the old one first.
///
/// # Errors
/// [`VerifyError`].
pub fn traced(
    commands: [&Command; 2],
    request: &VerifyRequest,
) -> Result<TracedBuilds, VerifyError> {
    let mut launches = Launches::default();
    launches.trace(commands, request, TRACES)?;
    let few = launches.paired()?;
    if is_steady(&few.pairs) {
        return Ok(few);
    }
    launches.trace(commands, request, TRACES_OF_VARYING - TRACES)?;
    launches.paired()
}

#[derive(Default)]
struct Launches {
    traces: [Vec<FunctionTrace>; 2],
    endings: [Vec<Ending>; 2],
}

impl Launches {
    fn trace(
        &mut self,
        commands: [&Command; 2],
        request: &VerifyRequest,
        times: usize,
    ) -> Result<(), VerifyError> {
        for _ in 0..times {
            for (side, command) in commands.into_iter().enumerate() {
                let recorded = functions(command, &request.recording)?;
                let ending = ended::checked(&recorded, &request.recording, request.ignore_failure)
                    .map_err(|how| VerifyError::Ended(Ended { command: command.line(), how }))?;
                self.endings[side].push(ending);
                self.traces[side].push(record::trace(recorded, command));
            }
        }
        Ok(())
    }

    fn paired(&self) -> Result<TracedBuilds, VerifyError> {
        let [old, new] = &self.traces;
        let Pairing { pairs, notes } = pairing([old, new])?;
        Ok(TracedBuilds { pairs, notes, endings: self.endings.clone(), launches: old.len() })
    }
}
