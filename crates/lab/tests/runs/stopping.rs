//! Which launch comes when, and when there are enough.

use crate::fake::{Fake, experiment, go_on, scattered, whole};
use lab::Stop;
use model::{Sample, VariantId};

fn variants(samples: &[Sample]) -> Vec<VariantId> {
    samples.iter().map(|sample| sample.variant).collect()
}

#[test]
fn every_round_has_every_variant_in_an_order_of_its_own() {
    let (samples, stop) = whole(&experiment(4, 30), scattered);
    assert_eq!((samples.len(), stop), (4 * 32, Stop::Rounds));
    let mut orders = Vec::new();
    for (round, launches) in (-2..).zip(samples.chunks(4)) {
        assert!(launches.iter().all(|sample| sample.round == round));
        assert!((0..).zip(launches).all(|(place, sample)| sample.position == place));
        let order = variants(launches);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3].map(VariantId));
        orders.push(order);
    }
    orders.sort();
    orders.dedup();
    assert!(orders.len() > 10, "of 24 possible orders: {}", orders.len());
}

#[test]
fn the_seed_alone_decides_the_order() {
    let mut other = experiment(4, 30);
    let first = variants(&whole(&other, scattered).0);
    assert_eq!(first, variants(&whole(&other, |_| 5.0).0));
    other.schedule.seed += 1;
    assert_ne!(first, variants(&whole(&other, scattered).0));
}

#[test]
fn preparation_comes_before_every_launch_and_conclusion_after_it() {
    let mut fake = Fake::new(scattered);
    let mut done = Vec::new();
    go_on(&experiment(3, 5), &mut done, &mut fake, &mut Vec::new()).unwrap();
    let prepared: Vec<_> = done.iter().map(|s| (s.variant, s.round)).collect();
    assert_eq!(fake.prepared, prepared);
    assert_eq!((fake.prepared.len(), fake.prepared[0].1), (21, -2));
    assert_eq!(fake.concluded, fake.launched);
    assert_eq!(fake.emptied, fake.launched);
    assert!(done.iter().all(|sample| sample.cold.is_some()));
}

#[test]
fn precision_ends_a_steady_run_early_and_not_a_scattered_one() {
    let mut experiment = experiment(2, 400);
    experiment.schedule.precision = Some(0.01);
    let (steady, stop) = whole(&experiment, |number| 1000.0 + (number % 3) as f64);
    assert_eq!(stop, Stop::Precision);
    assert!(steady.len() < 100, "{}", steady.len());
    assert_eq!(steady.len() % 2, 0, "a round is completed");
    experiment.schedule.precision = Some(0.0001);
    let (scattered, stop) = whole(&experiment, scattered);
    assert_eq!((scattered.len(), stop), (2 * 402, Stop::Rounds));
}

#[test]
fn a_spent_budget_ends_the_run_after_a_whole_counted_round() {
    let mut experiment = experiment(3, 100);
    experiment.schedule.budget_s = Some(20.0);
    let (samples, stop) = whole(&experiment, scattered);
    // A second each: 18 after six rounds of three, 21 after seven.
    assert_eq!((samples.len(), stop), (21, Stop::Budget));
    experiment.schedule.budget_s = Some(0.0);
    let (samples, stop) = whole(&experiment, scattered);
    assert_eq!((samples.len(), stop), (9, Stop::Budget), "warm-up and one counted round");
}

#[test]
fn an_interrupt_ends_the_run_before_the_next_launch() {
    for before in 0..12 {
        let mut fake = Fake { interrupt_before: Some(before), ..Fake::new(scattered) };
        let mut done = Vec::new();
        let stop = go_on(&experiment(3, 5), &mut done, &mut fake, &mut Vec::new()).unwrap();
        assert_eq!((done.len(), stop), (before, Stop::Interrupted));
    }
}

#[test]
fn a_failure_keeps_what_was_measured() {
    let mut fake = Fake { fail_at: Some(10), ..Fake::new(scattered) };
    let (mut done, mut kept) = (Vec::new(), Vec::new());
    let error = go_on(&experiment(3, 5), &mut done, &mut fake, &mut kept).unwrap_err();
    assert!(error.to_string().contains("exit code 3"), "{error}");
    let failed = whole(&experiment(3, 5), scattered).0[10].variant;
    assert_eq!(error.variant, Some(failed), "whose launch it was is known");
    assert_eq!(kept, whole(&experiment(3, 5), scattered).0[..10]);
    assert_eq!(done, kept);
}

#[test]
fn a_run_may_ask_for_a_least_time_and_a_least_number_of_rounds() {
    let rounds = |least_s: f64, least_rounds: u32, most: u32| {
        let mut asked = experiment(2, most);
        asked.schedule.least_s = Some(least_s);
        asked.schedule.least_rounds = Some(least_rounds);
        // Launches of 0.1 s.
        let (done, stop) = whole(&asked, |_| 100_000.0);
        assert_eq!(stop, Stop::Rounds);
        done.iter().filter(|sample| sample.round >= 0 && sample.variant == VariantId(0)).count()
    };
    assert_eq!(rounds(0.95, 1, 1000), 10, "the time decides");
    assert_eq!(rounds(0.95, 25, 1000), 25, "the least number of rounds decides");
    assert_eq!(rounds(0.95, 1, 4), 4, "the most rounds decide");
}
