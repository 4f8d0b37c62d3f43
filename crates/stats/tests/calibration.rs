//! The intervals keep their promise: simulated runs with realistic noise and a known truth.
//! `examples/calibrate.rs` prints larger tables of the same.

mod noise;

use model::{Effect, Verdict};
use noise::Noise;
use stats::{Rules, ascending, bootstrap_interval, effect, summary_width, width};

fn run(seed: u64, sigma: f64, rounds: usize, ratio: f64) -> Effect {
    let (a, b) = Noise::new(seed, sigma).rounds(rounds, ratio);
    effect(("a", &a), ("b", &b), &Rules::default(), seed).expect("there are rounds")
}

#[test]
fn two_copies_are_not_called_different() {
    let trials = 500;
    let effects: Vec<Effect> = (0..trials).map(|seed| run(seed, 0.05, 100, 1.0)).collect();
    let different = |e: &&Effect| matches!(e.verdict, Verdict::Faster | Verdict::Slower);
    let wrong = effects.iter().filter(different).count();
    assert!(wrong <= 10, "{wrong} of {trials} called different: more than 2 %");
    let held = effects.iter().filter(|e| e.low <= 1.0 && e.high >= 1.0).count();
    assert!(held >= 485, "{held} of {trials} intervals hold the truth: fewer than 97 %");
}

#[test]
fn few_rounds_still_hold_the_truth() {
    for (rounds, sigma) in [(10, 0.05), (30, 0.1), (30, 0.02)] {
        let holds = |seed: &u64| {
            let e = run(*seed, sigma, rounds, 1.1);
            e.low <= 1.1 && e.high >= 1.1
        };
        let held = (0..500).filter(holds).count();
        assert!(held >= 485, "{rounds} rounds, noise {sigma}: {held} of 500 hold the truth");
    }
}

/// Why the bootstrap does not stand alone: at 10 rounds it misses the truth far too often.
#[test]
fn the_bootstrap_alone_is_too_narrow_for_few_rounds() {
    let holds = |seed: &u64| {
        let (a, b) = Noise::new(*seed, 0.05).rounds(10, 1.0);
        let series: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (b / a).ln()).collect();
        let interval = bootstrap_interval(&series, &ascending(&series), 3, 0.99, *seed);
        interval.low <= 0.0 && interval.high >= 0.0
    };
    let held = (0..500).filter(holds).count();
    assert!(held < 480, "{held} of 500: the order statistics are no longer needed");
}

#[test]
fn three_percent_are_found_in_400_rounds() {
    let slower = |seed: &u64| run(*seed, 0.05, 400, 1.03).verdict == Verdict::Slower;
    let found = (0..200).filter(slower).count();
    assert!(found >= 190, "{found} of 200 found: fewer than 95 %");
}

#[test]
fn enough_rounds_show_that_nothing_changed() {
    let same = |seed: &u64| run(*seed, 0.03, 400, 1.0).verdict == Verdict::Same;
    let found = (0..50).filter(same).count();
    assert!(found >= 48, "{found} of 50 called same");
}

/// An effect that comes and goes with the machine's state: neighboring rounds are alike, and the
/// interval has to know.
#[test]
fn rounds_that_are_alike_widen_the_interval() {
    let held = |phi: f64| {
        let holds = |seed: &u64| {
            let series = Noise::new(*seed, 0.05).autocorrelated(400, phi);
            let (_, interval) = stats::median_interval(&series, 0.99, *seed).unwrap();
            interval.low <= 0.0 && interval.high >= 0.0
        };
        (0..300).filter(holds).count()
    };
    let (little, much) = (held(0.3), held(0.7));
    assert!(little >= 288 && much >= 282, "of 300: {little} at 0.3, {much} at 0.7");
}

#[test]
fn nobody_stops_on_a_lucky_start() {
    let flat = [1000.0; 29];
    let e = effect(("a", &flat), ("b", &flat), &Rules::default(), 1).unwrap();
    assert_eq!((e.ratio, e.low, e.high, e.verdict), (1.0, 1.0, 1.0, Verdict::Same));
    assert!(width(&e).is_infinite());
    assert!(summary_width(&stats::summarize(&flat, 1).unwrap()).is_infinite());
    let flat = [1000.0; 30];
    let e = effect(("a", &flat), ("b", &flat), &Rules::default(), 1).unwrap();
    assert_eq!(width(&e), 0.0);
    assert_eq!(summary_width(&stats::summarize(&flat, 1).unwrap()), 0.0);
}
