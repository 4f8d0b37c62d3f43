//! How often a sweep launches.

use crate::args::values;
use clap::Args;
use lab::sweep::SweepExtent;
use std::time::Duration;

/// How often the sizes of a sweep are launched.
#[derive(Debug, Args)]
#[command(next_help_heading = "How often")]
pub struct SweepArgs {
    /// Maximum number of rounds; each launches every size once
    #[arg(short, long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(i64::from(lab::sweep::LEAST_ROUNDS)..))]
    pub runs: Option<u32>,
    /// Stop after this time; sizes that would take too long are left out [default: 50s]
    #[arg(long, value_name = "TIME", value_parser = values::seconds)]
    pub budget: Option<Duration>,
    /// Seed of the random order
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl SweepArgs {
    /// How often, and for how long.
    pub fn extent(&self) -> SweepExtent {
        SweepExtent {
            rounds: self.runs,
            budget_s: self.budget.map(|budget| budget.as_secs_f64()),
            more_time: "allow more time with --budget",
        }
    }
}
