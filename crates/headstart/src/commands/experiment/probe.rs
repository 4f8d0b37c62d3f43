//! The Cygwin post's question: does looking at a program make its next launch slower?

use crate::args::{one_command, seconds};
use crate::exit::{self, Usage, WithCode};
use crate::output;
use crate::progress::StatusLine;
use anyhow::Result;
use lab::probes::{ProbesError, ProbesRequest, probe};
use model::published::PublishedProbes;
use model::{Command, ProbeExperiment};
use os::launcher::Launcher;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Does looking at a program make its next launch slower?
///
/// Modeled on Daniel Colascione's post (cygwin-developers, December 2012): on Windows, a shell that
/// looked at a program by mapping its start made each launch 40 times as slow as one that read it.
/// Here a program is looked at in nine ways, and launched after each: how much of it is in memory
/// then, and how long the launch takes against one before which nobody looked. Once with everything
/// in memory before, once with the program's own file evicted. All rows take turns in random order.
/// The published figures are printed below.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// What to launch; its program is looked at [default: the post's emacs where it is installed,
    /// else git --version]
    #[arg(trailing_var_arg = true, value_name = "CMD")]
    command: Vec<OsString>,
    /// Rounds, in each of which every row is launched once
    #[arg(short, long, value_name = "N", default_value_t = 15)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Leave out the rows in which the program is evicted first
    #[arg(long)]
    warm_only: bool,
    /// End a launch that takes longer, and give up
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = seconds)]
    timeout: Duration,
    /// Pin launches to this CPU [default: the quietest]
    #[arg(long, value_name = "N")]
    cpu: Option<u32>,
    /// Seed of the random order
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Keep the tables in this new folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    save: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Commands of the default, the first that is installed.
const DEFAULTS: [&[&str]; 2] =
    [&["emacs", "--batch", "-Q", "--eval", "(kill-emacs)"], &["git", "--version"]];

/// Makes the experiment and prints the tables.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let launcher = Launcher::start()?;
    let request = ProbesRequest {
        command: command(arguments)?,
        rounds: arguments.runs,
        warm_only: arguments.warm_only,
        seed: arguments.seed,
        cpu: Some(arguments.cpu.unwrap_or_else(os::host::quiet_cpu)),
        timeout: arguments.timeout,
    };
    if let Some(folder) = &arguments.save {
        super::new_folder(folder)?;
    }
    let line = StatusLine::new();
    let made = probe(launcher, &request, &mut |share| {
        line.show(share, "looking and launching".to_owned());
    });
    line.clear();
    let found = made.map_err(|error| match error {
        ProbesError::Launch(error) => anyhow::Error::from(error),
        ProbesError::Failed { .. } => told(exit::PROGRAM_FAILED, &error),
        ProbesError::Unreadable { .. } => told(exit::FILES, &error),
    })?;
    print(arguments, &found)?;
    Ok(ExitCode::SUCCESS)
}

fn told(code: u8, error: &ProbesError) -> anyhow::Error {
    WithCode { code, text: error.to_string() }.into()
}

fn command(arguments: &Arguments) -> Result<Command> {
    if !arguments.command.is_empty() {
        return one_command(&arguments.command);
    }
    let found = DEFAULTS.into_iter().find_map(|words| os::program::resolve(words).ok());
    found.ok_or_else(|| {
        let text = "neither emacs nor git is installed; name a command that ends by itself";
        Usage(text.to_owned()).into()
    })
}

fn print(arguments: &Arguments, found: &ProbeExperiment) -> Result<()> {
    let published = PublishedProbes::cygwin();
    if arguments.json {
        output::print(&object(found)?)?;
    } else {
        output::print(&report::published::probes(found, &published, &output::style()))?;
    }
    if let Some(folder) = &arguments.save {
        keep(folder, found)?;
        if !arguments.json {
            output::print(&format!("\nTables: {}\n", output::quoted(folder)))?;
        }
    }
    Ok(())
}

fn keep(folder: &Path, found: &ProbeExperiment) -> Result<()> {
    let write = |name: &str, text: &str| output::write_file(&folder.join(name), text);
    write("probe.json", &object(found)?)?;
    write("table.md", &report::published::probes_markdown(found, &PublishedProbes::cygwin()))
}

/// What was found, with the published figures beside it.
fn object(found: &ProbeExperiment) -> Result<String> {
    let mut value = serde_json::to_value(found)?;
    value["published"] = serde_json::to_value(PublishedProbes::cygwin())?;
    Ok(report::export::json(&value)?)
}
