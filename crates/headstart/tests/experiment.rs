//! `headstart experiment` as a command, on small workloads.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, run, stderr, stdout, wait_for};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const SMALL: [&str; 10] =
    ["experiment", "pietrek", "--dlls", "3", "--functions", "8", "--globals", "2", "--runs", "10"];

fn pietrek(folder: &Path, more: &[&str]) -> Value {
    let output = headstart(folder, &[&SMALL[..], more, &["--json"]].concat()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().flatten();
    let mut names: Vec<String> =
        names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn pietreks_table_has_every_row_warm_and_cold() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let found = pietrek(folder.path(), &["--save", kept.to_str().unwrap()]);
    let rows = found["rows"].as_array().unwrap();
    assert_eq!((rows[0]["name"].as_str(), rows.len()), (Some("default"), 7));
    let columns = found["columns"].as_array().unwrap();
    assert!(!columns.is_empty() && columns[0]["cache"] == "warm", "{found}");
    for column in columns {
        let cells = column["cells"].as_array().unwrap();
        assert_eq!(cells.len(), rows.len());
        for (index, cell) in cells.iter().enumerate() {
            let (fastest, median) = (&cell["fastest_us"], &cell["median_us"]);
            assert!(fastest.as_f64().unwrap() <= median.as_f64().unwrap(), "{cell}");
            assert_eq!(cell.get("improvement").is_some(), index > 0, "{cell}");
        }
    }
    let mut wanted = vec!["pietrek.json", "table.csv", "table.md", "warm", "warm.svg"];
    if columns.len() == 2 {
        wanted.extend(["cold", "cold.svg"]);
        wanted.sort_unstable();
    }
    assert_eq!(files(&kept), wanted);
    assert_eq!(
        fs::read_to_string(kept.join("table.csv")).unwrap().lines().count(),
        1 + 7 * columns.len()
    );
    let launches = fs::read_to_string(kept.join("warm/launches.jsonl")).unwrap();
    assert_eq!(launches.lines().count(), 7 * (10 + 2));
}

/// A read-only file system is prepared elsewhere; another workload on it is refused.
#[test]
fn prepared_folders_are_launched_from_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let prepared = folder.path().join("prepared");
    let prepared_name = prepared.to_str().unwrap();
    let output =
        headstart(folder.path(), &[&SMALL[..], &["--generate", prepared_name]].concat()).output();
    assert!(output.unwrap().status.success());
    let before = files(&prepared);
    let kept = folder.path().join("kept");
    let more = ["--on", prepared_name, "--warm-only", "--save", kept.to_str().unwrap()];
    let found = pietrek(folder.path(), &more);
    assert_eq!(found["columns"].as_array().unwrap().len(), 1);
    assert_eq!(files(&prepared), before);
    let launched = fs::read_to_string(kept.join("warm/experiment.json")).unwrap();
    assert!(launched.contains(&format!("{prepared_name}/no-relocations/LoadTimeTest")));

    let other = run(&["experiment", "pietrek", "--dlls", "4", "--on", prepared_name]);
    let said = stderr(&other);
    assert!(other.status.code() == Some(2) && said.contains("3 libraries of 8"), "{said}");
}

/// The folders that were launched from are as before.
#[test]
fn several_places_stand_beside_each_other_and_nothing_stays_there() {
    let folder = tempfile::tempdir().unwrap();
    let places = ["one", "two"].map(|name| folder.path().join(name));
    places.iter().for_each(|place| fs::create_dir(place).unwrap());
    let [one, two] = places.each_ref().map(|place| place.to_str().unwrap());
    let beside = folder.path().join("published.csv");
    fs::write(&beside, "# Figure 2\ndefault, 120\nbased,100\n\nneither,60\n").unwrap();
    let more = ["--on", one, "--on", two, "--warm-only", "--beside", beside.to_str().unwrap()];
    let found = pietrek(folder.path(), &more);
    // The article's own figures stand beside, under their machine and year, in no column of ours.
    let published = &found["published"];
    assert!(published["source"].as_str().unwrap().contains("May 2000"), "{published}");
    assert!(published["machine"].as_str().unwrap().contains("Pentium III 550 MHz"));
    assert_eq!(published["rows"][0]["default_s"], 0.016283);
    let columns = found["columns"].as_array().unwrap();
    let name = |index: usize| columns[index]["name"].as_str().unwrap();
    assert!(name(0).ends_with("/one") && name(1).ends_with("/two"), "{found}");
    assert_eq!(name(2), "published");
    let cell = &columns[2]["cells"];
    assert_eq!(cell[0]["fastest_us"], 120_000.0);
    assert_eq!(cell[4]["improvement"], 0.5);
    assert!(cell[2]["unavailable"].as_str().unwrap().contains("no such row"), "{cell}");
    assert!(places.iter().all(|place| files(place).is_empty()));
}

#[test]
fn an_interrupted_table_shows_what_was_measured() {
    let folder = tempfile::tempdir().unwrap();
    let (place, kept) = (folder.path().join("place"), folder.path().join("kept"));
    fs::create_dir(&place).unwrap();
    let more = ["--runs", "1000000", "--json", "--warm-only", "--on"];
    let words = [&["experiment", "pietrek"][..], &more, &[place.to_str().unwrap(), "--save"]];
    let mut command = headstart(folder.path(), &words.concat());
    command.arg(&kept).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let launches = kept.join("warm/launches.jsonl");
    let made = || fs::read_to_string(&launches).unwrap_or_default().lines().count();
    wait_for("some rounds", || made() > 7 * 20);
    let sent = Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["columns"][0]["cells"][6]["improvement"].as_f64().unwrap() > 0.0, "{found}");
    assert!(kept.join("table.md").is_file() && files(&place).is_empty());
}

#[test]
fn what_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("table"), "default,fast\n").unwrap();
    let table = folder.path().join("table").display().to_string();
    let full = folder.path().display().to_string();
    let cases: [(&[&str], &str); 5] = [
        (&["pietrek", "--dlls", "0"], "--dlls 1 is the least"),
        (&["pietrek", "--beside", &table], "'default,fast' is no row and its milliseconds"),
        (&["pietrek", "--save", &full], "is not empty"),
        (
            &["pietrek", "--dlls", "70000"],
            "70000 libraries: the format's limit is 65535; choose a smaller --dlls",
        ),
        (&["dawson", "--runs", "2"], "2 is not in 5.."),
    ];
    for (words, reason) in cases {
        let output = run(&[&["experiment"], words].concat());
        let said = stderr(&output);
        assert!(output.status.code() == Some(2) && said.contains(reason), "{words:?}: {said}");
    }
    let output = run(&["experiment", "pietrek", "--on", "/nowhere/at/all"]);
    let said = stderr(&output);
    assert!(output.status.code() == Some(6) && said.contains("/nowhere/at/all"), "{said}");
}

/// Seventeen sizes, both graphs, and half a gigabyte of workloads that is not left behind.
#[test]
fn dawsons_graphs_are_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let words = ["experiment", "dawson", "--runs", "5", "--save", kept.to_str().unwrap()];
    let output = headstart(folder.path(), &words).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stdout(&output).contains("Tables and graphs: "));
    let flat = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    for told in ["April 2019", "618 s", "125 s", "Growth there: quadratic. Here: "] {
        assert!(flat.contains(told), "{told}: {flat}");
    }
    let scale: Value = serde_json::from_slice(&fs::read(kept.join("scale.json")).unwrap()).unwrap();
    let sizes: Vec<u64> =
        scale["points"].as_array().unwrap().iter().map(|p| p["n"].as_u64().unwrap()).collect();
    assert_eq!(sizes, (0..17).map(|step| step * 100).collect::<Vec<u64>>());
    for name in ["plain.svg", "root.svg", "log.svg", "table.md"] {
        assert!(kept.join(name).is_file(), "{name}");
    }
    assert!(!kept.join("workloads").exists());
    let table = fs::read_to_string(kept.join("table.md")).unwrap();
    assert!(table.contains("| 1,600 | ") && table.contains("April 2019"), "{table}");
}

/// The files of the launch are evicted, so that nobody else's leave memory.
#[test]
fn whole_files_ranges_and_nothing_are_launched_in_turns() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("kept");
    let words = ["experiment", "pagein", "--evict", "-r", "2", "--json", "--save"];
    let words = [&words[..], &[kept.to_str().unwrap(), "--", "git", "--version"]].concat();
    let output = headstart(folder.path(), &words).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let forms = found["forms"].as_array().unwrap();
    let names: Vec<&str> = forms.iter().map(|form| form["form"].as_str().unwrap()).collect();
    assert_eq!(names, ["cold", "whole_files", "ranges", "warm"]);
    let asked: Vec<Option<u64>> =
        forms.iter().map(|form| form["asked"]["bytes"].as_u64()).collect();
    assert!(asked[0].is_none() && asked[3].is_none(), "{asked:?}");
    assert_eq!(asked[1], found["recording"]["file_bytes"].as_u64());
    assert!(asked[2] < asked[1] && asked[2] >= found["recording"]["recorded_bytes"].as_u64());
    for form in forms {
        assert_eq!(form["times_us"].as_array().unwrap().len(), 2);
        assert!(form["read"]["bytes"].is_u64() || form["read"]["unavailable"].is_string());
    }
    assert_eq!(found["cold"]["state"], "cold_evicted");
    assert_eq!(found["published"]["starts"][0]["mean_s"], 16.23);
    assert_eq!(files(&kept), ["launch.record", "pagein.json", "table.md"]);

    // The recording that was kept is as good as a new one.
    let record = kept.join("launch.record");
    let words = ["experiment", "pagein", "--evict", "-r", "1", "--record"];
    let words = [&words[..], &[record.to_str().unwrap(), "--", "git", "--version"]].concat();
    let shown = stdout(&headstart(folder.path(), &words).output().unwrap());
    let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["whole files first", "16.05 s", "(pagein)", "can be said from 10 rounds on"] {
        assert!(flat.contains(part), "{part}: {shown}");
    }
    assert!(!flat.contains("another program"), "{shown}");
}

#[test]
fn what_cannot_be_read_ahead_or_fails_is_no_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let failed = run(&["experiment", "pagein", "--evict", "-r", "1", "--", "false"]);
    assert_eq!(failed.status.code(), Some(4), "{}", stderr(&failed));
    assert!(stderr(&failed).contains("exit code 1"), "{}", stderr(&failed));
    let none = folder.path().join("none").display().to_string();
    let missing = run(&["experiment", "pagein", "--record", &none, "--", "true"]);
    assert_eq!(missing.status.code(), Some(6), "{}", stderr(&missing));

    // A copy of a program, recorded and then gone.
    let program = folder.path().join("program");
    fs::copy(testkit::find("true").unwrap(), &program).unwrap();
    let (program, record) = (program.to_str().unwrap(), folder.path().join("record"));
    let record = record.to_str().unwrap();
    let made = run(&["record", "--out", record, "--", program]);
    assert!(made.status.success(), "{}", stderr(&made));
    let other = ["experiment", "pagein", "--evict", "-r", "1", "--record", record, "--", "true"];
    let shown = stdout(&run(&other));
    assert!(shown.contains("The recording is of another program"), "{shown}");
}
