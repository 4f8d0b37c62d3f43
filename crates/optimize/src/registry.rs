//! All ways to make a program start faster that this crate has.

use crate::Optimization;
use crate::optimizations::{Bundle, NoPie, NoPieAndOrder, OrderNeeded, Relr, SelfBindAndOrder};

/// A line for each, in the order in which they are tried and shown.
pub fn all() -> Vec<&'static dyn Optimization> {
    vec![
        &OrderNeeded,
        &SelfBindAndOrder,
        &Relr,
        &NoPie,
        &NoPieAndOrder,
        &Bundle { fixed: false },
        &Bundle { fixed: true },
    ]
}
