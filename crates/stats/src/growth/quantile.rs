//! The quantile of launch times that stands for a size.

use super::data::relative_error;
use crate::interval::median_interval;
use crate::order::quantile_interval;
use crate::percentile::{ascending, percentile};
use model::growth::{Cost, Point, Quantile};
use model::{Interval, Rules};

/// The points of a sweep: of each size, its launch times in order of rounds. One quantile stands
/// for all sizes: the one whose errors are smallest. Sizes without a launch are left out.
pub fn points(series: &[(u64, Vec<f64>)], seed: u64) -> (Vec<Point>, Quantile) {
    let sizes: Vec<Size> = series.iter().filter_map(|(n, t)| Size::of(*n, t, seed)).collect();
    let mut best = (f64::INFINITY, Vec::new(), Quantile::Median);
    for quantile in Quantile::ALL {
        let points: Vec<Point> = sizes.iter().filter_map(|size| size.point(quantile)).collect();
        let error = typical_error(&points);
        if error < best.0 {
            best = (error, points, quantile);
        }
    }
    (best.1, best.2)
}

/// The launches of one size.
struct Size {
    n: u64,
    sorted: Vec<f64>,
    median_us: f64,
    of_median: Interval,
}

impl Size {
    fn of(n: u64, times: &[f64], seed: u64) -> Option<Size> {
        let (median_us, of_median) = median_interval(times, confidence(), seed)?;
        Some(Size { n, sorted: ascending(times), median_us, of_median })
    }

    fn point(&self, quantile: Quantile) -> Option<Point> {
        let interval = match quantile {
            Quantile::Median => self.of_median,
            lower => quantile_interval(&self.sorted, lower.part(), confidence())?,
        };
        let cost = Cost::Time {
            median_us: self.median_us,
            min_us: *self.sorted.first()?,
            quantile_us: percentile(&self.sorted, quantile.part())?,
            low_us: interval.low,
            high_us: interval.high,
            samples: u32::try_from(self.sorted.len()).unwrap_or(u32::MAX),
        };
        Some(Point { n: self.n, cost })
    }
}

fn confidence() -> f64 {
    Rules::default().confidence
}

/// Root mean square of the relative errors.
fn typical_error(points: &[Point]) -> f64 {
    let squares: f64 = points.iter().map(|point| relative_error(point).powi(2)).sum();
    (squares / points.len().max(1) as f64).sqrt()
}
