//! `headstart explain` as a command.
#![allow(clippy::unwrap_used)]

mod common;

use common::{confined, headstart, is_running, json, run, stderr, stdout, wait_for};
use serde_json::Value;
use std::process::Stdio;

fn sum(found: &Value) -> f64 {
    let phases = found["phases"].as_array().unwrap().iter();
    phases.map(|phase| phase["us"].as_f64().unwrap()).sum()
}

#[test]
fn json_has_what_scripts_rely_on() {
    let found = json(&["explain", "--json", "--", "sh", "-c", "ls / > /dev/null; exit 0"]);
    let total = found["total_us"].as_f64().unwrap();
    assert!((sum(&found) - total).abs() < 1e-3, "{} of {total}", sum(&found));
    let module = &found["modules"][0];
    assert!(module["path"].as_str().unwrap().starts_with('/'));
    for figure in ["map_us", "relocate_us", "init_us"] {
        assert!(module[figure].is_number() || module[figure]["unavailable"].is_string());
    }
    let processes = found["processes"].as_array().unwrap();
    let has = |name: &str| processes.iter().any(|p| p["path"].as_str().unwrap().ends_with(name));
    assert!(has("/ls"), "{processes:?}");
    for finding in found["findings"].as_array().unwrap() {
        for text in ["id", "cause", "remedy"] {
            assert!(!finding[text].as_str().unwrap().is_empty(), "{finding}");
        }
        assert!(finding["evidence"].is_array());
        assert!(finding["cost_us"].is_number() || finding["cost_us"]["unavailable"].is_string());
    }
}

#[test]
fn a_saved_run_can_be_explained_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let output = run(&["explain", "-r", "2", "--save", path.to_str().unwrap(), "true"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    let inputs: explain::Inputs = serde_json::from_str(&text("inputs.json")).unwrap();
    let saved: model::Explanation = serde_json::from_str(&text("explanation.json")).unwrap();
    assert_eq!(explain::explain(&inputs), saved);
    // A warm-up and two untraced launches before, between and after the traced ones.
    assert_eq!(text("launches.jsonl").lines().count(), 7);
    let again = run(&["explain", "--save", path.to_str().unwrap(), "true"]);
    assert_eq!(again.status.code(), Some(6));
}

#[test]
fn the_view_fits_a_terminal() {
    let output = run(&["explain", "-r", "1", "sh", "-c", "exit 0"]);
    let text = stdout(&output);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // On a busy machine a single launch may be so long that nothing stands out.
    assert!(text.contains("What costs time") || text.contains("Nothing stands out"), "{text}");
    assert!(text.contains("Where the figures come from"), "{text}");
}

#[test]
fn a_server_is_explained_up_to_the_moment_when_it_is_ready() {
    let program = "echo up; sleep 71.53";
    let found = json(&["explain", "--json", "--until", "output:up", "--", "sh", "-c", program]);
    let total = found["total_us"].as_f64().unwrap();
    assert!(total < 1e6, "{total}");
    assert!((sum(&found) - total).abs() < 1e-3);
    assert!(!is_running("71.53"));
}

#[test]
fn a_killed_explanation_leaves_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let arguments = ["explain", "--", "sh", "-c", "sleep 0.0941"];
        let mut command = headstart(folder.path(), &arguments);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        wait_for("the program", || is_running("0.0941"));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for("the end of the program", || !is_running("0.0941"));
    }
}

#[test]
fn where_tracing_is_refused_the_best_remaining_source_is_named() {
    let Some(run) = confined("SYS_ptrace,SYS_perf_event_open") else { return };
    let output = run(&["explain", "-r", "2", "--json", "--", "sh", "-c", "exit 0"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let total = found["total_us"].as_f64().unwrap();
    assert!((sum(&found) - total).abs() < 1e-3);
    let source = |figures: &str| {
        let sources = found["sources"].as_array().unwrap();
        let found = sources.iter().find(|source| source["figures"] == figures).unwrap();
        (found["mechanism"].as_str().unwrap(), found["caveat"].as_str().unwrap())
    };
    assert_eq!(source("phases").0, "LD_DEBUG");
    assert!(source("phases").1.contains("ptrace is not permitted"), "{:?}", source("phases"));
    assert_eq!(source("faults").0, "getrusage, totals only");
    assert_eq!(source("files").0, "none");
    assert!(found["files"]["unavailable"].is_string() && found["cpuid"]["unavailable"].is_string());
    assert!(found["faults"]["minor"].as_u64().unwrap() > 10);
    assert!(found["modules"].as_array().unwrap().len() >= 2);
    let text = stdout(&run(&["explain", "-r", "1", "sh", "-c", "exit 0"]));
    assert!(text.contains("unavailable") && text.contains("cap-add"), "{text}");
    let text = stdout(&run(&["measure", "-r", "3", "sh", "-c", "exit 0"]));
    assert!(text.contains("median"), "{text}");
}
