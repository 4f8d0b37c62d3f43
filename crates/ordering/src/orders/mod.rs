//! Orders of functions: the same traces, and several ways to make one order of them.
//!
//! | algorithm | idea | for |
//! |---|---|---|
//! | first call | as the first run calls them, then what only later runs call | one run |
//! | call count | the most called first | the oldest linkers' advice; warm caches |
//! | C3 | callers next to their callees | instruction caches and TLBs |
//! | balanced partitioning | halves that share as few early prefixes of runs as possible | what LLVM does |
//! | signature | what the same runs call is together, and what most runs call is first | pages and reads of runs that nobody traced |

mod balanced_partitioning;
mod c3;
mod call_count;
mod called;
mod first_call;
mod signature;
#[cfg(test)]
mod tests;

use crate::{CalledFunctions, PlacedFunction};
use called::Called;
use model::FunctionId;

/// A way to make an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// In order of first call, run after run.
    FirstCall,
    /// The most called first.
    CallCount,
    /// Call-chain clustering (Ottoni and Maher, 2017).
    C3,
    /// Balanced partitioning of what runs call early (Hoag and others, 2023), as LLVM does it.
    BalancedPartitioning,
    /// Functions that the same runs call together, those of most runs first.
    Signature,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 5] = [
        Algorithm::FirstCall,
        Algorithm::CallCount,
        Algorithm::C3,
        Algorithm::BalancedPartitioning,
        Algorithm::Signature,
    ];
}

/// The called functions that can be moved, each once, in the order that an algorithm makes of the
/// runs. The same runs always give the same order.
///
/// Calls of functions that are not in the list are passed over, and so are repeated ones: the
/// first counts. A weight that is no number, or below zero, counts as zero.
pub fn order(
    algorithm: Algorithm,
    functions: &[PlacedFunction],
    runs: &[CalledFunctions],
) -> Vec<FunctionId> {
    let called = Called::new(functions, runs);
    let order = match algorithm {
        Algorithm::FirstCall => first_call::order(&called),
        Algorithm::CallCount => call_count::order(&called),
        Algorithm::C3 => c3::order(&called),
        Algorithm::BalancedPartitioning => balanced_partitioning::order(&called),
        Algorithm::Signature => signature::order(&called),
    };
    order.into_iter().map(|item| called.functions[item]).collect()
}
