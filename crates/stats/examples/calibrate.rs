//! How well intervals keep their promise of 99 %, by simulation, for each way of making them:
//! `cargo run --release -p stats --example calibrate`. `docs/method.md` quotes the tables.

#[path = "../tests/noise/mod.rs"]
mod noise;

use model::{Effect, Interval, Verdict};
use noise::Noise;
use stats::{
    Rules, ascending, block_length, bootstrap_interval, effect, median_interval, order_interval,
    percentile, width,
};

const TRIALS: u64 = 1000;

fn main() {
    println!("Coverage of the 99 % interval / its half-width in %, {TRIALS} trials");
    println!(
        "case                 n    iid boot      n^(1/3)       automatic     order stat    used"
    );
    for n in [10, 30, 100, 400] {
        coverage("rounds, noise 5 %", n, |noise| {
            let (a, b) = noise.rounds(n, 1.0);
            a.iter().zip(&b).map(|(a, b)| (b / a).ln()).collect()
        });
    }
    for phi in [0.3, 0.7] {
        for n in [30, 100, 400] {
            coverage(&format!("neighbors alike {phi}"), n, |noise| {
                noise.autocorrelated(n, phi).iter().map(|x| 0.05 * x).collect()
            });
        }
    }
    let truth = percentile(&ascending(&log_times(&mut Noise::new(1, 0.05), 2_000_000)), 0.5);
    let truth = truth.expect("there are times");
    for n in [30, 100, 400, 1000] {
        coverage("times of one variant", n, |noise| {
            log_times(noise, n).iter().map(|time| time - truth).collect()
        });
    }
    speed();
    verdicts();
    precision();
}

fn log_times(noise: &mut Noise, n: usize) -> Vec<f64> {
    noise.rounds(n, 1.0).0.iter().map(|time| time.ln()).collect()
}

fn speed() {
    println!();
    for n in [100, 1000, 10_000, 100_000] {
        let (a, b) = Noise::new(1, 0.05).rounds(n, 1.0);
        let before = std::time::Instant::now();
        let found = effect(("a", &a), ("b", &b), &Rules::default(), 1).expect("there are rounds");
        println!("{n} rounds: {:?}, half-width {:.2} %", before.elapsed(), 100.0 * width(&found));
    }
}

fn coverage(case: &str, n: usize, series: impl Fn(&mut Noise) -> Vec<f64>) {
    let mut held = [0_u64; 5];
    let mut widths = [0.0; 5];
    for trial in 0..TRIALS {
        let series = series(&mut Noise::new(trial, 0.05));
        for (at, interval) in intervals(&series, trial).iter().enumerate() {
            held[at] += u64::from(interval.low <= 0.0 && interval.high >= 0.0);
            widths[at] += (interval.high - interval.low) / 2.0;
        }
    }
    print!("{case:<20} {n:<4}");
    for (held, width) in held.iter().zip(widths) {
        let share = 100.0 * *held as f64 / TRIALS as f64;
        print!(" {share:5.1} / {:<5.2}", 100.0 * width / TRIALS as f64);
    }
    println!();
}

fn intervals(series: &[f64], seed: u64) -> [Interval; 5] {
    let sorted = ascending(series);
    let median = percentile(&sorted, 0.5).unwrap_or(0.0);
    let n = series.len();
    let boot = |block| bootstrap_interval(series, &sorted, block, 0.99, seed);
    let all = Interval { low: sorted[0], high: sorted[n - 1] };
    [
        boot(1),
        boot((n as f64).cbrt().ceil() as usize),
        boot(block_length(series, median)),
        order_interval(&sorted, 0.99).unwrap_or(all),
        median_interval(series, 0.99, seed).map_or(all, |(_, interval)| interval),
    ]
}

fn verdicts() {
    println!("\nVerdicts of 300 trials: faster, slower, same, inconclusive; median half-width");
    for noise in [0.03, 0.05, 0.1] {
        for rounds in [30, 100, 400, 1000] {
            for ratio in [1.0, 1.02, 1.03, 1.05] {
                let effects: Vec<Effect> =
                    (0..300).map(|trial| trial_effect(trial, noise, rounds, ratio)).collect();
                let count = |verdict| effects.iter().filter(|e| e.verdict == verdict).count();
                let widths: Vec<f64> = effects.iter().map(width).collect();
                println!(
                    "noise {noise:<4} rounds {rounds:<4} ratio {ratio:<4}: {:>4} {:>4} {:>4} {:>4}   {:.2} %",
                    count(Verdict::Faster),
                    count(Verdict::Slower),
                    count(Verdict::Same),
                    count(Verdict::Inconclusive),
                    100.0 * percentile(&ascending(&widths), 0.5).unwrap_or(0.0)
                );
            }
        }
    }
}

fn trial_effect(trial: u64, noise: f64, rounds: usize, ratio: f64) -> Effect {
    let (a, b) = Noise::new(trial, noise).rounds(rounds, ratio);
    effect(("a", &a), ("b", &b), &Rules::default(), trial).expect("there are rounds")
}

/// Stopping as soon as the interval is narrow enough, looking every 10 rounds.
fn precision() {
    println!("\nStopping at a half-width of 1 %, looked at every 10 rounds, 100 trials");
    for ratio in [1.0, 1.03] {
        let (mut held, mut wrong, mut missed, mut taken) = (0, 0, 0, Vec::new());
        for trial in 0..100 {
            let (a, b) = Noise::new(trial, 0.05).rounds(3000, ratio);
            let looks = (10..=3000).step_by(10).map(|n| {
                effect(("a", &a[..n]), ("b", &b[..n]), &Rules::default(), trial)
                    .expect("there are rounds")
            });
            let last = looks.into_iter().find(|effect| width(effect) <= 0.01);
            let Some(last) = last else { continue };
            held += u32::from(last.low <= ratio && ratio <= last.high);
            let wanted = if ratio > 1.0 { Verdict::Slower } else { Verdict::Same };
            wrong += u32::from(last.verdict != wanted && last.verdict != Verdict::Inconclusive);
            missed += u32::from(last.verdict == Verdict::Inconclusive);
            taken.push(f64::from(last.rounds));
        }
        let taken = ascending(&taken);
        let at = |fraction| percentile(&taken, fraction).unwrap_or(0.0);
        println!(
            "ratio {ratio}: stopped {} times after {:.0} rounds ({:.0} to {:.0}); held {held}, wrong {wrong}, inconclusive {missed}",
            taken.len(),
            at(0.5),
            at(0.1),
            at(0.9)
        );
    }
}
