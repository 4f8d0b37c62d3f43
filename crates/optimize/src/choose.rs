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
    pub warm: VariantFigures,
    /// Figures of its cold launches; without any where these are not measured.
    pub cold: VariantFigures,
    /// Whether every launch still has other addresses.
    pub keeps_aslr: bool,
}

/// The best: the fastest of those whose warm launches are proved to be faster than those of the
/// original, or one that warm launches do not tell from that and that is proved to be faster than it
/// cold. `None` where the original is the best.
pub fn best(candidates: &[VerifiedVariant]) -> Option<VariantId> {
    let is_faster = |one: &&VerifiedVariant| one.warm.verdict == Some(Verdict::Faster);
    let faster: Vec<_> = candidates.iter().filter(is_faster).collect();
    let warm = fastest(&faster, |one| one.warm);
    let alike: Vec<_> = match warm {
        Some(warm) => faster.iter().filter(|one| is_alike(one, warm)).copied().collect(),
        None => {
            let not_slower = |one: &&VerifiedVariant| one.warm.low.is_some_and(|low| low <= 1.0);
            candidates.iter().filter(not_slower).collect()
        }
    };
    let is_faster_cold = |one: &&&VerifiedVariant| {
        let than = warm.map_or(Some(1.0), |warm| warm.cold.low);
        let below = one.cold.high.zip(than).is_some_and(|(high, than)| high < than);
        one.cold.verdict == Some(Verdict::Faster) && below
    };
    let faster_cold: Vec<_> = alike.iter().filter(is_faster_cold).copied().collect();
    fastest(&faster_cold, |one| one.cold).or(warm).map(|best| best.id)
}

/// Whether warm launches do not tell it from the fastest, and it is as safe.
fn is_alike(one: &VerifiedVariant, fastest: &VerifiedVariant) -> bool {
    one.warm.low <= fastest.warm.high && (one.keeps_aslr || !fastest.keeps_aslr)
}

/// The fastest by these figures. Where one that keeps address-space layout randomization is not
/// proved to be slower than the fastest without (their intervals overlap), it is the better.
fn fastest<'a>(
    some: &[&'a VerifiedVariant],
    figures: fn(&VerifiedVariant) -> VariantFigures,
) -> Option<&'a VerifiedVariant> {
    let ratio = |one: &VerifiedVariant| figures(one).ratio.unwrap_or(f64::INFINITY);
    let least = |with: bool| {
        let some = some.iter().filter(|one| !with || one.keeps_aslr);
        some.min_by(|a, b| ratio(a).total_cmp(&ratio(b))).copied()
    };
    let any = least(false)?;
    match least(true) {
        Some(safe) if figures(safe).low <= figures(any).high => Some(safe),
        _ => Some(any),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: u32, [low, ratio, high]: [f64; 3], verdict: Verdict) -> VerifiedVariant {
        let (low, ratio, high, verdict) = (Some(low), Some(ratio), Some(high), Some(verdict));
        let warm = VariantFigures { low, ratio, high, verdict, ..VariantFigures::default() };
        let cold = VariantFigures::default();
        VerifiedVariant { id: VariantId(id), warm, cold, keeps_aslr: true }
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

    /// With cold launches of these figures.
    fn cold(variant: VerifiedVariant, figures: [f64; 3], verdict: Verdict) -> VerifiedVariant {
        VerifiedVariant { cold: candidate(0, figures, verdict).warm, ..variant }
    }

    #[test]
    fn cold_launches_decide_among_those_that_are_equally_fast_warm() {
        use Verdict::{Faster, Inconclusive, Same, Slower};
        let plain = cold(candidate(1, [0.29, 0.3, 0.31], Faster), [0.5, 0.55, 0.6], Faster);
        let ahead = cold(candidate(2, [0.30, 0.31, 0.32], Faster), [0.2, 0.25, 0.3], Faster);
        assert_eq!(best(&[plain, ahead]), Some(VariantId(2)));
        let slower = cold(candidate(2, [0.32, 0.33, 0.34], Faster), [0.2, 0.25, 0.3], Faster);
        assert_eq!(best(&[plain, slower]), Some(VariantId(1)), "it costs warm launches time");
        let unclear = cold(ahead, [0.4, 0.45, 0.55], Faster);
        assert_eq!(best(&[plain, unclear]), Some(VariantId(1)), "their intervals overlap");
        let few = cold(ahead, [0.2, 0.25, 0.3], Inconclusive);
        assert_eq!(best(&[plain, few]), Some(VariantId(1)));
        assert_eq!(best(&[plain, fixed(ahead)]), Some(VariantId(1)), "no need to give up ASLR");
        assert_eq!(best(&[fixed(plain), ahead]), Some(VariantId(2)));
        let unmeasured = candidate(1, [0.29, 0.3, 0.31], Faster);
        assert_eq!(best(&[unmeasured, ahead]), Some(VariantId(1)));
        let same = cold(candidate(3, [0.99, 1.0, 1.01], Same), [0.8, 0.82, 0.85], Faster);
        assert_eq!(best(&[same]), Some(VariantId(3)));
        let unclear = cold(candidate(3, [0.9, 1.0, 1.5], Inconclusive), [0.8, 0.82, 0.85], Faster);
        assert_eq!(best(&[unclear]), Some(VariantId(3)), "not proved to be slower");
        let slower = cold(candidate(3, [1.1, 1.2, 1.3], Slower), [0.8, 0.82, 0.85], Faster);
        assert_eq!(best(&[slower]), None);
    }
}
