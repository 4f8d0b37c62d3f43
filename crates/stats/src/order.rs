use model::Interval;

/// Interval of the median from order statistics (the sign test turned round; Thompson 1936).
///
/// Exact where the signs of `x − median` are independent, whatever the distribution. Rounds in
/// random order make them so: the order within a round decides the sign. `None` where even the
/// widest interval, smallest to largest value, has less than `confidence`.
pub fn order_interval(sorted: &[f64], confidence: f64) -> Option<Interval> {
    let rank = lower_rank(sorted.len(), confidence)?;
    Some(Interval { low: sorted[rank - 1], high: sorted[sorted.len() - rank] })
}

/// The largest k with 2·P(Binomial(n, ½) < k) ≤ 1 − confidence, counted from 1.
fn lower_rank(n: usize, confidence: f64) -> Option<usize> {
    let tail = (1.0 - confidence) / 2.0;
    // In logarithms, because 2⁻ⁿ underflows from n = 1075.
    let mut ln_probability = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    let mut rank = 0;
    while rank < n.div_ceil(2) {
        below += ln_probability.exp();
        if below > tail {
            break;
        }
        rank += 1;
        ln_probability += ((n - rank + 1) as f64 / rank as f64).ln();
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
            assert_eq!(lower_rank(*n, 0.99).unwrap_or(0), *rank, "99 %, n = {n}");
        }
        for (n, rank) in at_95 {
            assert_eq!(lower_rank(n, 0.95).unwrap_or(0), rank, "95 %, n = {n}");
        }
        assert_eq!(lower_rank(0, 0.99), None);
    }
}
