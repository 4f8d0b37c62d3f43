//! The effect of a variant against the baseline, and the rule for its verdict.

use crate::interval::median_interval;
use model::{Effect, Interval, Rules, Verdict};

/// The effect of a variant against the baseline: names and launch times, paired by round.
///
/// Works on the logarithm of each round's ratio, so that exchanging the two gives the inverse.
/// Rounds with a time that is not above zero, or without a partner, are left out; `None` where
/// no round is left.
pub fn effect(
    baseline: (&str, &[f64]),
    variant: (&str, &[f64]),
    rules: &Rules,
    seed: u64,
) -> Option<Effect> {
    let usable = |time: f64| time.is_finite() && time > 0.0;
    let pairs = baseline.1.iter().zip(variant.1).filter(|&(&b, &v)| usable(b) && usable(v));
    let log_ratios: Vec<f64> = pairs.map(|(b, v)| (v / b).ln()).collect();
    let (median, interval) = median_interval(&log_ratios, rules.confidence, seed)?;
    let rounds = u32::try_from(log_ratios.len()).unwrap_or(u32::MAX);
    Some(Effect {
        baseline: baseline.0.to_owned(),
        variant: variant.0.to_owned(),
        ratio: median.exp(),
        low: interval.low.exp(),
        high: interval.high.exp(),
        confidence: rules.confidence,
        rounds,
        verdict: verdict(median, interval, rounds, rules),
        within: largest_difference(interval),
    })
}

/// The rule for "faster", as `docs/method.md` states it. Median and interval are logarithms.
fn verdict(median: f64, interval: Interval, rounds: u32, rules: &Rules) -> Verdict {
    let within = largest_difference(interval);
    if rounds < rules.least_rounds || !enough_rounds(rounds, rules.confidence) {
        Verdict::Inconclusive
    } else if within <= rules.margin {
        Verdict::Same
    } else if interval.high < 0.0 && difference(median) > rules.margin {
        Verdict::Faster
    } else if interval.low > 0.0 && difference(median) > rules.margin {
        Verdict::Slower
    } else if within <= rules.tolerance {
        Verdict::Same
    } else {
        Verdict::Inconclusive
    }
}

/// Whether an interval of that confidence exists at all: 8 rounds for 99 %.
fn enough_rounds(rounds: u32, confidence: f64) -> bool {
    2.0 * 0.5_f64.powi(rounds.try_into().unwrap_or(i32::MAX)) <= 1.0 - confidence
}

/// A logarithm of a ratio as a fraction of difference, the same both ways: ln 1.02 and −ln 1.02
/// are 0.02.
fn difference(log_ratio: f64) -> f64 {
    log_ratio.abs().exp_m1()
}

fn largest_difference(interval: Interval) -> f64 {
    difference(interval.low).max(difference(interval.high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(low: f64, ratio: f64, high: f64, rounds: u32) -> Verdict {
        let interval = Interval { low: low.ln(), high: high.ln() };
        verdict(ratio.ln(), interval, rounds, &Rules::default())
    }

    #[test]
    fn the_rule_for_faster() {
        use Verdict::{Faster, Inconclusive, Same, Slower};
        for (low, ratio, high, rounds, wanted) in [
            (0.83, 0.86, 0.89, 100, Faster),
            (1.02, 1.03, 1.04, 100, Slower),
            (0.995, 1.0, 1.005, 100, Same),
            // Excludes 1, but wholly within the margin.
            (1.003, 1.005, 1.009, 100, Same),
            // Excludes 1, but the estimate is within the margin and the rest within tolerance.
            (1.001, 1.008, 1.015, 100, Same),
            (1.001, 1.008, 1.025, 100, Inconclusive),
            (0.99, 1.0, 1.018, 100, Same),
            (0.97, 1.0, 1.03, 100, Inconclusive),
            // Too few rounds for any verdict.
            (0.5, 0.5, 0.5, 9, Inconclusive),
            (1.0, 1.0, 1.0, 9, Inconclusive),
            (0.5, 0.5, 0.5, 10, Faster),
        ] {
            assert_eq!(judge(low, ratio, high, rounds), wanted, "{low} {ratio} {high} {rounds}");
        }
    }

    #[test]
    fn a_higher_confidence_needs_more_rounds() {
        assert!(enough_rounds(8, 0.99) && !enough_rounds(7, 0.99));
        assert!(enough_rounds(11, 0.999) && !enough_rounds(10, 0.999));
    }

    #[test]
    fn rounds_without_two_times_are_left_out() {
        let found = effect(
            ("a", &[1.0, 0.0, 2.0, 3.0]),
            ("b", &[2.0, 2.0, f64::NAN]),
            &Rules::default(),
            1,
        );
        let found = found.unwrap();
        assert_eq!((found.rounds, found.ratio), (1, 2.0_f64.ln().exp()));
        assert!(effect(("a", &[]), ("b", &[1.0]), &Rules::default(), 1).is_none());
    }
}
