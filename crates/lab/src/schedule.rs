use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The order in which a round launches its variants: a random permutation that depends on
/// nothing but the seed and the round, so that a resumed run continues the same schedule.
///
/// A fixed order A B A B favours one of the two; a fresh permutation per round does not.
pub fn order(seed: u64, round: i32, variants: usize) -> Vec<usize> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(i64::from(round) as u64);
    let mut order: Vec<usize> = (0..variants).collect();
    order.shuffle(&mut generator);
    order
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
    fn every_variant_takes_every_place_equally_often() {
        let mut counts = [[0; 3]; 3];
        for round in -100..2900 {
            for (place, variant) in order(42, round, 3).into_iter().enumerate() {
                counts[place][variant] += 1;
            }
        }
        assert!(counts.iter().flatten().all(|count| (880..1120).contains(count)), "{counts:?}");
    }
}
