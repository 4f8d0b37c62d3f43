//! The exponent with which the points grow at the upper end.

use super::curve::Curve;
use super::data::Data;
use model::growth::Law;

/// Sizes from this part of the largest on are the upper end.
const UPPER: f64 = 0.25;

/// Slope on logarithmic scales, at the upper end, of what the points show beside the fitted
/// lesser parts. It comes from the points: where the law holds it is 2 for n², and differs where
/// it does not.
pub(super) fn exponent(curve: &Curve, data: &Data) -> f64 {
    if curve.law == Law::Constant {
        return 0.0;
    }
    let logs: Vec<(f64, f64)> = data
        .pairs()
        .map(|(n, y)| (n, y - curve.lesser(n)))
        .filter(|(n, own)| *n > 0.0 && *own > 0.0)
        .map(|(n, own)| (n.ln(), own.ln()))
        .collect();
    let from = (data.largest() * UPPER).ln() - 1e-9;
    let upper = logs.iter().filter(|(log_n, _)| *log_n >= from).count().max(2);
    slope(&logs[logs.len().saturating_sub(upper)..])
}

/// Least-squares slope.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let products: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    products / points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>()
}
