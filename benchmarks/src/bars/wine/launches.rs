//! Launches of programs under Wine, in turns.

use crate::context::Context;
use anyhow::{Context as _, Result, ensure};
use model::{Command, Ending, Until};
use os::launcher::{Configuration, LaunchSpec, Launcher, Stdio};
use os::wine::Wine;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// How it ended; exit codes have 8 bits under Wine.
    pub ending: Ending,
    /// What it printed.
    pub stdout: String,
}

/// The command that runs a program of a folder in that folder.
pub fn command(wine: &Wine, folder: &Path, words: &[&str]) -> Command {
    let (program, arguments) = words.split_first().unwrap_or((&"", &[]));
    let mut command = wine.command(&folder.join(program));
    command.argv.extend(arguments.iter().map(OsString::from));
    command.directory = Some(folder.to_owned());
    command
}

/// Runs it once.
pub fn run(context: &Context, wine: &Wine, folder: &Path, words: &[&str]) -> Result<Run> {
    let path = context.scratch.join("wine-stdout");
    let stdio = Stdio::null()?.with_stdout(File::create(&path)?);
    let mut launcher = launcher(context)?;
    let slot = launcher.prepare(&command(wine, folder, words), &stdio, &[])?;
    let ending = launcher.once(slot, &spec())?.launch.ending;
    let stdout = String::from_utf8_lossy(&std::fs::read(&path)?).into_owned();
    Ok(Run { ending, stdout })
}

/// Times of `rounds` launches of each command, in µs. Every round has each once; who is first
/// changes from one to the next.
pub fn in_turns(context: &Context, commands: &[Command], rounds: usize) -> Result<Vec<Vec<f64>>> {
    let null = Stdio::null()?;
    let mut launcher = launcher(context)?;
    let mut slots = Vec::new();
    for command in commands {
        slots.push(launcher.prepare(command, &null, &[])?);
    }
    let mut times = vec![Vec::new(); commands.len()];
    // The first round brings the files into memory and is not counted.
    for round in 0..=rounds {
        for turn in 0..slots.len() {
            let which = (round + turn) % slots.len();
            let launch = launcher.once(slots[which], &spec())?.launch;
            let (ending, left) = (launch.ending, launch.left_running);
            let program = &commands[which].argv;
            ensure!(ending == Ending::Code(0), "round {round}: {program:?} ended with {ending:?}");
            ensure!(left == 0, "a launch started {left} processes of Wine's, which cost it time");
            if round > 0 {
                times[which].push(launch.total_us);
            }
        }
    }
    Ok(times)
}

fn launcher(context: &Context) -> Result<Launcher> {
    let mut launcher = Launcher::start().context("no launcher")?;
    launcher.configure(Configuration { cpu: Some(context.cpu), realtime: false })?;
    Ok(launcher)
}

fn spec() -> LaunchSpec {
    let (timeout, grace) = (Duration::from_secs(60), Duration::from_secs(1));
    LaunchSpec { until: Until::Exit, timeout, grace }
}
