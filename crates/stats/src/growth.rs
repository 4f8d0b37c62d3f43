//! The law that a sweep follows: y = a + b·n + c·g(n), g among 1, log n, n, n log n, n² and n³,
//! all parts non-negative, each deviation relative to its value. Among the laws the simplest
//! whose AICc is within 4 of the best is taken (Burnham & Anderson 2002, chapter 2: up to there
//! the data support both). What no law describes is [`Law::Unclear`].

mod curve;
mod data;
mod doubt;
mod error;
mod exponent;
mod quantile;
mod select;
mod solve;

pub use error::GrowthError;
pub use quantile::points;

use curve::Curve;
use data::Data;
use model::growth::{Fit, Law, Point};

/// Sizes that a law needs at least.
pub const LEAST_SIZES: usize = 4;

/// The law of the points, in any order. Values are times in microseconds or counts; scaling all
/// of them, or the unit of n, changes coefficients only.
///
/// # Errors
///
/// Fewer than [`LEAST_SIZES`] distinct sizes, or a value that is not above zero.
pub fn fit(points: &[Point]) -> Result<Fit, GrowthError> {
    let data = Data::new(points)?;
    Ok(match select::select(&data) {
        Ok(curve) => clear(&curve, &data),
        Err(reason) => unclear(reason, &data),
    })
}

fn clear(curve: &Curve, data: &Data) -> Fit {
    let n = data.largest();
    Fit {
        law: curve.law,
        reason: None,
        at_n: n as u64,
        share: Some(curve.share(n)),
        exponent: Some(exponent::exponent(curve, data)),
        doubling: Some(curve.at(2.0 * n) / curve.at(n)),
        deviation: Some(curve.deviation(data)),
        log_unit: curve.uses_log().then_some(curve.log_unit),
        terms: curve.terms.clone(),
    }
}

fn unclear(reason: String, data: &Data) -> Fit {
    Fit {
        law: Law::Unclear,
        reason: Some(reason),
        at_n: data.largest() as u64,
        share: None,
        exponent: None,
        doubling: None,
        deviation: None,
        terms: Vec::new(),
        log_unit: None,
    }
}
