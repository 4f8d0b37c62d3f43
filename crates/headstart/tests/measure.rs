//! `headstart measure` as a command: its contract, its formats, and that no launch is lost.
#![allow(clippy::unwrap_used)]

mod common;

use common::{children, headstart, is_running, json, run, stderr, stdout, wait_for};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

fn launches(run: &Path) -> usize {
    fs::read_to_string(run.join("launches.jsonl")).unwrap_or_default().lines().count()
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = std::process::Command::new("kill").args(["-s", name, &pid]).status().unwrap();
    assert!(sent.success());
}

/// JSON that a script is to read has nothing else in it.
#[test]
fn what_programs_print_is_not_among_the_results() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("run").display().to_string();
    for shown in [&["--show-output"][..], &["--output", "inherit"]] {
        for format in ["--json", "--csv", "--markdown"] {
            let words = [&["measure", "-r", "2", format], shown, &["echo", "hi"]].concat();
            let output = run(&words);
            assert_eq!(output.status.code(), Some(2), "{words:?}");
            assert!(output.stdout.is_empty() && stderr(&output).contains("--export"), "{words:?}");
        }
    }
    let words = ["measure", "-r", "2", "-w", "0", "--show-output", "--save", &kept, "echo", "hi"];
    assert!(stdout(&run(&words)).contains("hi\n"));
    assert_eq!(run(&["measure", "--json", "--resume", &kept]).status.code(), Some(2));
    assert!(run(&["measure", "--resume", &kept]).status.success());
}

#[test]
fn json_has_what_scripts_rely_on() {
    let found = json(&["measure", "--runs", "7", "--json", "--", "sh", "-c", "exit 0"]);
    let variant = &found["variants"][0];
    assert_eq!(found["variants"].as_array().unwrap().len(), 1);
    assert_eq!(variant["runs"], 7);
    assert_eq!(variant["command"], "sh -c 'exit 0'");
    let us = |name: &str| variant[name].as_f64().unwrap();
    assert!(us("min_us") > 10.0);
    assert!(us("min_us") <= us("p10_us") && us("p10_us") <= us("median_us"));
    for counter in ["private_kib", "peak_rss_kib", "minor_faults", "major_faults", "read_bytes"] {
        let figure = &variant[counter];
        assert!(figure.is_u64() || figure["unavailable"].is_string(), "{counter}: {figure}");
    }
    assert!(variant["minor_faults"].as_u64().unwrap() > 5);
}

#[test]
fn a_line_of_words_and_its_variables_reach_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("said");
    let line = format!("WORD='a b' sh -c 'echo \"$WORD\" > {}'", file.display());
    assert!(run(&["measure", "-r", "1", &line]).status.success());
    assert_eq!(fs::read_to_string(file).unwrap(), "a b\n");
}

#[test]
fn every_format_is_printed_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (md, csv, hyperfine) = (path("x.md"), path("x.csv"), path("hyperfine.json"));
    let output = run(&[
        "measure",
        "-r",
        "3",
        "--ticks",
        "--export",
        &md,
        "--export",
        &csv,
        "--export-hyperfine",
        &hyperfine,
        "true",
    ]);
    let text = stdout(&output);
    assert!(text.contains("3 launches") && text.contains("Ticks/second: 1000000000"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(!text.contains('\u{1b}'), "color in a pipe: {text}");
    assert!(stderr(&output).is_empty(), "{}", stderr(&output));
    assert!(fs::read_to_string(md).unwrap().starts_with("| Command |"));
    assert!(fs::read_to_string(csv).unwrap().starts_with("name,command,runs,min_us"));
    let file: Value = serde_json::from_slice(&fs::read(hyperfine).unwrap()).unwrap();
    assert_eq!(file["results"][0]["times"].as_array().unwrap().len(), 3);
    assert!(stdout(&run(&["measure", "-r", "2", "--csv", "true"])).lines().count() == 2);
    assert!(stdout(&run(&["measure", "-r", "2", "--markdown", "true"])).starts_with('|'));
}

#[test]
fn a_killed_run_loses_nothing_leaves_nothing_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let run_folder = folder.path().join("run");
    let run_path = run_folder.to_str().unwrap();
    // The program leaves a child behind, marked by a time that nobody else sleeps.
    let program = "sleep 97.31 & sleep 0.01";
    let arguments = ["measure", "-r", "500", "--save", run_path, "--", "sh", "-c", program];
    let mut child = headstart(folder.path(), &arguments).stdout(Stdio::null()).spawn().unwrap();
    wait_for("some launches", || launches(&run_folder) > 4);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("the end of every process", || !is_running("97.31"));
    let before = launches(&run_folder);
    assert!(before > 4);
    let wanted = before as u32 + 20;
    let runs = wanted.to_string();
    let found = json(&["measure", "--resume", run_path, "-r", &runs, "--json"]);
    assert_eq!(found["variants"][0]["runs"], wanted);
    // Two launches warm up.
    assert_eq!(launches(&run_folder), wanted as usize + 2);
    assert!(!is_running("97.31"));
}

#[test]
fn an_interrupted_run_prints_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let run_folder = folder.path().join("run");
    let run_path = run_folder.to_str().unwrap();
    let arguments = ["measure", "-r", "500", "--save", run_path, "--", "sleep", "0.01731"];
    let mut command = headstart(folder.path(), &arguments);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("some launches", || launches(&run_folder) > 5);
    signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(stdout(&output).contains("median"), "{}", stdout(&output));
    assert!(stderr(&output).contains("--resume"), "{}", stderr(&output));
    assert!(!is_running("0.01731"));
}

#[test]
fn a_launcher_that_is_killed_ends_the_run_and_its_programs() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["measure", "-r", "3", "--", "sleep", "83.12"];
    let mut command = headstart(folder.path(), &arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // headstart's child is the guard, whose child is the launcher, whose child is the program.
    let only_child = |parent: u32| {
        wait_for("a child", || !children(parent).is_empty());
        children(parent)[0]
    };
    let launcher = only_child(only_child(child.id()));
    only_child(launcher);
    let launcher = launcher.to_string();
    assert!(std::process::Command::new("kill").args(["-9", &launcher]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(8), "{}", stderr(&output));
    wait_for("the end of the program", || !is_running("83.12"));
}

#[test]
fn processes_that_are_left_running_and_ended_are_told() {
    let left = ["--", "sh", "-c", "sleep 9 & exit 0"];
    for extra in [&["--jobs", "2"][..], &[]] {
        let output = run(&[&["measure", "-r", "3"], extra, &left].concat());
        let said = format!("{}{}", stdout(&output), stderr(&output));
        assert!(output.status.success(), "{said}");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("left processes running, which headstart ended"), "{said}");
    }
}

#[test]
fn several_launchers_are_compared_with_one() {
    let found = json(&["measure", "--jobs", "2", "-r", "20", "--json", "true"]);
    assert_eq!((&found["one"]["jobs"], &found["several"]["jobs"]), (&1.into(), &2.into()));
    assert_eq!(found["several"]["launches"], 40);
    assert!(found["several"]["per_second"].as_f64().unwrap() > 1.0);
}

#[test]
fn prepare_runs_before_every_round_and_must_succeed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rounds");
    let prepare = format!("sh -c 'echo round >> {}'", file.display());
    let arguments = ["measure", "-r", "4", "--warmup", "1", "--prepare", &prepare, "true"];
    assert!(run(&arguments).status.success());
    assert_eq!(fs::read_to_string(file).unwrap().lines().count(), 5);
    let output = run(&["measure", "-r", "4", "--prepare", "false", "true"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr(&output).contains("--prepare false"), "{}", stderr(&output));
}

#[test]
fn a_server_is_measured_until_it_is_ready_and_then_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ready");
    let program = format!("echo up; touch {}; sleep 61.47", file.display());
    let found = json(&[
        "measure",
        "-r",
        "3",
        "--json",
        "--until",
        "output:^up",
        "--",
        "sh",
        "-c",
        &program,
    ]);
    assert_eq!(found["variants"][0]["endings"][0]["ending"], "ready");
    assert!(found["variants"][0]["cpu_us"].as_f64().unwrap() > 0.0);
    let until = format!("file:{}", file.display());
    let prepare = format!("rm -f {}", file.display());
    let found = json(&[
        "measure",
        "-r",
        "3",
        "--json",
        "--until",
        &until,
        "--prepare",
        &prepare,
        "--",
        "sh",
        "-c",
        &program,
    ]);
    assert_eq!(found["variants"][0]["runs"], 3);
    assert!(!is_running("61.47"));
}

/// A launch is followed for private memory that is made anyway, or one more where that can do no harm.
#[test]
fn as_many_launches_are_made_as_is_documented() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("launches");
    let line = format!("sh -c 'echo >> {}'", file.display());
    for (words, least, extra) in [
        (&["-r", "3", "-w", "2"][..], 5, 0),
        // One more for private memory; and one for a peak that is smaller than the launcher's.
        (&["-r", "3", "-w", "0"], 4, 1),
        (&["-r", "1", "-w", "0"], 1, 1),
        (&["-r", "3", "-w", "0", "--prepare", "true"], 3, 0),
        (&["-r", "3", "-w", "1", "--prepare", "true"], 4, 0),
    ] {
        let found = json(&[&["measure", "--json"], words, &[&line]].concat());
        let launches = fs::read(&file).unwrap().len();
        assert!((least..=least + extra).contains(&launches), "{words:?}: {launches}");
        let private = &found["variants"][0]["private_kib"];
        assert!(private.is_u64() || private["unavailable"].is_string(), "{private}");
        fs::remove_file(&file).unwrap();
    }
}

/// As versions kept them that did not read private memory.
#[test]
fn a_run_without_private_memory_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("run").to_str().unwrap().to_owned();
    assert!(run(&["measure", "-r", "2", "-w", "1", "--save", &kept, "true"]).status.success());
    let launches = folder.path().join("run/launches.jsonl");
    let lines: Vec<String> = fs::read_to_string(&launches)
        .unwrap()
        .lines()
        .map(|line| {
            let mut sample: Value = serde_json::from_str(line).unwrap();
            sample.as_object_mut().unwrap().remove("private_kib");
            format!("{sample}\n")
        })
        .collect();
    fs::write(&launches, lines.concat()).unwrap();
    assert!(run(&["measure", "--resume", &kept, "-r", "3"]).status.success());
    let shown = run(&["measure", "--resume", &kept]);
    let said = stdout(&shown).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("private: no launch was made in which it could be read"), "{said}");
    assert_eq!(fs::read_to_string(&launches).unwrap().lines().count(), 4);
}
