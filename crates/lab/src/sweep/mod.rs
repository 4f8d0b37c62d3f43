//! A sweep: the same program at several sizes, as the variants of one interleaved run.
//!
//! [`sweep`] takes a [`SweepRequest`] and gives [`Swept`]. In it, [`choose`] tries each size once and
//! leaves out what the budget does not allow, [`launch_all`] makes the launches of an ordinary run,
//! and [`count_all`] counts instead of timing. The [`SweepPlan`] stands beside `experiment.json` in the run
//! folder, so that a sweep goes on where it was killed.

mod choose;
mod counted;
mod counts;
mod plan;
mod session;
mod sizes;
mod subject;
mod timed;
mod times;
mod workload_folder;
pub mod workloads;

pub use choose::{Chosen, Trying, choose};
pub use counts::{Counting, count_all};
pub use plan::{PLAN, PLAN_SCHEMA, SweepPlan};
pub use session::{SweepExtent, SweepRequest, Swept, resume_sweep, sweep};
pub use sizes::{SizesError, parse_sizes};
pub use subject::{OLD_SIZE_MARK, SIZE_MARK, SweepSubject};
pub use times::{LEAST_ROUNDS, WARM_UP_ROUNDS, launch_all};

use std::fmt::{self, Display, Formatter};

/// Sizes that the budget does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The sizes.
    pub sizes: Vec<u64>,
    /// Why they are left out.
    pub why: String,
}

impl Display for LeftOut {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let list: Vec<String> = self.sizes.iter().map(u64::to_string).collect();
        let are = if list.len() == 1 { "is" } else { "are" };
        write!(f, "n = {} {are} left out: {}", list.join(", "), self.why)
    }
}
