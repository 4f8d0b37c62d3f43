//! A figure of several launches of the same build, and when two of them differ.

use std::cmp::Ordering;

/// A change of less than this part is no change.
const MARGIN: f64 = 0.01;

/// The values that launches of one build gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeated {
    /// In ascending order.
    values: Vec<f64>,
}

impl Repeated {
    pub fn of(values: impl IntoIterator<Item = f64>) -> Repeated {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        Repeated { values }
    }

    /// The lower one of two in the middle: a value that a launch gave. 0 without any.
    pub fn median(&self) -> f64 {
        self.values.get(self.values.len().saturating_sub(1) / 2).copied().unwrap_or(0.0)
    }

    pub fn low(&self) -> f64 {
        self.values.first().copied().unwrap_or(0.0)
    }

    pub fn high(&self) -> f64 {
        self.values.last().copied().unwrap_or(0.0)
    }

    /// How far launches of the same build are apart.
    pub fn spread(&self) -> f64 {
        self.high() - self.low()
    }
}

/// A figure of both builds.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Of what, in words.
    pub what: String,
    pub old: Repeated,
    pub new: Repeated,
}

impl Comparison {
    /// How the new build is to the old one. Only a change that is larger than what launches of the
    /// same build differ by is one.
    pub fn change(&self) -> Ordering {
        let (old, new) = (self.old.median(), self.new.median());
        let spread = self.old.spread().max(self.new.spread());
        let by = (new - old).abs();
        if by <= old * MARGIN || by <= spread { Ordering::Equal } else { new.total_cmp(&old) }
    }

    /// Whether launches of the same build differ.
    pub fn varies(&self) -> bool {
        self.old.spread() > 0.0 || self.new.spread() > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(old: &[f64], new: &[f64]) -> Ordering {
        let [old, new] = [old, new].map(|values| Repeated::of(values.iter().copied()));
        Comparison { what: String::new(), old, new }.change()
    }

    #[test]
    fn a_change_within_the_spread_of_one_build_is_none() {
        assert_eq!(change(&[60.0, 50.0, 70.0], &[40.0, 41.0, 42.0]), Ordering::Equal);
        assert_eq!(change(&[60.0, 61.0, 62.0], &[40.0, 30.0, 75.0]), Ordering::Equal);
        assert_eq!(change(&[60.0, 50.0, 70.0], &[39.0, 39.0, 30.0]), Ordering::Less);
        assert_eq!(change(&[39.0, 39.0, 30.0], &[60.0, 50.0, 70.0]), Ordering::Greater);
    }

    #[test]
    fn steady_launches_differ_by_more_than_one_percent() {
        assert_eq!(change(&[100.0; 3], &[101.0; 3]), Ordering::Equal);
        assert_eq!(change(&[100.0; 3], &[102.0; 3]), Ordering::Greater);
        assert_eq!(change(&[100.0; 3], &[98.0; 3]), Ordering::Less);
        assert_eq!(change(&[0.0; 3], &[1.0; 3]), Ordering::Greater);
        assert_eq!(change(&[], &[]), Ordering::Equal);
    }
}
