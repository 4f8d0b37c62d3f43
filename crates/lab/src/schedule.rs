//! The order of launches, and what it is drawn from.

use model::VariantId;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The order in which a round launches its variants: a random permutation that depends on
/// nothing but the seed and the round, so that a resumed run continues the same schedule.
///
/// A fixed order A B A B favors one of the two; a fresh permutation per round does not.
pub fn order(seed: u64, round: i32, variants: usize) -> Vec<VariantId> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(i64::from(round) as u64);
    let mut order: Vec<VariantId> = (0..variants).map(VariantId::at).collect();
    order.shuffle(&mut generator);
    order
}

/// A seed that differs from run to run; the run folder and the JSON keep it.
pub fn fresh_seed() -> u64 {
    // Small enough for every JSON reader to keep it exactly.
    since_1970().as_nanos() as u64 % (1 << 48)
}

/// The time now.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depends_on_seed_and_round_only() {
        assert_eq!(order(7, 3, 5), order(7, 3, 5));
        assert!((0..20).any(|round| order(7, round, 5) != order(8, round, 5)));
        assert!((0..20).any(|round| order(7, round, 5) != order(7, round + 1, 5)));
    }

    #[test]
    fn every_variant_has_every_position_equally_often() {
        let mut counts = [[0; 3]; 3];
        for round in -100..2900 {
            for (place, variant) in order(42, round, 3).into_iter().enumerate() {
                counts[place][variant.index()] += 1;
            }
        }
        assert!(counts.iter().flatten().all(|count| (880..1120).contains(count)), "{counts:?}");
    }
}
