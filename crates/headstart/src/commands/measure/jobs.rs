//! `headstart measure --jobs N`: launches as a test runner or a build makes them.

use crate::args::{LaunchArgs, Look, one_command};
use crate::{output, progress};
use anyhow::Result;
use lab::{JobsRequest, JobsResult};
use model::{Until, figures};
use os::launcher::{GRACE, LaunchSpec, Launcher};
use std::ffi::OsString;
use std::process::ExitCode;

/// Launches by each launcher and block unless `--runs` says otherwise.
const LAUNCHES: u32 = 100;

/// What to launch, and how often.
pub struct Jobs<'a> {
    /// The program and its arguments.
    pub words: &'a [OsString],
    /// Launchers at once.
    pub count: u32,
    /// Launches by each launcher and block.
    pub launches: Option<u32>,
    /// How each launch is made.
    pub launching: &'a LaunchArgs,
    /// Print JSON.
    pub json: bool,
}

/// Measures the throughput of one launcher and of several, in turns.
pub fn run(jobs: &Jobs<'_>) -> Result<ExitCode> {
    let mut launchers = Vec::new();
    for _ in 0..jobs.count {
        launchers.push(Launcher::start()?);
    }
    let command = one_command(jobs.words)?;
    let timeout = jobs.launching.timeout;
    let request = JobsRequest {
        command: &command,
        launches: jobs.launches.unwrap_or(LAUNCHES),
        spec: LaunchSpec { until: Until::Exit, timeout, grace: GRACE },
        ignore_failure: jobs.launching.ignores_all()?,
    };
    let line = progress::StatusLine::new();
    let found = lab::throughput(&request, &mut launchers, &mut |done, of| {
        line.show(done as f64 / of as f64, format!("block {done} of {of}"));
    })?;
    line.clear();
    let JobsResult { one, several, left_running } = found;
    if left_running > 0 {
        let launches = figures::plural(left_running.into(), "launch", "launches");
        let note = format!("{launches} left processes running, which headstart ended");
        output::say(&[note], Look::Auto);
    }
    let name = command.line();
    let object = serde_json::json!({
        "command": name,
        "one": one,
        "several": several,
        "scaling": stats::scaling(&one, &several),
    });
    output::print_either(jobs.json, &object, |style| {
        report::jobs_view(&name, Some(&one), &several, style)
    })?;
    Ok(ExitCode::SUCCESS)
}
