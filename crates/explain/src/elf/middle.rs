//! The middle one of several records.

/// The middle value by `key`; the lower middle of an even number.
pub(crate) fn median_by<T>(items: &[T], key: impl Fn(&T) -> f64) -> Option<&T> {
    let mut sorted: Vec<&T> = items.iter().collect();
    sorted.sort_by(|a, b| key(a).total_cmp(&key(b)));
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_an_even_number_it_is_the_lower_one() {
        assert_eq!(median_by(&[3.0, 9.0, 1.0, 2.0], |x| *x), Some(&2.0));
        assert_eq!(median_by(&[] as &[f64], |x| *x), None);
    }
}
