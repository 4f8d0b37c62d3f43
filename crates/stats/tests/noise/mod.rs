//! Launch noise as seen on real machines, for simulations: a log-normal part, slow drift,
//! bursts of foreign load and rare outliers.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A source of launch times whose undisturbed median is 1000 µs.
pub struct Noise {
    random: ChaCha8Rng,
    /// Standard deviation of the log-normal part of one launch.
    sigma: f64,
    drift: f64,
    burst_left: u32,
    burst_size: f64,
}

impl Noise {
    pub fn new(seed: u64, sigma: f64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        Noise { random, sigma, drift: 0.0, burst_left: 0, burst_size: 0.0 }
    }

    /// A standard normal value (Box & Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.random.random::<f64>()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.random.random::<f64>()).cos()
    }

    /// Logarithm of one launch's factor.
    fn disturbance(&mut self) -> f64 {
        // Wanders by ± 6 % over some 50 launches: clock frequency, page cache, other guests.
        self.drift = 0.98 * self.drift + 0.012 * self.normal();
        if self.burst_left == 0 && self.random.random_bool(0.01) {
            self.burst_left = self.random.random_range(2..20);
            self.burst_size = self.random.random_range(0.1..0.5);
        }
        let burst = if self.burst_left > 0 { self.burst_size } else { 0.0 };
        self.burst_left = self.burst_left.saturating_sub(1);
        let outlier = self.random.random_bool(0.01);
        let outlier = if outlier { self.random.random_range(2.0_f64..10.0).ln() } else { 0.0 };
        self.drift + burst + outlier + self.sigma * self.normal()
    }

    /// Rounds of two variants in random order; the second takes `ratio` times as long.
    pub fn rounds(&mut self, count: usize, ratio: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let first = 1000.0 * self.disturbance().exp();
            let second = 1000.0 * self.disturbance().exp();
            let (time_a, time_b) =
                if self.random.random_bool(0.5) { (first, second) } else { (second, first) };
            a.push(time_a);
            b.push(time_b * ratio);
        }
        (a, b)
    }

    /// A normal series around 0 whose neighbors correlate by `phi`.
    pub fn autocorrelated(&mut self, count: usize, phi: f64) -> Vec<f64> {
        let mut state = self.normal() / (1.0 - phi * phi).sqrt();
        let next = |_| {
            let now = state;
            state = phi * state + self.normal();
            now
        };
        (0..count).map(next).collect()
    }
}
