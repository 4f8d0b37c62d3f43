//! A law with its coefficients, as a curve.

use super::data::Data;
use super::solve::nonnegative;
use model::growth::{GrowthFunction, Law, Term};

/// A law with the coefficients that fit best.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub(super) law: Law,
    /// Those with a coefficient above zero.
    pub(super) terms: Vec<Term>,
    /// The size that logarithms count in.
    pub(super) log_unit: f64,
    /// Sum of squared relative deviations, weighted.
    pub(super) squares: f64,
}

impl Curve {
    /// The best of `law`'s curves with a part of each of `functions` at most.
    pub(super) fn through(
        data: &Data,
        law: Law,
        functions: &[GrowthFunction],
        log_unit: f64,
    ) -> Curve {
        // Divided by the values: what is left is relative. Divided by the function at the largest
        // size: sums of n⁶ beside sums of 1 would lose digits.
        let largest = data.largest();
        let full: Vec<f64> = functions.iter().map(|f| f.at(largest, log_unit)).collect();
        let column = |(function, full): (&GrowthFunction, &f64)| -> Vec<f64> {
            let rows = data.pairs().zip(&data.weight);
            rows.map(|((n, y), w)| w * function.at(n, log_unit) / full / y).collect()
        };
        let columns: Vec<Vec<f64>> = functions.iter().zip(&full).map(column).collect();
        let (found, squares) = nonnegative(&columns, &data.weight);
        let parts = functions.iter().zip(found.iter().zip(&full));
        let terms = parts
            .map(|(&function, (found, full))| Term { function, coefficient: found / full })
            .filter(|term| term.coefficient > 0.0)
            .collect();
        Curve { law, terms, log_unit, squares }
    }

    /// The curve at `n`.
    pub(super) fn at(&self, n: f64) -> f64 {
        self.terms.iter().map(|term| self.part(term, n)).sum()
    }

    pub(super) fn uses_log(&self) -> bool {
        self.terms
            .iter()
            .any(|term| matches!(term.function, GrowthFunction::Log | GrowthFunction::NLog))
    }

    /// Whether it has a part of the function that the law is named after.
    pub(super) fn is_itself(&self) -> bool {
        self.terms.iter().any(|term| term.function == own(self.law))
    }

    /// Part of the value at `n` that is the law's own.
    pub(super) fn share(&self, n: f64) -> f64 {
        self.sum(n, |function| self.leads(function)) / self.at(n)
    }

    /// What is at `n` beside the law's own part.
    pub(super) fn lesser(&self, n: f64) -> f64 {
        self.sum(n, |function| !self.leads(function))
    }

    /// Root mean square of the relative deviations.
    pub(super) fn deviation(&self, data: &Data) -> f64 {
        let squares: f64 = data.pairs().map(|(n, y)| (self.at(n) / y - 1.0).powi(2)).sum();
        (squares / data.n.len() as f64).sqrt()
    }

    fn sum(&self, n: f64, which: impl Fn(GrowthFunction) -> bool) -> f64 {
        self.terms.iter().filter(|t| which(t.function)).map(|term| self.part(term, n)).sum()
    }

    fn part(&self, term: &Term, n: f64) -> f64 {
        term.coefficient * term.function.at(n, self.log_unit)
    }

    /// n log n and n are one: another unit of the logarithm moves between them.
    fn leads(&self, function: GrowthFunction) -> bool {
        function == own(self.law)
            || (self.law == Law::Linearithmic && function == GrowthFunction::N)
    }
}

/// The function that a law is named after.
fn own(law: Law) -> GrowthFunction {
    match law {
        Law::Constant | Law::Unclear => GrowthFunction::One,
        Law::Logarithmic => GrowthFunction::Log,
        Law::Linear => GrowthFunction::N,
        Law::Linearithmic => GrowthFunction::NLog,
        Law::Quadratic => GrowthFunction::Square,
        Law::Cubic => GrowthFunction::Cube,
    }
}
