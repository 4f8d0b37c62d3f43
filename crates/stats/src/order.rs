//! The interval of a median from order statistics.

use model::Interval;

/// Interval of the median from order statistics (the sign test turned round; Thompson 1936).
///
/// Exact where the signs of `x − median` are independent, whatever the distribution. Rounds in
/// random order make them so: the order within a round decides the sign. `None` where even the
/// widest interval, smallest to largest value, has less than `confidence`.
pub fn order_interval(sorted: &[f64], confidence: f64) -> Option<Interval> {
    let rank = lower_rank(sorted.len(), 0.5, confidence)?;
    Some(Interval { low: sorted[rank - 1], high: sorted[sorted.len() - rank] })
}

/// Interval of the quantile below which `part` of all values lie, likewise. An end that so few
/// values cannot tell is the smallest or the largest of them. `None` for no values.
pub fn quantile_interval(sorted: &[f64], part: f64, confidence: f64) -> Option<Interval> {
    let from_below = lower_rank(sorted.len(), part, confidence).unwrap_or(1);
    let from_above = lower_rank(sorted.len(), 1.0 - part, confidence).unwrap_or(1);
    let low = *sorted.get(from_below - 1)?;
    Some(Interval { low, high: sorted[sorted.len() - from_above] })
}

/// The largest k with 2·P(Binomial(n, part) < k) ≤ 1 − confidence, counted from 1.
fn lower_rank(n: usize, part: f64, confidence: f64) -> Option<usize> {
    let tail = (1.0 - confidence) / 2.0;
    // In logarithms, because 2⁻ⁿ underflows from n = 1075.
    let mut ln_probability = n as f64 * (1.0 - part).ln();
    let ln_odds = (part / (1.0 - part)).ln();
    let mut below = 0.0;
    let mut rank = 0;
    while rank < n {
        below += ln_probability.exp();
        if below > tail {
            break;
        }
        rank += 1;
        ln_probability += ((n - rank + 1) as f64 / rank as f64).ln() + ln_odds;
    }
    (rank > 0).then_some(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference: binomial sums in exact fractions (Python's `fractions`, `math.comb`).
    #[test]
    fn ranks_agree_with_exact_arithmetic() {
        let at_99 = [(7, 0), (8, 1), (10, 1), (12, 2), (20, 4), (30, 8), (50, 16), (100, 37)];
        let at_99_many = [(400, 174), (1000, 459), (3000, 1429)];
        let at_95 = [(5, 0), (6, 1), (9, 2), (20, 6), (100, 40), (3000, 1446)];
        for (n, rank) in at_99.iter().chain(&at_99_many) {
            assert_eq!(lower_rank(*n, 0.5, 0.99).unwrap_or(0), *rank, "99 %, n = {n}");
        }
        for (n, rank) in at_95 {
            assert_eq!(lower_rank(n, 0.5, 0.95).unwrap_or(0), rank, "95 %, n = {n}");
        }
        assert_eq!(lower_rank(0, 0.5, 0.99), None);
    }

    /// Reference: as above.
    #[test]
    fn ranks_of_other_quantiles_agree_with_exact_arithmetic() {
        let tenth = [(20, 0.1, 0), (50, 0.1, 0), (60, 0.1, 1), (300, 0.1, 17), (20, 0.9, 14)];
        let quarter = [(18, 0.25, 0), (19, 0.25, 1), (100, 0.25, 14), (100, 0.75, 63)];
        for (n, part, rank) in tenth.into_iter().chain(quarter).chain([(3000, 0.25, 689)]) {
            assert_eq!(lower_rank(n, part, 0.99).unwrap_or(0), rank, "n = {n}, {part}");
        }
    }

    #[test]
    fn ends_that_are_not_known_are_the_extremes() {
        let values: Vec<f64> = (1..=20).map(f64::from).collect();
        let interval = quantile_interval(&values, 0.1, 0.99).unwrap();
        assert_eq!((interval.low, interval.high), (1.0, 7.0));
        assert_eq!(quantile_interval(&values[..1], 0.1, 0.99).unwrap().high, 1.0);
        assert_eq!(quantile_interval(&[], 0.1, 0.99), None);
    }
}
