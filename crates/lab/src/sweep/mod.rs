//! A sweep: the same program at several sizes, as the variants of one interleaved run.
//!
//! [`sweep`] takes a [`SweepRequest`] and gives [`Swept`]. In it, [`choose`] tries each size once and
//! leaves out what the budget does not allow; the launches are those of an ordinary run, or
//! [`count_all`] counts instead of timing. The [`SweepPlan`] stands beside `experiment.json` in the
//! run folder, so that a sweep goes on where it was killed.

mod choose;
#[cfg(target_os = "linux")]
mod counted;
#[cfg(not(target_os = "linux"))]
#[path = "../windows/counted.rs"]
mod counted;
mod counts;
mod plan;
mod session;
mod sizes;
mod subject;
mod timed;
mod workload_folder;
pub mod workloads;

pub use choose::{Chosen, Trying, choose};
pub use counts::{Counting, count_all};
pub use plan::{PLAN, PLAN_SCHEMA, SweepPlan};
pub use session::{SweepExtent, SweepRequest, Swept, resume_sweep, sweep};
pub use sizes::{SizesError, parse_sizes};
pub use subject::{OLD_SIZE_MARK, SIZE_MARK, SweepSubject};

use std::fmt::{self, Display, Formatter};

/// Rounds that a sweep makes even where its budget is spent.
pub const LEAST_ROUNDS: u32 = 5;
/// Each size has been tried before: this is only for what the other sizes displace.
const WARM_UP_ROUNDS: u32 = 1;

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
