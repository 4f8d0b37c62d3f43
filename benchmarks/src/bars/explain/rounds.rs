//! Launches of three kinds in turns: untraced, traced, and with glibc's own account. A process of
//! its own, so that another user can make them too.

use crate::loader_statistics::statistics;
use anyhow::{Context, Result};
use explain::Inputs;
use model::{Command, Phase, Reading, Until};
use os::attend::AttendOptions;
use os::launcher::{Configuration, LaunchSpec, Launcher, Stdio};
use os::trace::{TraceRequest, trace};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use testkit::workspace::SET_BY_CARGO;

/// The first argument that asks for them.
pub const COMMAND: &str = "rounds-of-launches";

/// One launch of each kind, right after one another.
#[derive(Debug, Serialize, Deserialize)]
pub struct Round {
    /// Without any tracing.
    pub untraced_us: f64,
    /// With the marks of phases.
    pub traced_us: f64,
    /// Of it, relocation.
    pub relocate_us: f64,
    /// Relocation as glibc counts it, its lost digit put back.
    pub glibc_us: f64,
}

/// `COUNT CPU PROGRAM ARGUMENT…`: prints the rounds as JSON.
///
/// # Errors
/// A launch fails.
pub fn run(words: &[&str]) -> Result<bool> {
    let (count, cpu, argv) = match words {
        [count, cpu, argv @ ..] => (count.parse::<u32>()?, cpu.parse::<u32>()?, argv),
        _ => anyhow::bail!("{COMMAND} COUNT CPU PROGRAM ARGUMENT…"),
    };
    let mut launcher = Launcher::start()?;
    launcher.configure(Configuration { cpu: Some(cpu), realtime: false })?;
    let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
    let mut command = os::program::resolve(&argv)?;
    command.environment.push((SET_BY_CARGO.to_owned(), None));
    let stdio = Stdio::null()?;
    let slot = launcher.prepare(&command, &stdio, &[])?;
    let (timeout, grace) = (Duration::from_secs(60), Duration::from_secs(1));
    let spec = LaunchSpec { until: Until::Exit, timeout, grace };
    launcher.once(slot, &spec)?;
    let mut rounds = Vec::new();
    for _ in 0..count {
        let untraced_us = launcher.once(slot, &spec)?.launch.total_us;
        let (traced_us, relocate_us) = traced(&command, stdio.clone(), cpu)?;
        rounds.push(Round { untraced_us, traced_us, relocate_us, glibc_us: glibc(&command, cpu)? });
    }
    println!("{}", serde_json::to_string(&rounds)?);
    Ok(true)
}

/// Total and relocation of a traced launch, as an explanation divides it.
fn traced(command: &Command, stdio: Stdio, cpu: u32) -> Result<(f64, f64)> {
    let request = TraceRequest { cpu: Some(cpu), ..TraceRequest::new(stdio) };
    let mut inputs = Inputs::nothing(command.clone(), "not recorded");
    inputs.phase_traces = Reading::Value(vec![trace(command, &request)?.trace]);
    let explanation = explain::explain(&inputs, |_| String::new());
    let relocate = explanation.phases.iter().filter(|time| time.phase == Phase::Relocate);
    Ok((explanation.total_us, relocate.map(|time| time.us).sum()))
}

fn glibc(command: &Command, cpu: u32) -> Result<f64> {
    let options = AttendOptions { cpu: Some(cpu), ..AttendOptions::default() };
    let read = statistics(command, 1, &options)?;
    let account = read.value().with_context(|| format!("no account: {:?}", read.reason()))?;
    Ok(account.launches.iter().flatten().map(|image| image.relocation_us).sum())
}
