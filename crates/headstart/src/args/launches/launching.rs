//! How launches are made, and how many.

use super::around::AroundArgs;
use super::pinning::PinArgs;
use super::values::{self, Ignored};
use crate::exit::Usage;
use anyhow::Result;
use clap::Args;
use lab::{ScheduleChanges, UNBOUNDED_ROUNDS};
use model::{CacheState, LaunchOptions, Schedule, Until};
use std::path::PathBuf;
use std::time::Duration;

const ROUNDS: u32 = 30;
/// Enough to bring a program's files into memory.
const WARM_UP_ROUNDS: u32 = 2;

/// How often to launch.
#[derive(Debug, Args)]
#[command(next_help_heading = "How often")]
pub struct ScheduleArgs {
    /// Launches of each command [default: 30]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: Option<u32>,
    /// Launch until the result is known to this precision, such as 1%
    #[arg(long, value_name = "X%", value_parser = values::fraction)]
    pub precision: Option<f64>,
    /// Stop after this time [default: 60s with --precision, else none]
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub budget: Option<Duration>,
    /// Uncounted launches at the beginning [default: 2, with --cold 0]
    #[arg(short, long, value_name = "N")]
    pub warmup: Option<u32>,
    /// Seed of the random order; the same seed gives the same order
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl ScheduleArgs {
    /// The schedule of a new run.
    pub fn schedule(&self, cold: bool) -> Schedule {
        let mut schedule = Schedule {
            seed: self.seed.unwrap_or_else(lab::fresh_seed),
            warm_up_rounds: self.warmup.unwrap_or(if cold { 0 } else { WARM_UP_ROUNDS }),
            rounds: ROUNDS,
            ..Schedule::default()
        };
        self.changes().apply(&mut schedule);
        schedule
    }

    /// What was given of it for a run that goes on.
    pub fn changes(&self) -> ScheduleChanges {
        ScheduleChanges {
            rounds: self.runs,
            precision: self.precision,
            budget_s: self.budget.map(|budget| budget.as_secs_f64()),
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
    /// Accept launches that fail: all of them, or only those with these exit codes (-i=1,2)
    #[arg(short, long, value_name = "CODES", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "all-non-zero", value_parser = values::ignored)]
    pub ignore_failure: Option<Ignored>,
    /// Where they run.
    #[command(flatten)]
    pub pin: PinArgs,
}

impl LaunchArgs {
    /// How warm launches are made.
    pub fn options(&self) -> LaunchOptions {
        LaunchOptions {
            until: self.until.clone(),
            cache: CacheState::Warm,
            cpu: self.pin.cpu(),
            realtime: false,
            timeout_s: self.timeout.as_secs_f64(),
            ignore_failure: matches!(self.ignore_failure, Some(Ignored::All)),
            ignored_codes: match &self.ignore_failure {
                Some(Ignored::Codes(codes)) => codes.clone(),
                _ => Vec::new(),
            },
            prepare: None,
        }
    }

    /// Whether all failures are ignored, for verbs that cannot tell one from another.
    pub fn ignores_all(&self) -> Result<bool> {
        match &self.ignore_failure {
            None => Ok(false),
            Some(Ignored::All) => Ok(true),
            Some(Ignored::Codes(_)) => {
                let text = "only measure, compare, explain and scale accept single exit codes; \
                            here, give --ignore-failure without codes";
                Err(Usage(text.to_owned()).into())
            }
        }
    }
}

/// How many launches at least and at most, as hyperfine has it.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "How often")]
pub struct BoundsArgs {
    /// Minimum number of launches of each command
    #[arg(short, long, value_name = "N", conflicts_with = "runs")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    min_runs: Option<u32>,
    /// Maximum number of launches of each command
    #[arg(short = 'M', long, value_name = "N", conflicts_with = "runs")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    max_runs: Option<u32>,
    /// Continue until the launches of each command have taken this long in total
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    #[arg(conflicts_with = "precision")]
    min_benchmarking_time: Option<Duration>,
}

impl BoundsArgs {
    /// Applies the bounds to a schedule that has the usual number of rounds.
    fn apply(&self, schedule: &mut Schedule, runs: Option<u32>) -> Result<()> {
        let (least, most) = (self.min_runs.unwrap_or(1), self.max_runs.unwrap_or(u32::MAX));
        if least > most {
            let text =
                format!("--min-runs {least} is more than --max-runs {most}; correct one of them");
            return Err(Usage(text).into());
        }
        schedule.rounds = schedule.rounds.clamp(least, most);
        if schedule.precision.is_some() {
            schedule.least_rounds = self.min_runs;
        }
        if let (Some(time), None) = (self.min_benchmarking_time, runs) {
            schedule.least_rounds = Some(self.min_runs.unwrap_or(schedule.rounds));
            schedule.least_s = Some(time.as_secs_f64());
            schedule.rounds = self.max_runs.unwrap_or(UNBOUNDED_ROUNDS);
        }
        Ok(())
    }
}

/// What concerns measured launches alone.
#[derive(Debug, Args)]
#[command(next_help_heading = "How to launch")]
pub struct MeasuredArgs {
    #[command(flatten)]
    pub launch: LaunchArgs,
    #[cfg_attr(not(windows), doc = "Start cold: empty the page cache before each launch")]
    #[cfg_attr(windows, doc = "Not available on Windows")]
    #[arg(long, hide = cfg!(windows))]
    pub cold: bool,
    #[cfg_attr(not(windows), doc = "Real-time priority and locked memory (needs permission)")]
    #[cfg_attr(windows, doc = "Real-time priority class (needs permission)")]
    #[arg(long)]
    pub realtime: bool,
    #[command(flatten)]
    pub bounds: BoundsArgs,
    #[command(flatten)]
    pub around: AroundArgs,
    #[command(flatten)]
    pub kept: KeptArgs,
}

/// Where a run is kept.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct KeptArgs {
    #[cfg_attr(
        not(windows),
        doc = "Keep the run in this new folder [default: a folder below ~/.cache/headstart]"
    )]
    #[cfg_attr(
        windows,
        doc = r"Keep the run in this new folder [default: a folder below %LOCALAPPDATA%\headstart]"
    )]
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Continue the run in this folder, which holds its commands and how to launch them
    #[arg(long, value_name = "DIR")]
    #[arg(conflicts_with_all = ["save", "until", "timeout", "ignore_failure", "cpu", "no_pin"])]
    #[arg(conflicts_with_all = ["cold", "realtime", "seed", "warmup", "min_runs", "max_runs"])]
    #[arg(conflicts_with_all = ["min_benchmarking_time", "setup", "prepare", "conclude", "cleanup"])]
    #[arg(conflicts_with_all = ["input", "output", "show_output", "names", "reference"])]
    #[arg(conflicts_with_all = ["parameter_list", "parameter_scan", "shell", "no_shell"])]
    pub resume: Option<PathBuf>,
    #[command(flatten)]
    old: OldRun,
}

/// `--run`, which `--save` has replaced.
#[derive(Debug, Args)]
pub struct OldRun {
    /// The name before --save.
    #[arg(long = "run", hide = true, value_name = "DIR", value_parser = values::renamed)]
    _run: Option<PathBuf>,
}

impl MeasuredArgs {
    /// The schedule of a new run.
    pub fn schedule(&self, often: &ScheduleArgs) -> Result<Schedule> {
        let mut schedule = often.schedule(self.cold);
        self.bounds.apply(&mut schedule, often.runs)?;
        Ok(schedule)
    }

    /// How the launches of a new run are made.
    pub fn options(&self) -> LaunchOptions {
        LaunchOptions {
            // Whether all of it or the launch's own files: decided when that is tried.
            cache: if self.cold { CacheState::ColdEvicted } else { CacheState::Warm },
            realtime: self.realtime,
            ..self.launch.options()
        }
    }
}
