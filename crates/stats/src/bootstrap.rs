//! The block bootstrap: an interval of a median, from resamples of the series.

use crate::percentile::{ascending, percentile};
use model::Interval;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Resamples of a series of up to 10,000 values: the 0.5 % tails then rest on 20 resamples each.
const RESAMPLES: usize = 4000;
/// Longer series get fewer resamples, so that the work stays at this many values …
const MOST_VALUES: usize = RESAMPLES * 10_000;
/// … but never fewer than this.
const LEAST_RESAMPLES: usize = 1000;

/// Percentile interval of the median from a circular block bootstrap (Politis & Romano 1992).
///
/// Blocks of `block` neighbors are drawn until the series is as long as before, so that what
/// neighbors share (a burst of load, a drift) stays together. Deterministic for a seed.
pub fn bootstrap_interval(
    series: &[f64],
    sorted: &[f64],
    block: usize,
    confidence: f64,
    seed: u64,
) -> Interval {
    let resamples = (MOST_VALUES / series.len().max(1)).clamp(LEAST_RESAMPLES, RESAMPLES);
    let mut resampler = Resampler::new(series, sorted, block, seed);
    let medians: Vec<f64> = (0..resamples).map(|_| resampler.median()).collect();
    let medians = ascending(&medians);
    let tail = (1.0 - confidence) / 2.0;
    let at = |fraction| percentile(&medians, fraction).unwrap_or(f64::NAN);
    Interval { low: at(tail), high: at(1.0 - tail) }
}

/// Draws resamples as counts of ranks: the median of one is then a running sum, without a sort.
struct Resampler<'a> {
    sorted: &'a [f64],
    /// Rank of every value in order of time; the first `block` again at the end, for the circle.
    ranks: Vec<u32>,
    counts: Vec<u32>,
    block: usize,
    random: ChaCha8Rng,
}

impl<'a> Resampler<'a> {
    fn new(series: &[f64], sorted: &'a [f64], block: usize, seed: u64) -> Self {
        let n = series.len();
        let block = block.clamp(1, n.max(1));
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_unstable_by(|&a, &b| series[a].total_cmp(&series[b]));
        let mut ranks = vec![0; n];
        for (rank, &place) in order.iter().enumerate() {
            ranks[place] = rank as u32;
        }
        ranks.extend_from_within(..block.min(n));
        Resampler {
            sorted,
            ranks,
            counts: vec![0; n],
            block,
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// The median of one resample.
    fn median(&mut self) -> f64 {
        let n = self.counts.len();
        self.counts.fill(0);
        let mut left = n;
        while left > 0 {
            let start = ((u64::from(self.random.next_u32()) * n as u64) >> 32) as usize;
            let length = self.block.min(left);
            for &rank in &self.ranks[start..start + length] {
                self.counts[rank as usize] += 1;
            }
            left -= length;
        }
        self.middle(n)
    }

    /// The value half-way through the counts; between the two middle ones for an even number.
    fn middle(&self, n: usize) -> f64 {
        let (lower, upper) = ((n - 1) / 2, n / 2);
        let mut passed = 0;
        let mut low = None;
        for (rank, &count) in self.counts.iter().enumerate() {
            passed += count as usize;
            if low.is_none() && passed > lower {
                low = Some(self.sorted[rank]);
            }
            if passed > upper {
                let high = self.sorted[rank];
                return (low.unwrap_or(high) + high) / 2.0;
            }
        }
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The counting median is the median of the values drawn.
    #[test]
    fn counts_give_the_median() {
        for n in [1_usize, 2, 5, 30, 101] {
            let series: Vec<f64> = (0..n).map(|i| ((i * 7919) % 13) as f64).collect();
            let sorted = ascending(&series);
            let mut resampler = Resampler::new(&series, &sorted, 3, 1);
            for _ in 0..50 {
                let found = resampler.median();
                let drawn: Vec<f64> = resampler
                    .counts
                    .iter()
                    .zip(&sorted)
                    .flat_map(|(&count, &value)| std::iter::repeat_n(value, count as usize))
                    .collect();
                assert_eq!(drawn.len(), n);
                assert_eq!(Some(found), percentile(&drawn, 0.5));
            }
        }
    }

    #[test]
    fn a_seed_decides_everything() {
        let series: Vec<f64> = (0..50).map(|i| f64::from((i * 7919) % 101)).collect();
        let sorted = ascending(&series);
        let interval = |seed| bootstrap_interval(&series, &sorted, 4, 0.99, seed);
        assert_eq!(interval(5), interval(5));
        assert_ne!(interval(5), interval(6));
    }
}
