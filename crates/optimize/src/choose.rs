//! Which variant is the best, from what was measured.

use model::optimization::VariantFigures;
use model::{VariantId, Verdict};

/// Name of the unmodified program among the variants.
pub const DEFAULT: &str = "default";

/// A verified variant, which may be chosen.
#[derive(Clone, Copy, Debug)]
pub struct VerifiedVariant {
    /// The variant.
    pub id: VariantId,
    /// Figures of its warm launches.
    pub figures: VariantFigures,
    /// Whether every launch still has other addresses.
    pub keeps_aslr: bool,
}

/// The best: the fastest of those that are proved to be faster than the original. Where one that
/// keeps address-space layout randomization is not proved to be slower than the fastest without
/// (their intervals overlap), it is the better. `None` where none is faster.
pub fn best(candidates: &[VerifiedVariant]) -> Option<VariantId> {
    let faster = || candidates.iter().filter(|one| one.figures.verdict == Some(Verdict::Faster));
    let ratio = |one: &VerifiedVariant| one.figures.ratio.unwrap_or(f64::INFINITY);
    let fastest = |with: bool| {
        let some = faster().filter(|one| !with || one.keeps_aslr);
        some.min_by(|a, b| ratio(a).total_cmp(&ratio(b)))
    };
    let any = fastest(false)?;
    match fastest(true) {
        Some(safe) if safe.figures.low <= any.figures.high => Some(safe.id),
        _ => Some(any.id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: u32, [low, ratio, high]: [f64; 3], verdict: Verdict) -> VerifiedVariant {
        let (low, ratio, high, verdict) = (Some(low), Some(ratio), Some(high), Some(verdict));
        let figures = VariantFigures { low, ratio, high, verdict, ..VariantFigures::default() };
        VerifiedVariant { id: VariantId(id), figures, keeps_aslr: true }
    }

    fn fixed(candidate: VerifiedVariant) -> VerifiedVariant {
        VerifiedVariant { keeps_aslr: false, ..candidate }
    }

    #[test]
    fn the_fastest_that_is_proved_and_safe_before_fixed() {
        use Verdict::{Faster, Inconclusive, Same, Slower};
        assert_eq!(best(&[]), None);
        let mut candidates = vec![
            candidate(1, [0.98, 1.0, 1.01], Same),
            candidate(2, [0.2, 0.3, 1.2], Inconclusive),
            candidate(3, [1.1, 1.2, 1.3], Slower),
        ];
        assert_eq!(best(&candidates), None);
        candidates.push(candidate(4, [0.8, 0.82, 0.84], Faster));
        candidates.push(candidate(5, [0.24, 0.26, 0.28], Faster));
        assert_eq!(best(&candidates), Some(VariantId(5)));
        candidates.push(fixed(candidate(6, [0.24, 0.25, 0.27], Faster)));
        assert_eq!(best(&candidates), Some(VariantId(5)), "their intervals overlap");
        candidates.push(fixed(candidate(7, [0.1, 0.11, 0.12], Faster)));
        assert_eq!(best(&candidates), Some(VariantId(7)));
        assert_eq!(best(&candidates[6..]), Some(VariantId(7)));
    }
}
