//! `headstart compare` as a command.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};

#[test]
fn json_has_what_scripts_rely_on() {
    let slow = "sh -c 'sleep 0.02'";
    let found = json(&["compare", "--runs", "12", "--json", "--", "sh -c :", slow]);
    let variants = found["variants"].as_array().unwrap();
    let names: Vec<_> = variants.iter().map(|variant| variant["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["A", "B"]);
    assert_eq!(variants[1]["command"], "sh -c 'sleep 0.02'");
    for name in ["min_us", "p10_us", "median_us"] {
        assert!(variants[0][name].as_f64().unwrap() < variants[1][name].as_f64().unwrap());
    }
    let effect = &found["effects"][0];
    assert_eq!((&effect["baseline"], &effect["variant"]), (&"A".into(), &"B".into()));
    assert_eq!(effect["verdict"], "slower");
    let us = |name: &str| effect[name].as_f64().unwrap();
    assert!(us("low") > 1.0 && us("low") <= us("ratio") && us("ratio") <= us("high"));
}

#[test]
fn a_slower_command_fails_where_that_is_asked_for() {
    let arguments = |limit| {
        let commands = ["sh -c :", "sh -c 'sleep 0.02'"];
        ["compare", "-r", "12", "-n", "old", "-n", "new", "--fail-if-slower", limit]
            .into_iter()
            .chain(commands)
            .collect::<Vec<_>>()
    };
    let output = run(&arguments("5%"));
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("new is "), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("new takes") && text.contains("as long as old"), "{text}");
    assert_eq!(run(&arguments("100000%")).status.code(), Some(0));
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let order = |seed| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let run_path = path.to_str().unwrap();
        run(&["compare", "-r", "8", "--seed", seed, "--save", run_path, "true", "false", "-i"]);
        let text = std::fs::read_to_string(path.join("launches.jsonl")).unwrap();
        let launches =
            text.lines().map(|line| -> serde_json::Value { serde_json::from_str(line).unwrap() });
        launches.map(|launch| launch["variant"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(order("7"), order("7"));
    assert_ne!(order("7"), order("8"));
}

#[test]
fn a_run_that_goes_on_knows_its_commands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let path = path.to_str().unwrap();
    assert!(run(&["compare", "-r", "4", "--save", path, "true", "sh -c :"]).status.success());
    let found = json(&["compare", "--resume", path, "-r", "6", "--json"]);
    assert_eq!(found["variants"][1]["runs"], 6);
    let output = run(&["compare", "--resume", path, "true", "false"]);
    assert_eq!(output.status.code(), Some(2));
    // What was asked for is kept with the run: nothing is ignored in silence.
    for option in [&["--show-output"][..], &["-N"], &["--name", "x"], &["-L", "x", "1,2"]] {
        let output = run(&[&["compare", "--resume", path], option].concat());
        assert_eq!(output.status.code(), Some(2), "{option:?}");
    }
    let output = run(&["compare", "--save", path, "true", "false"]);
    assert_eq!(output.status.code(), Some(6));
    assert!(stderr(&output).contains("--resume"), "{}", stderr(&output));
}
