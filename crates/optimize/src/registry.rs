//! All ways to make a program start faster that this crate has.

use crate::optimizations::{bundle, no_pie, no_pie_and_order, order, relr, selfbind_and_order};
use crate::{Build, Optimization};

/// A line for each, in the order in which they are tried and shown.
pub const ALL: [Optimization; 9] = [
    warm("order", true, &order::build),
    warm("selfbind + order", true, &selfbind_and_order::build),
    warm("relr", true, &relr::build),
    warm("no-pie", false, &no_pie::build),
    warm("no-pie + order", false, &no_pie_and_order::build),
    warm("bundle", true, &bundle::movable),
    warm("bundle --fixed", false, &bundle::fixed),
    cold("bundle + read-ahead", true, &bundle::movable_ahead),
    cold("bundle --fixed + read-ahead", false, &bundle::fixed_ahead),
];

/// Those that look at each start whether they are still right: nothing else may take a program's place
/// in launches that others make.
const CHECKED: [&str; 2] = ["bundle", "bundle --fixed"];

/// Those of `all` that may take a program's place.
pub(crate) fn checked(all: &[Optimization]) -> Vec<Optimization> {
    all.iter().filter(|one| CHECKED.contains(&one.name)).copied().collect()
}

/// One that warm launches can gain from.
const fn warm(name: &'static str, keeps_aslr: bool, build: &'static Build) -> Optimization {
    Optimization { name, keeps_aslr, for_cold: false, build }
}

/// One that only cold launches can gain from.
const fn cold(name: &'static str, keeps_aslr: bool, build: &'static Build) -> Optimization {
    Optimization { name, keeps_aslr, for_cold: true, build }
}
