//! What a run folder survives, and what it refuses.

use crate::fake::{Fake, experiment, go_on, scattered, whole};
use lab::{FolderRemedy, LabError, RunFolder, Series};
use std::fs;
use std::path::{Path, PathBuf};

/// A finished run of six launches.
fn finished(folder: &Path) -> PathBuf {
    let path = folder.join("a/b/run");
    let experiment = experiment(2, 1);
    let mut run = RunFolder::create(&path, &experiment).unwrap();
    assert_eq!(run.path(), path);
    go_on(&experiment, &mut Vec::new(), &mut Fake::new(scattered), &mut run).unwrap();
    path
}

fn launches(path: &Path) -> PathBuf {
    path.join("launches.jsonl")
}

#[test]
fn a_run_cut_at_any_byte_is_repaired() {
    let folder = tempfile::tempdir().unwrap();
    let path = finished(folder.path());
    let whole_file = fs::read(launches(&path)).unwrap();
    let expected = whole(&experiment(2, 1), scattered).0;
    for length in 0..=whole_file.len() {
        fs::write(launches(&path), &whole_file[..length]).unwrap();
        let complete = whole_file[..length].iter().filter(|&&byte| byte == b'\n').count();
        // Reading changes nothing.
        assert_eq!(RunFolder::read(&path).unwrap().1, expected[..complete]);
        assert_eq!(fs::read(launches(&path)).unwrap().len(), length);
        let (mut run, experiment, mut done) = RunFolder::resume(&path).unwrap();
        assert_eq!(done, expected[..complete]);
        let mut fake = Fake::after(complete, scattered);
        go_on(&experiment, &mut done, &mut fake, &mut run).unwrap();
        assert_eq!(fs::read(launches(&path)).unwrap(), whole_file, "cut at {length}");
    }
}

/// Two would repeat each other's rounds.
#[test]
fn a_run_is_continued_by_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = finished(folder.path());
    let first = RunFolder::resume(&path).unwrap();
    let refused = RunFolder::resume(&path).err().unwrap().to_string();
    assert!(refused.contains("another headstart adds launches"), "{refused}");
    assert!(RunFolder::read(&path).is_ok(), "who only reads is no other");
    drop(first);
    assert!(RunFolder::resume(&path).is_ok());
}

#[test]
fn a_damaged_line_is_named_and_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let path = finished(folder.path());
    let text = fs::read_to_string(launches(&path)).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let stranger = lines[3].replace("\"variant\":1", "\"variant\":9");
    let stranger = stranger.replace("\"variant\":0", "\"variant\":9");
    let cases = [
        ("{\"round\":1", "line 4 is not a launch"),
        ("\u{0}\u{0}\u{0}", "line 4 is not a launch"),
        ("\nnonsense", "line 5 is not a launch"),
        (stranger.as_str(), "it is for variant 9, but the run has 2 variants"),
    ];
    for (damage, expected) in cases {
        let mut damaged = lines.clone();
        damaged[3] = damage;
        let damaged = damaged.join("\n") + "\n{\"cut";
        fs::write(launches(&path), &damaged).unwrap();
        for error in [RunFolder::read(&path).err(), RunFolder::resume(&path).err()] {
            let text = error.unwrap().to_string();
            assert!(text.contains(expected), "{text}");
            assert!(text.contains(launches(&path).to_str().unwrap()), "{text}");
            assert!(text.contains("remove that line: sed -i"), "{text}");
        }
        assert_eq!(fs::read_to_string(launches(&path)).unwrap(), damaged);
    }
}

#[test]
fn an_existing_run_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = finished(folder.path());
    let before = fs::read(launches(&path)).unwrap();
    let remedy = || match RunFolder::create(&path, &experiment(2, 1)).err().unwrap() {
        LabError::Folder { problem, remedy, .. } => {
            assert_eq!(problem, "it already contains a run");
            remedy
        }
        other => panic!("{other}"),
    };
    assert_eq!(remedy(), FolderRemedy::ContinueOrAnother(Series::OfSeveral));
    fs::write(path.join("sweep.json"), "{}").unwrap();
    assert_eq!(remedy(), FolderRemedy::ContinueOrAnother(Series::OfSizes));
    fs::remove_file(path.join("sweep.json")).unwrap();
    // An explanation is made in one go: nothing resumes it.
    fs::write(path.join("explanation.json"), "{}").unwrap();
    assert_eq!(remedy(), FolderRemedy::Another);
    fs::remove_file(path.join("explanation.json")).unwrap();
    fs::remove_file(path.join("experiment.json")).unwrap();
    assert!(RunFolder::create(&path, &experiment(2, 1)).is_err(), "launches without description");
    assert_eq!(fs::read(launches(&path)).unwrap(), before);
}

#[test]
fn of_many_creators_one_wins_and_no_rubbish_stays() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let created = std::thread::scope(|scope| {
            let create = |rounds| RunFolder::create(&path, &experiment(2, rounds)).is_ok();
            let threads: Vec<_> =
                (1..=4).map(|rounds| scope.spawn(move || (rounds, create(rounds)))).collect();
            let results = threads.into_iter().map(|thread| thread.join().unwrap());
            results.filter(|(_, won)| *won).map(|(rounds, _)| rounds).collect::<Vec<_>>()
        });
        assert_eq!(created.len(), 1, "{created:?}");
        assert_eq!(RunFolder::read(&path).unwrap().0.schedule.rounds, created[0]);
        let mut names: Vec<_> =
            fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(names, ["experiment.json", "launches.jsonl"]);
    }
}

#[test]
fn what_is_no_run_is_refused_with_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let missing = RunFolder::read(folder.path()).err().unwrap().to_string();
    assert!(
        missing.contains("experiment.json") && missing.contains("give the folder"),
        "{missing}"
    );
    let description = folder.path().join("experiment.json");
    for (content, expected) in [("{", "EOF"), ("[]", "invalid"), ("\u{0}", "expected value")] {
        fs::write(&description, content).unwrap();
        let text = RunFolder::read(folder.path()).err().unwrap().to_string();
        assert!(text.contains(expected) && text.contains("experiment.json"), "{text}");
    }
    let mut other = experiment(1, 1);
    other.schema += 1;
    fs::write(&description, serde_json::to_vec(&other).unwrap()).unwrap();
    let text = RunFolder::resume(folder.path()).err().unwrap().to_string();
    assert!(text.contains("use the version of headstart that wrote it"), "{text}");
    let below_a_file = description.join("run");
    let text = RunFolder::create(&below_a_file, &other).err().unwrap().to_string();
    assert!(text.contains("experiment.json/run") && text.contains("choose another"), "{text}");
}

#[test]
fn other_files_of_a_run_are_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create(&folder.path().join("run"), &experiment(1, 1)).unwrap();
    run.write_compact_json("results.json", &1).unwrap();
    run.write_compact_json("results.json", &22).unwrap();
    assert_eq!(fs::read(run.path().join("results.json")).unwrap(), b"22");
    let text = run.write_compact_json("no/such/folder", &0).unwrap_err().to_string();
    assert!(text.contains("no/such/folder"), "{text}");
}

/// CPU times are plain numbers, as earlier versions wrote them, or say why they are missing.
#[test]
fn cpu_times_of_kept_runs_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = finished(folder.path());
    let text = fs::read_to_string(launches(&path)).unwrap();
    assert_eq!(text.matches(r#""user_us":1.0,"system_us":2.0"#).count(), 6, "{text}");
    let missing = r#""user_us":1,"system_us":{"unavailable":"no clock"}"#;
    let changed = text.replacen(r#""user_us":1.0,"system_us":2.0"#, missing, 1);
    fs::write(launches(&path), &changed).unwrap();
    let samples = RunFolder::read(&path).unwrap().1;
    let launch = &samples[0].launch;
    assert_eq!((launch.user_us.get(), launch.system_us.reason()), (Some(1.0), Some("no clock")));
    assert_eq!(launch.cpu_us().reason(), Some("no clock"));
    assert!(samples[1..].iter().all(|sample| sample.launch.cpu_us().get() == Some(3.0)));
}
