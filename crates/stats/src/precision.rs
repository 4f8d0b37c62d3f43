//! How precisely a result is known.

use model::{Effect, Rules, Summary};

/// Fewest rounds after which `--precision` may stop: narrow intervals of fewer are luck too often.
pub const LEAST_ROUNDS_FOR_PRECISION: u32 = 30;

/// How far the interval of an effect reaches from its ratio, as a fraction: 0.01 is 1 %.
///
/// Infinite below [`LEAST_ROUNDS_FOR_PRECISION`], so that nobody stops there.
pub fn width(effect: &Effect) -> f64 {
    reach(effect.low, effect.ratio, effect.high, effect.rounds)
}

/// How far the interval of a median reaches from it, as a fraction; see [`width`].
pub fn summary_width(summary: &Summary) -> f64 {
    reach(summary.median_low_us, summary.median_us, summary.median_high_us, summary.runs)
}

fn reach(low: f64, middle: f64, high: f64, rounds: u32) -> f64 {
    if rounds < LEAST_ROUNDS_FOR_PRECISION.max(Rules::default().least_rounds) || low <= 0.0 {
        return f64::INFINITY;
    }
    (high / middle).max(middle / low) - 1.0
}
