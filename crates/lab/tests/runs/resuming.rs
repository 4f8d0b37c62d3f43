//! An interrupted and resumed run is the run it would have been.

use crate::fake::{Fake, experiment, go_on, scattered, whole};
use lab::{RunFolder, Stop};
use model::{Experiment, Sample};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Interrupts before launch `before`, resumes, and compares with the uninterrupted run.
fn compare(
    experiment: &Experiment,
    (expected, expected_stop): &(Vec<Sample>, Stop),
    before: usize,
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut run = RunFolder::create(&path, experiment).unwrap();
    let mut fake = Fake { interrupt_before: Some(before), ..Fake::new(scattered) };
    go_on(experiment, &mut Vec::new(), &mut fake, &mut run).unwrap();
    drop(run);
    let (mut run, stored, mut done) = RunFolder::resume(&path).unwrap();
    assert_eq!((&stored, done.len()), (experiment, before));
    let mut fake = Fake::after(before, scattered);
    let stop = go_on(&stored, &mut done, &mut fake, &mut run).unwrap();
    assert_eq!((&stop, &done), (expected_stop, expected), "interrupted before {before}");
    assert_eq!(RunFolder::read(&path).unwrap().1, *expected);
}

#[test]
fn the_schedule_continues_wherever_it_was_left() {
    let experiment = experiment(3, 6);
    let uninterrupted = whole(&experiment, scattered);
    for before in 0..24 {
        compare(&experiment, &uninterrupted, before);
    }
}

#[test]
fn precision_is_reached_at_the_same_launch() {
    let mut experiment = experiment(2, 400);
    experiment.schedule.precision = Some(0.1);
    let uninterrupted = whole(&experiment, scattered);
    let launches = uninterrupted.0.len();
    assert_eq!(uninterrupted.1, Stop::Precision);
    assert!(launches > 200, "several checkpoints are passed: {launches}");
    for before in (0..launches).step_by(9) {
        compare(&experiment, &uninterrupted, before);
    }
}

#[test]
fn a_finished_run_launches_nothing_more() {
    let mut experiment = experiment(2, 400);
    experiment.schedule.precision = Some(0.1);
    let (mut samples, _) = whole(&experiment, scattered);
    let mut fake = Fake::after(samples.len(), scattered);
    let stop = go_on(&experiment, &mut samples, &mut fake, &mut Vec::new()).unwrap();
    assert_eq!((stop, fake.launched.len()), (Stop::Precision, 0));
}

#[test]
#[ignore = "a helper of kill_9_loses_nothing"]
fn helper_runs_until_killed() {
    let path = PathBuf::from(std::env::var_os("HEADSTART_TEST_RUN").unwrap());
    let experiment = experiment(3, 10_000);
    let mut run = RunFolder::create(&path, &experiment).unwrap();
    let mut fake = Fake { pause: Duration::from_micros(200), ..Fake::new(scattered) };
    go_on(&experiment, &mut Vec::new(), &mut fake, &mut run).unwrap();
}

#[test]
fn kill_9_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut killed = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "resuming::helper_runs_until_killed"])
        .env("HEADSTART_TEST_RUN", &path)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while lines(&path) < 100 {
        assert!(begun.elapsed() < Duration::from_secs(20), "no launches after 20 s");
        std::thread::sleep(Duration::from_millis(2));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let (_run, experiment, done) = RunFolder::resume(&path).unwrap();
    assert_eq!(done.len(), lines(&path));
    assert_eq!(done, whole(&experiment, scattered).0[..done.len()]);
}

fn lines(path: &Path) -> usize {
    let bytes = std::fs::read(path.join("launches.jsonl")).unwrap_or_default();
    bytes.iter().filter(|&&byte| byte == b'\n').count()
}
