//! Sweeps on a machine that changes its speed while it is measured, as shared ones do.

use super::disturbance;
use model::growth::Point;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How the machine is.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Seconds that it stays fast and slow, on average.
    pub dwell_s: (f64, f64),
    /// Time of a slow launch ÷ that of a fast one.
    pub ratio: f64,
}

/// Rounds of a sweep end after this time or this number.
const BUDGET_US: f64 = 50e6;
const ROUNDS: usize = 50;
/// Between two launches.
const PAUSE_US: f64 = 300.0;

/// What is measured of `truth` in rounds of random order, each launch as fast as the machine is
/// at the time.
pub fn sweep(machine: Machine, truth: fn(f64) -> f64, sizes: &[u64], seed: u64) -> Vec<Point> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut clock = Clock { machine, now_us: 0.0, slow: false, until_us: 0.0 };
    let mut series: Vec<(u64, Vec<f64>)> = sizes.iter().map(|&n| (n, Vec::new())).collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    for _ in 0..ROUNDS {
        order.shuffle(&mut random);
        for &index in &order {
            let (n, times) = &mut series[index];
            let work_us = truth(*n as f64) * disturbance(0.02, &mut random).exp();
            times.push(clock.work(work_us, &mut random));
            clock.now_us += PAUSE_US;
        }
        if clock.now_us > BUDGET_US {
            break;
        }
    }
    stats::growth::points(&series, seed).0
}

struct Clock {
    machine: Machine,
    now_us: f64,
    slow: bool,
    until_us: f64,
}

impl Clock {
    /// Time that takes `work_us` on the fast machine.
    fn work(&mut self, mut work_us: f64, random: &mut ChaCha8Rng) -> f64 {
        let began_us = self.now_us;
        loop {
            if self.now_us >= self.until_us {
                self.slow = !self.slow;
                let (fast_s, slow_s) = self.machine.dwell_s;
                let dwell_us = if self.slow { slow_s } else { fast_s } * 1e6;
                self.until_us = self.now_us - (1.0 - random.random::<f64>()).ln() * dwell_us;
            }
            let ratio = if self.slow { self.machine.ratio } else { 1.0 };
            let possible_us = (self.until_us - self.now_us) / ratio;
            if possible_us >= work_us {
                self.now_us += work_us * ratio;
                return self.now_us - began_us;
            }
            work_us -= possible_us;
            self.now_us = self.until_us;
        }
    }
}
