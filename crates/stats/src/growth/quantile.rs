use super::data::relative_error;
use crate::interval::median_interval;
use crate::order::quantile_interval;
use crate::percentile::{ascending, percentile};
use model::Rules;
use model::growth::{Cost, Point, Quantile};

/// The points of a sweep: of each size, its launch times in order of rounds. One quantile stands
/// for all sizes: the one whose errors are smallest. Sizes without a launch are left out.
pub fn points(series: &[(u64, Vec<f64>)], seed: u64) -> (Vec<Point>, Quantile) {
    let mut best = (f64::INFINITY, Vec::new(), Quantile::Median);
    for quantile in Quantile::ALL {
        let of = |(n, times): &(u64, Vec<f64>)| point(*n, times, quantile, seed);
        let points: Vec<Point> = series.iter().filter_map(of).collect();
        let error = typical_error(&points);
        if error < best.0 {
            best = (error, points, quantile);
        }
    }
    (best.1, best.2)
}

fn point(n: u64, times: &[f64], quantile: Quantile, seed: u64) -> Option<Point> {
    let sorted = ascending(times);
    let confidence = Rules::default().confidence;
    let (median_us, of_median) = median_interval(times, confidence, seed)?;
    let interval = match quantile {
        Quantile::Median => of_median,
        lower => quantile_interval(&sorted, lower.part(), confidence)?,
    };
    let cost = Cost::Time {
        median_us,
        min_us: *sorted.first()?,
        quantile_us: percentile(&sorted, quantile.part())?,
        low_us: interval.low,
        high_us: interval.high,
        samples: u32::try_from(sorted.len()).unwrap_or(u32::MAX),
    };
    Some(Point { n, cost })
}

/// Root mean square of the relative errors.
fn typical_error(points: &[Point]) -> f64 {
    let squares: f64 = points.iter().map(|point| relative_error(point).powi(2)).sum();
    (squares / points.len().max(1) as f64).sqrt()
}
