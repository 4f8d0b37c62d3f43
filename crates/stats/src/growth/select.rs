//! Which law is chosen: the simplest that describes the points.

use super::curve::Curve;
use super::data::Data;
use super::doubt;
use model::growth::{GrowthFunction, Law};

/// A simpler law is taken while its AICc is at most this much above the best.
const WITHIN: f64 = 4.0;
/// From this root mean square of relative deviations on, nothing has been described.
const TOO_FAR: f64 = 0.15;

/// The simplest law that the points support, or why there is none.
pub(super) fn select(data: &Data) -> Result<Curve, String> {
    let candidates: Vec<(f64, Curve)> =
        candidates(data).into_iter().map(|curve| (aicc(&curve, data), curve)).collect();
    let best = candidates.iter().map(|(score, _)| *score).fold(f64::INFINITY, f64::min);
    let supported = candidates.into_iter().filter(|(score, _)| *score <= best + WITHIN);
    let mut supported: Vec<(f64, Curve)> = supported.collect();
    supported.sort_by(|(a, x), (b, y)| rank(x.law).cmp(&rank(y.law)).then(a.total_cmp(b)));
    let simplest = supported.iter().find(|(_, curve)| curve.deviation(data) <= TOO_FAR);
    match (simplest, supported.first()) {
        (Some((_, curve)), _) => Ok(curve.clone()),
        (None, Some((_, nearest))) => Err(doubt::reason(nearest, data)),
        (None, None) => Err("no law has only positive values at these sizes".to_owned()),
    }
}

/// Every law with and without a linear part, where it has a part of its own at all.
fn candidates(data: &Data) -> Vec<Curve> {
    use GrowthFunction::{Cube, Log, N, NLog, One, Square};
    let unit = data.smallest();
    let plain: [(Law, &[GrowthFunction]); 6] = [
        (Law::Constant, &[One]),
        (Law::Linear, &[One, N]),
        (Law::Quadratic, &[One, Square]),
        (Law::Quadratic, &[One, N, Square]),
        (Law::Cubic, &[One, Cube]),
        (Law::Cubic, &[One, N, Cube]),
    ];
    let plain = plain.map(|(law, functions)| Curve::through(data, law, functions, unit));
    let logs: [(Law, &[GrowthFunction]); 3] = [
        (Law::Logarithmic, &[One, Log]),
        (Law::Linearithmic, &[One, NLog]),
        (Law::Linearithmic, &[One, N, NLog]),
    ];
    let logs = logs.map(|(law, functions)| {
        // How fast a logarithm rises at first is the program's own: log(1 + n) beside log n.
        let units = (0..=6).map(|step| unit * 0.25_f64.powi(step));
        units
            .map(|unit| Curve::through(data, law, functions, unit))
            .reduce(|a, b| if b.squares < a.squares { b } else { a })
    });
    plain.into_iter().chain(logs.into_iter().flatten()).filter(Curve::is_itself).collect()
}

/// Akaike's criterion with the correction for few points (Hurvich & Tsai 1989).
fn aicc(curve: &Curve, data: &Data) -> f64 {
    let count = data.n.len() as f64;
    // The spread of the deviations is a parameter too, and so is the unit of a logarithm.
    let parameters = curve.terms.len() as f64 + 1.0 + f64::from(u8::from(curve.uses_log()));
    // What the points themselves leave open is no evidence for a curve that follows it.
    let variance = curve.squares / count + data.noise * data.noise;
    // Not below 2: the spread is not estimated from so few deviations alone.
    let few = (count - parameters - 1.0).max(2.0);
    count * variance.ln() + 2.0 * parameters + 2.0 * parameters * (parameters + 1.0) / few
}

/// Order of simplicity. Neither log n nor n is simpler: the better one is taken.
fn rank(law: Law) -> Law {
    if law == Law::Logarithmic { Law::Linear } else { law }
}
