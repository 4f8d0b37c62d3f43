//! `headstart list`: which optimized programs are in the place of the originals.

use crate::exit;
use crate::output;
use crate::programs::{self, ScopeArgs};
use anyhow::Result;
use model::ProgramList;
use std::process::ExitCode;
use std::time::SystemTime;

/// Show installed programs: fresh or why not, variant, time, size, last renewed
///
/// Lists the programs installed for all users and the user's own. A program whose state is `original`
/// starts its original, for the reason given; headstart renew makes it again. Exits with 6 if the state
/// file of a program cannot be read.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Lists them.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    programs::leave_working_folder()?;
    let mut list = ProgramList::default();
    let system = if arguments.scope.user { None } else { Some(programs::system()?) };
    // Without a home folder there are none of the user's own.
    for places in system.into_iter().chain(programs::own()) {
        let found = install::list(&places)?;
        list.schema = found.schema;
        list.programs.extend(found.programs);
        list.unreadable.extend(found.unreadable);
    }
    let now = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    output::print_either(arguments.json, &list, |style| report::programs::list(&list, now, style))?;
    Ok(if list.unreadable.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(exit::FILES) })
}
