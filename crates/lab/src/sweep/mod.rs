//! A sweep: the same program at several sizes, as the variants of one interleaved run.
//!
//! [`parse_sizes`] reads the sizes, [`choose`] tries each once and leaves out what the budget
//! does not allow, [`launch_all`] makes the launches of an ordinary run, [`count_all`] counts
//! instead of timing. The [`Plan`] stands beside `experiment.json` in the run folder, so that a
//! sweep goes on where it was killed.

mod choose;
mod counts;
mod plan;
mod sizes;
mod times;

pub use choose::{Chosen, Trying, choose};
pub use counts::{Counting, count_all};
pub use plan::{PLAN, PLAN_SCHEMA, Plan, Subject};
pub use sizes::{SizesError, parse_sizes};
pub use times::{LEAST_ROUNDS, WARM_UP_ROUNDS, launch_all};

/// The note about sizes that the budget does not allow.
fn left_out(sizes: &[u64], why: &str) -> String {
    let list: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let are = if list.len() == 1 { "is" } else { "are" };
    format!("n = {} {are} left out: {why}; allow more time with --budget.", list.join(", "))
}
