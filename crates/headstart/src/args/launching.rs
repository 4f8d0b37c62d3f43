//! How launches are made, and how many.

use super::{one_command, values};
use crate::runs;
use clap::Args;
use model::{CacheState, Request, Schedule, Until};
use std::path::PathBuf;
use std::time::Duration;

/// Rounds at most where a precision is asked for and no number is given: the budget ends it.
const ROUNDS_FOR_PRECISION: u32 = 1_000_000;
const ROUNDS: u32 = 30;
/// Seconds that `--precision` may take unless `--budget` says otherwise.
const BUDGET_S: f64 = 60.0;
/// Enough to bring a program's files into memory.
const WARM_UP_ROUNDS: u32 = 2;

/// How often to launch.
#[derive(Debug, Args)]
#[command(next_help_heading = "How often")]
pub struct ScheduleArgs {
    /// Launches of each command [default: 30]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Launch until the result is known this precisely, such as 1%
    #[arg(long, value_name = "X%", value_parser = values::fraction)]
    pub precision: Option<f64>,
    /// Stop after this time [default: 60s with --precision, else none]
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub budget: Option<Duration>,
    /// Launches before the counted ones [default: 2, with --cold 0]
    #[arg(long, value_name = "N")]
    pub warmup: Option<u32>,
    /// Seed of the random order; a run with the same seed has the same order
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl ScheduleArgs {
    /// The schedule of a new run.
    pub fn schedule(&self, cold: bool) -> Schedule {
        let mut schedule = Schedule {
            seed: self.seed.unwrap_or_else(runs::fresh_seed),
            warm_up_rounds: self.warmup.unwrap_or(if cold { 0 } else { WARM_UP_ROUNDS }),
            rounds: ROUNDS,
            precision: None,
            budget_s: None,
        };
        self.change(&mut schedule);
        schedule
    }

    /// Applies what was given to the schedule of a run that goes on.
    pub fn change(&self, schedule: &mut Schedule) {
        if let Some(precision) = self.precision {
            schedule.precision = Some(precision);
            schedule.rounds = ROUNDS_FOR_PRECISION;
            schedule.budget_s = schedule.budget_s.or(Some(BUDGET_S));
        }
        if let Some(rounds) = self.runs {
            schedule.rounds = rounds;
        }
        if let Some(budget) = self.budget {
            schedule.budget_s = Some(budget.as_secs_f64());
        }
    }
}

/// How each launch is made.
#[derive(Debug, Args)]
#[command(next_help_heading = "How to launch")]
pub struct LaunchArgs {
    /// When a launch is complete: exit, entry, output:REGEX, port:N or file:PATH
    #[arg(long, value_name = "WHEN", default_value = "exit", value_parser = values::until)]
    pub until: Until,
    /// End a launch that takes longer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = values::seconds)]
    pub timeout: Duration,
    /// Count launches that fail like others
    #[arg(short, long)]
    pub ignore_failure: bool,
    /// Pin launches to this CPU [default: the quietest]
    #[arg(long, value_name = "N", conflicts_with = "no_pin")]
    pub cpu: Option<u32>,
    /// Leave it to the scheduler where launches run
    #[arg(long)]
    pub no_pin: bool,
}

impl LaunchArgs {
    /// The request of warm launches.
    pub fn request(&self) -> Request {
        let quiet = || Some(os::host::quiet_cpu());
        Request {
            until: self.until.clone(),
            cache: CacheState::Warm,
            cpu: if self.no_pin { None } else { self.cpu.or_else(quiet) },
            realtime: false,
            timeout_s: self.timeout.as_secs_f64(),
            ignore_failure: self.ignore_failure,
            prepare: None,
        }
    }
}

/// What concerns measured launches alone.
#[derive(Debug, Args)]
#[command(next_help_heading = "How to launch")]
pub struct MeasuredArgs {
    #[command(flatten)]
    pub launch: LaunchArgs,
    /// Start cold: empty the page cache before each launch
    #[arg(long)]
    pub cold: bool,
    /// Run this command, untimed, before each round
    #[arg(long, value_name = "CMD")]
    pub prepare: Option<String>,
    /// Real-time priority and locked memory (needs permission)
    #[arg(long)]
    pub realtime: bool,
    /// Let the programs write to the terminal instead of /dev/null
    #[arg(long)]
    pub show_output: bool,
    /// Keep the run in this new folder [default: a folder below ~/.cache/headstart]
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
    /// Go on with the run in this folder; it knows its commands and how to launch them
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["run", "until", "timeout", "ignore_failure", "cpu", "no_pin"])]
    #[arg(conflicts_with_all = ["cold", "prepare", "realtime", "seed", "warmup"])]
    pub resume: Option<PathBuf>,
}

impl MeasuredArgs {
    /// The request of a new run.
    pub fn request(&self) -> anyhow::Result<Request> {
        let prepare = self.prepare.as_ref().map(|line| one_command(std::slice::from_ref(line)));
        Ok(Request {
            // Whether all of it or the launch's own files: decided when that is tried.
            cache: if self.cold { CacheState::ColdEvicted } else { CacheState::Warm },
            realtime: self.realtime,
            prepare: prepare.transpose()?,
            ..self.launch.request()
        })
    }
}
