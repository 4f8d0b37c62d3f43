//! Percentiles by linear interpolation.

/// Percentile of ascending values by linear interpolation between order statistics: definition
/// 7 of Hyndman & Fan (1996), the default of R's `quantile` and of NumPy's `percentile`.
///
/// `fraction` is 0 to 1; `None` for no values.
pub fn percentile(sorted: &[f64], fraction: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = fraction.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    let part = position - below as f64;
    // Both terms weighted rather than `a + part * (b - a)`: symmetric under reversal of signs.
    Some(sorted[below] * (1.0 - part) + sorted[above] * part)
}

/// The values in ascending order, without those that are no numbers.
pub fn ascending(values: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reference: numpy 1.24.2, `numpy.percentile(x, [0, 10, 25, 50, 90, 99, 100])`.
    #[test]
    fn agrees_with_numpy() {
        let x = [812.4, 790.1, 801.7, 1203.9, 795.5, 788.2, 803.3, 2410.0, 799.8, 810.6, 792.7];
        let odd = [788.2, 790.1, 794.1, 801.7, 1203.9, 2289.39, 2410.0];
        let even = [788.2, 789.91, 796.575, 802.5, 1324.51, 2301.451, 2410.0];
        for (values, wanted) in [(&x[..], odd), (&x[..10], even)] {
            let sorted = ascending(values);
            for (percent, wanted) in [0.0, 10.0, 25.0, 50.0, 90.0, 99.0, 100.0].iter().zip(wanted) {
                let found = percentile(&sorted, percent / 100.0).unwrap();
                assert!((found - wanted).abs() < 1e-9, "p{percent}: {found} instead of {wanted}");
            }
        }
    }

    /// By hand from the definition: position (n − 1)p among the order statistics.
    #[test]
    fn agrees_with_the_definition() {
        for (fraction, wanted) in [(0.1, 1.3), (0.5, 3.0), (0.9, 6.8)] {
            let found = percentile(&[1.0, 2.0, 4.0, 8.0], fraction).unwrap();
            assert!((found - wanted).abs() < 1e-12);
        }
        assert_eq!(percentile(&[], 0.5), None);
        assert_eq!(percentile(&[7.0], 0.9), Some(7.0));
    }
}
