//! All ways to make a program start faster that this crate has.

use crate::Optimization;
use crate::optimizations::{bundle, no_pie, no_pie_and_order, order, relr, selfbind_and_order};

/// A line for each, in the order in which they are tried and shown.
pub const ALL: [Optimization; 7] = [
    Optimization { name: "order", keeps_aslr: true, build: &order::build },
    Optimization { name: "selfbind + order", keeps_aslr: true, build: &selfbind_and_order::build },
    Optimization { name: "relr", keeps_aslr: true, build: &relr::build },
    Optimization { name: "no-pie", keeps_aslr: false, build: &no_pie::build },
    Optimization { name: "no-pie + order", keeps_aslr: false, build: &no_pie_and_order::build },
    Optimization { name: "bundle", keeps_aslr: true, build: &bundle::movable },
    Optimization { name: "bundle --fixed", keeps_aslr: false, build: &bundle::fixed },
];
