//! `headstart order verify`: whether a build with another order of functions is better.

use crate::args::{one_command, split, values};
use crate::exit::Usage;
use crate::progress::StatusLine;
use crate::{exit, output};
use anyhow::Result;
use lab::command_line::is_line;
use model::{Command, OrderVerdict, Until};
use ordering::verify::{HeldOutCommand, VerifyRequest, verify};
use os::launcher::{Launcher, Stdio};
use os::trace::{FunctionRequest, RecordUntil};
use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

/// Reads of each build that are shown.
pub const READS: usize = 12;

/// Compare a program before and after its functions were ordered
///
/// OLD and NEW are the program before and after it was relinked, or two whole command lines in
/// quotation marks. Both are traced, three times each (nine times if launches differ), their cold
/// reads are recorded (as root), and they are timed in interleaved rounds. The order is rejected, with
/// exit code 1, if a launch touches more pages or makes more reads than before, takes longer, or ends
/// differently. The exit code is also 1 if there is no verdict: the builds need symbols, have to be of
/// the same program, and have to call the same functions.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// OLD and NEW: programs, or whole command lines
    #[arg(num_args = 2, required = true, value_names = ["OLD", "NEW"])]
    builds: Vec<OsString>,
    /// Arguments of both programs, in one word
    #[arg(long, value_name = "ARGUMENTS", default_value = "", allow_hyphen_values = true)]
    arguments: String,
    /// Arguments of a launch that the order was not made for, in one word; may be repeated
    #[arg(long, value_name = "ARGUMENTS", allow_hyphen_values = true)]
    held_out: Vec<String>,
    #[command(flatten)]
    pub how: VerifyArgs,
    /// List every read
    #[arg(long, help_heading = "Output")]
    all: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// How builds are compared.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    /// Timed warm launches of each build; 0 for none
    #[arg(short, long, value_name = "N", default_value_t = 30, help_heading = "How often")]
    runs: u32,
    /// Timed cold launches of each build; 0 for none
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "How often")]
    cold_runs: u32,
    /// When a launch is complete: exit, entry, output:REGEX, port:N or file:PATH
    #[arg(long, value_name = "WHEN", default_value = "exit", value_parser = values::until)]
    #[arg(help_heading = "How to launch")]
    until: Until,
    /// End a launch that takes longer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::seconds)]
    #[arg(help_heading = "How to launch")]
    timeout: Duration,
    /// Accept launches that fail
    #[arg(short, long, help_heading = "How to launch")]
    ignore_failure: bool,
}

/// Compares and prints.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    os::interrupt::install();
    let launchers = [Launcher::start()?, Launcher::start()?];
    let null = Stdio::all(output::null()?);
    let [old, new] = arguments.commands(&arguments.arguments)?;
    let held_out = arguments.held_out.iter().map(|more| {
        let [old, new] = arguments.commands(more)?;
        Ok(HeldOutCommand { old, new })
    });
    let held_out = held_out.collect::<Result<Vec<_>>>()?;
    let request = arguments.how.request(old, new, held_out, null);
    let line = StatusLine::new();
    let found = verify(&request, launchers, &mut |step| {
        line.show(f64::from(step.done) / f64::from(step.of), step.what.to_owned());
    });
    line.clear();
    let found = found?;
    let rows = (!arguments.all).then_some(READS);
    output::print_either(arguments.json, &found, |style| {
        report::order_verification::view(&found, rows, style)
    })?;
    Ok(ExitCode::from(code(found.verdict)))
}

/// The exit code of a verdict.
pub fn code(verdict: OrderVerdict) -> u8 {
    if verdict.is_accepted() { 0 } else { exit::NO }
}

impl Arguments {
    /// The launches of both builds with these arguments behind them.
    fn commands(&self, arguments: &str) -> Result<[Command; 2]> {
        let command = |build: &OsString| match is_line(build) {
            true if arguments.is_empty() => one_command(std::slice::from_ref(build)),
            true => {
                let mut line = build.clone();
                line.push(format!(" {arguments}"));
                one_command(&[line])
            }
            false => {
                let words = split(arguments)?;
                let all: Vec<OsString> = [build.clone()].into_iter().chain(words).collect();
                one_command(&all)
            }
        };
        match self.builds.as_slice() {
            [old, new] => Ok([command(old)?, command(new)?]),
            _ => Err(Usage("give two builds: OLD NEW".to_owned()).into()),
        }
    }
}

impl VerifyArgs {
    /// The request for launches with these streams.
    pub fn request(
        &self,
        old: Command,
        new: Command,
        held_out: Vec<HeldOutCommand>,
        stdio: Stdio,
    ) -> VerifyRequest {
        VerifyRequest {
            old,
            new,
            held_out,
            recording: FunctionRequest {
                until: RecordUntil::Launch(self.until.clone()),
                first: None,
                count_limit: None,
                timeout: self.timeout,
                cpu: Some(os::host::quiet_cpu()),
                stdio,
            },
            warm_rounds: self.runs,
            cold_rounds: self.cold_runs,
            ignore_failure: self.ignore_failure,
        }
    }
}
