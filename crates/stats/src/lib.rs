//! What launch times say: summaries by order statistics, paired effects with intervals, and the
//! rule for "faster". Pure computation; the same seed gives the same figures.
//!
//! `docs/method.md` explains the choices in words.

mod block;
mod bootstrap;
mod counters;
mod effect;
pub mod growth;
mod interval;
mod order;
mod percentile;
mod precision;
mod results;
mod summary;
mod throughput;

pub use block::block_length;
pub use bootstrap::bootstrap_interval;
pub use effect::effect;
pub use interval::median_interval;
pub use model::Rules;
pub use order::order_interval;
pub use percentile::{ascending, percentile};
pub use precision::{LEAST_ROUNDS_FOR_PRECISION, summary_width, width};
pub use results::{results, times};
pub use summary::summarize;
pub use throughput::{scaling, throughput};
