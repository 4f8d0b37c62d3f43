//! The unmodified program: what is optimized, and what variants are compared with.

use crate::choose::DEFAULT;
use crate::launches::{Launches, Observed};
use crate::{OptimizeError, Program};
use files::{Privilege, privilege};
use image::elf::Loadable;
use lab::LabError;
use loader::{Environment, Graph, GraphError};
use model::{Command, Ending};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// How the original and its variants are launched and tested.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The original has to end within this time.
    pub timeout: Duration,
    /// An exit code other than 0, or a signal, is as good as any; it must be the same always.
    pub ignore_failure: bool,
    /// CPU for launches.
    pub cpu: Option<u32>,
    /// The user's own test.
    pub check: Option<Command>,
}

/// What is optimized: a command whose program the loader loads, and what it does.
pub struct Baseline {
    /// The program, and the launch of it.
    pub program: Program,
    /// What the environment tells the loader.
    pub environment: Environment,
    /// What the loader does with the original.
    pub graph: Graph,
    /// What the original did when it was launched twice.
    pub observed: [Observed; 2],
}

impl Baseline {
    /// Looks at the program, launches it twice, and tests it.
    ///
    /// # Errors
    /// It is none that could be optimized, fails, is not finished in time, or ends now so and now
    /// otherwise.
    pub fn new(
        command: Command,
        terms: &Terms,
        launches: &mut Launches,
    ) -> Result<Baseline, OptimizeError> {
        let path =
            os::program::lasting_path(&command.program).unwrap_or_else(|_| command.program.clone());
        let file = path.canonicalize().unwrap_or_else(|_| path.clone());
        if let Some(what) = privilege(&file).map(Privilege::name) {
            let program = path.display().to_string();
            return Err(OptimizeError::Privileged { program, what });
        }
        let opened = Loadable::open(&file).ok();
        if let Some(reason) = opened.as_ref().and_then(bundle::is_already) {
            let program = path.display().to_string();
            return Err(OptimizeError::Bundle { program, reason });
        }
        let environment = Environment::of(&command);
        let graph = match loader::load(&path, &environment) {
            Ok(graph) => graph,
            Err(error) => return Err(better_reason(error, &command, terms, launches)),
        };
        let observed = observed(&command, &path, terms, launches)?;
        let program = Program { path, file, told: None, command };
        Ok(Baseline { program, environment, graph, observed })
    }
}

/// What the command does when it is launched twice; it has to end well and in the same way. The user's
/// test has to succeed for its program.
///
/// # Errors
/// It fails, is not finished in time, ends now so and now otherwise, or the test fails.
pub(crate) fn observed(
    command: &Command,
    program: &Path,
    terms: &Terms,
    launches: &mut Launches,
) -> Result<[Observed; 2], OptimizeError> {
    let first = successful(launches.observe(command, terms.timeout)?, command, terms)?;
    let second = successful(launches.observe(command, terms.timeout)?, command, terms)?;
    if first.ending != second.ending {
        let (first, second) = (first.ending, second.ending);
        return Err(OptimizeError::Unsteady { command: command.line(), first, second });
    }
    test(program, terms, launches)?;
    Ok([first, second])
}

/// The user's test has to succeed for the original.
fn test(program: &Path, terms: &Terms, launches: &mut Launches) -> Result<(), OptimizeError> {
    let Some(check) = &terms.check else { return Ok(()) };
    let with_program = check_command(check, program, DEFAULT);
    let observed = launches.observe(&with_program, terms.timeout)?;
    match observed.ending {
        Ending::Code(0) => Ok(()),
        ending => {
            let (command, output) = (check.line(), observed.last_lines());
            Err(OptimizeError::Check { command, ending, output })
        }
    }
}

/// The user's test of one program.
pub(crate) fn check_command(check: &Command, program: &Path, variant: &str) -> Command {
    let mut check = check.clone();
    let set = [("HEADSTART_PROGRAM", program.into()), ("HEADSTART_VARIANT", variant.into())];
    check.environment.extend(set.map(|(name, value)| (name.to_owned(), Some(value))));
    check
}

fn successful(
    observed: Observed,
    command: &Command,
    terms: &Terms,
) -> Result<Observed, OptimizeError> {
    let command = command.line();
    match observed.ending {
        Ending::Code(0) => Ok(observed),
        Ending::TimedOut => {
            let timeout_s = terms.timeout.as_secs_f64();
            Err(LabError::TimedOut { command, timeout_s }.into())
        }
        ending => {
            let by_loader = observed.loader_failure().is_some();
            if terms.ignore_failure && !by_loader {
                return Ok(observed);
            }
            let output = observed.last_lines();
            Err(OptimizeError::Fails { command, ending, output, by_loader })
        }
    }
}

/// What keeps the program from being started says more than what its simulated loader misses.
fn better_reason(
    error: GraphError,
    command: &Command,
    terms: &Terms,
    launches: &mut Launches,
) -> OptimizeError {
    let by_kernel = matches!(error, GraphError::Library { .. } | GraphError::Machine { .. })
        || !starts_with(&command.program, b"\x7fELF");
    if by_kernel && let Err(refused) = launches.observe(command, terms.timeout) {
        return refused.into();
    }
    error.into()
}

fn starts_with(path: &Path, magic: &[u8; 4]) -> bool {
    let mut head = [0; 4];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == *magic
}
