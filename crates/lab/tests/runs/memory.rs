//! Which launch is followed for private memory.

use crate::fake::{Fake, experiment, go_on, scattered};
use lab::RunFolder;
use model::{Reading, Sample, VariantId};

/// The launches of a run, and who made them.
fn made(warm_up_rounds: u32, rounds: u32) -> (Vec<Sample>, Fake) {
    let mut experiment = experiment(2, rounds);
    experiment.schedule.warm_up_rounds = warm_up_rounds;
    let (mut samples, mut fake) = (Vec::new(), Fake::new(scattered));
    go_on(&experiment, &mut samples, &mut fake, &mut Vec::new()).unwrap();
    (samples, fake)
}

fn known(samples: &[Sample]) -> Vec<(i32, u64)> {
    let of = |sample: &Sample| Some((sample.round, sample.launch.private_kib.as_ref()?.get()?));
    samples.iter().filter_map(of).collect()
}

#[test]
fn the_first_warm_up_launch_of_each_variant_is_followed_and_no_other() {
    let (samples, mut fake) = made(2, 5);
    assert_eq!(known(&samples), [(-2, 88), (-2, 88)]);
    fake.followed.sort();
    assert_eq!(fake.followed.iter().map(|(variant, _)| *variant).collect::<Vec<_>>(), variants());
    assert!(fake.followed.iter().all(|(_, launch)| *launch < 2) && fake.besides.is_empty());
    assert_eq!(fake.launched.len(), 2 * 7, "nothing more is launched");
}

fn variants() -> Vec<VariantId> {
    [0, 1].map(VariantId).to_vec()
}

#[test]
fn without_warm_up_one_launch_more_is_made_unless_only_one_was_asked_for() {
    let (samples, mut fake) = made(0, 5);
    assert_eq!(known(&samples), [(0, 89), (0, 89)]);
    assert!(fake.followed.is_empty());
    fake.besides.sort();
    assert_eq!(fake.besides.iter().map(|(variant, _)| *variant).collect::<Vec<_>>(), variants());
    assert!(fake.besides.iter().all(|(_, launch)| (1..=2).contains(launch)), "after the first");
    let (samples, fake) = made(0, 1);
    assert!(known(&samples).is_empty() && fake.followed.is_empty() && fake.besides.is_empty());
}

#[test]
fn a_resumed_run_keeps_the_figure_and_follows_no_other_launch() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let experiment = experiment(2, 3);
    let mut run = RunFolder::create(&path, &experiment).unwrap();
    let mut fake = Fake { interrupt_before: Some(5), ..Fake::new(scattered) };
    go_on(&experiment, &mut Vec::new(), &mut fake, &mut run).unwrap();
    drop(run);
    let (mut run, stored, mut done) = RunFolder::resume(&path).unwrap();
    let mut fake = Fake::after(5, scattered);
    go_on(&stored, &mut done, &mut fake, &mut run).unwrap();
    assert!(fake.followed.is_empty() && fake.besides.is_empty());
    let results = stats::results(&stored, &done, &model::Rules::default());
    assert!(results.variants.iter().all(|variant| variant.private_kib == Reading::Value(88)));
}
