//! Small statistics of the bars themselves, apart from headstart's own on purpose.

/// The middle value; of an even number the upper of the two. NaN for none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The smallest value; NaN for none.
pub fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::min)
}

/// Root mean square: the typical size of errors.
pub fn typical(errors: &[f64]) -> f64 {
    let squares: f64 = errors.iter().map(|error| error * error).sum();
    (squares / errors.len() as f64).sqrt()
}

/// The largest size of errors.
pub fn largest(errors: &[f64]) -> f64 {
    errors.iter().map(|error| error.abs()).fold(f64::NAN, f64::max)
}

/// Mean and variance (of a sample).
pub fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0))
}

/// A fraction as a percentage.
pub fn percent(fraction: f64) -> String {
    format!("{:.2} %", fraction * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(least(&[3.0, 1.0, 2.0]), 1.0);
        assert!(median(Vec::new()).is_nan() && least(&[]).is_nan());
        assert_eq!(typical(&[3.0, -4.0, 0.0, 0.0]), 2.5);
        assert_eq!(largest(&[0.5, -4.0]), 4.0);
        assert_eq!(moments(&[1.0, 2.0, 3.0]), (2.0, 1.0));
        assert_eq!(percent(0.0123), "1.23 %");
    }
}
