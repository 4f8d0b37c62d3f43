//! Simulated sweeps whose law is known: log-normal noise with a tail of disturbed launches.

pub mod unsteady;

use model::growth::Point;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stats::growth::points;

/// How a sweep is simulated.
#[derive(Clone, Copy)]
pub struct Sweep {
    pub truth: fn(f64) -> f64,
    pub sizes: &'static [u64],
    /// Standard deviation of the logarithm of one launch's time.
    pub sigma: f64,
    pub launches: usize,
}

impl Sweep {
    /// The sweep as measured once.
    pub fn run(&self, seed: u64) -> Vec<Point> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let series: Vec<(u64, Vec<f64>)> =
            self.sizes.iter().map(|&n| (n, self.times(n, &mut random))).collect();
        points(&series, seed).0
    }

    fn times(&self, n: u64, random: &mut ChaCha8Rng) -> Vec<f64> {
        let truth = (self.truth)(n as f64);
        (0..self.launches).map(|_| truth * disturbance(self.sigma, random).exp()).collect()
    }
}

/// Logarithm of one launch's factor. One launch in 30 is disturbed by something else and takes
/// up to four times as long.
fn disturbance(sigma: f64, random: &mut ChaCha8Rng) -> f64 {
    if sigma == 0.0 {
        return 0.0;
    }
    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
    let normal = radius * (std::f64::consts::TAU * random.random::<f64>()).cos();
    let tail = if random.random_bool(1.0 / 30.0) { random.random_range(0.1..1.4) } else { 0.0 };
    tail + sigma * normal
}
