//! The points that a law is fitted to, with their errors.

use super::{GrowthError, LEAST_SIZES};
use model::growth::{Cost, Point};

/// Half the width of a 99 % interval in standard errors.
const STANDARD_ERRORS: f64 = 2.576;
/// Below this number of launches the interval is all there were, and too narrow for 99 %.
const FULL_INTERVAL: u32 = 8;
/// Relative differences between times that no number of launches makes meaningful: layout,
/// drift, what the machine did meanwhile.
const FLOOR: f64 = 0.01;
/// Relative error of a time from a single launch.
const SINGLE: f64 = 0.05;
/// Relative error of a count: work that depends on the environment, hash collisions.
const COUNTED: f64 = 0.003;

/// The points as the fit sees them, in ascending order of n.
pub(super) struct Data {
    pub(super) n: Vec<f64>,
    pub(super) value: Vec<f64>,
    /// Weight of each relative deviation; 1 on average (root mean square of its inverse).
    pub(super) weight: Vec<f64>,
    /// Relative standard error of a typical point.
    pub(super) noise: f64,
}

impl Data {
    pub(super) fn new(points: &[Point]) -> Result<Data, GrowthError> {
        let mut points = points.to_vec();
        points.sort_by_key(|point| point.n);
        for point in &points {
            let value = point.value();
            if !(value.is_finite() && value > 0.0) {
                return Err(GrowthError::NotPositive { n: point.n, value });
            }
        }
        let mut sizes: Vec<u64> = points.iter().map(|point| point.n).collect();
        sizes.dedup();
        if sizes.len() < LEAST_SIZES {
            return Err(GrowthError::TooFewSizes { found: sizes.len(), needed: LEAST_SIZES });
        }
        let (weight, noise) = weights(&points.iter().map(relative_error).collect::<Vec<f64>>());
        let n = points.iter().map(|point| point.n as f64).collect();
        Ok(Data { n, value: points.iter().map(Point::value).collect(), weight, noise })
    }

    /// The largest size.
    pub(super) fn largest(&self) -> f64 {
        self.n.iter().copied().fold(0.0, f64::max)
    }

    /// The smallest size above 0.
    pub(super) fn smallest(&self) -> f64 {
        self.n.iter().copied().filter(|n| *n > 0.0).fold(f64::INFINITY, f64::min)
    }

    /// Sizes and values.
    pub(super) fn pairs(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> + '_ {
        self.n.iter().copied().zip(self.value.iter().copied())
    }
}

/// Relative standard error of a point's value; from its interval, where it has one.
pub(super) fn relative_error(point: &Point) -> f64 {
    let Cost::Time { quantile_us, low_us, high_us, samples, .. } = point.cost else {
        return COUNTED;
    };
    // The wider half: the lower end of a low quantile may be no more than the fastest launch.
    let half_us = (high_us - quantile_us).max(quantile_us - low_us);
    let error = half_us / (STANDARD_ERRORS * quantile_us);
    if samples < 2 || !error.is_finite() {
        return SINGLE;
    }
    let few = f64::from(FULL_INTERVAL) / f64::from(samples.min(FULL_INTERVAL));
    (error * few).hypot(FLOOR)
}

/// Weights, and the typical error.
fn weights(errors: &[f64]) -> (Vec<f64>, f64) {
    let mean_square = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
    let typical = mean_square.sqrt();
    (errors.iter().map(|error| typical / error).collect(), typical)
}
