//! What speaks against every law.

use super::curve::Curve;
use super::data::Data;

/// A fall of the values by more than this part, and by more than the points' own errors explain,
/// is one.
const FALL: f64 = 0.15;
/// So many standard errors are not left to chance.
const STANDARD_ERRORS: f64 = 4.0;

/// Why the points follow no law, where `nearest` is the one that comes nearest.
pub(super) fn reason(nearest: &Curve, data: &Data) -> String {
    match deepest_fall(data) {
        Some((from, to, part)) => format!(
            "the values fall by {:.0} % from n = {from} to n = {to} instead of rising; measure \
             those sizes again, with more launches",
            part * 100.0
        ),
        None => format!(
            "the points are {:.0} % off the nearest law on average; more sizes and more launches \
             would tell noise from a law that changes along the way",
            nearest.deviation(data) * 100.0
        ),
    }
}

/// From which size to which the values fall most, and by what part.
fn deepest_fall(data: &Data) -> Option<(f64, f64, f64)> {
    let mut highest = (0.0, 0.0);
    let mut deepest = None;
    let mut limit = FALL.max(STANDARD_ERRORS * data.noise);
    for (n, value) in data.pairs() {
        let part = 1.0 - value / highest.1;
        if highest.1 > 0.0 && part > limit {
            limit = part;
            deepest = Some((highest.0, n, part));
        }
        if value > highest.1 {
            highest = (n, value);
        }
    }
    deepest
}
