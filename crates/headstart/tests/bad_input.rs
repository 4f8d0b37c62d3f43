//! What goes wrong, as users meet it: one clear sentence, an exit code, and nothing left behind.
#![allow(clippy::unwrap_used)]

mod common;

use common::{is_running, run, stderr, stdout};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Every verb that launches meets the same programs.
fn fails(words: &[&str], code: i32, says: &str) {
    for verb in ["measure", "explain"] {
        let arguments: Vec<&str> =
            [verb, "--timeout", "2s", "--"].into_iter().chain(words.iter().copied()).collect();
        let output = run(&arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(says), "{arguments:?}: {text}");
        assert!(stdout(&output).is_empty(), "{arguments:?}: {}", stdout(&output));
    }
}

fn executable(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn programs_that_cannot_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| executable(folder.path(), name, bytes);
    let shell = fs::read("/bin/sh").unwrap();
    let mut other = shell.clone();
    other[18] = 183;
    fails(&["no-such-program-here"], 3, "check the spelling");
    fails(&["/no/such/program"], 3, "does not exist");
    fails(&["/etc/passwd"], 3, "chmod +x");
    fails(&["/tmp"], 3, "is a folder");
    fails(&[&file("script", b"#!/no/such/interpreter\n")], 3, "/no/such/interpreter");
    fails(&[&file("text", b"echo hello\n")], 3, "without a '#!' line");
    fails(&[&file("empty", b"")], 3, "the file is empty");
    fails(&[&file("other", &other)], 3, "AArch64");
    fails(&[&file("header", &shell[..40])], 3, "check it with: headstart inspect '/");
}

#[test]
fn what_helps_is_told_as_it_is_typed() {
    let folder = tempfile::tempdir().unwrap();
    let file = executable(folder.path(), "present", b"");
    let until = format!("file:{file}");
    for (options, says) in [
        (["--cpu", "1000"], "choose a CPU that taskset -cp $$ lists, or use --no-pin\n"),
        (["--until", &until], "remove it, or let --prepare remove it before each launch\n"),
    ] {
        let output = run(&[&["measure", "--runs", "5"][..], &options, &["true"]].concat());
        assert!(stderr(&output).ends_with(says), "{options:?}: {}", stderr(&output));
    }
    let checks: serde_json::Value =
        serde_json::from_slice(&run(&["doctor", "--json"]).stdout).unwrap();
    for (id, option) in [
        ("realtime", "--realtime "),
        ("locked-memory", "--realtime can"),
        ("drop-caches", "--cold "),
    ] {
        let check = checks.as_array().unwrap().iter().find(|check| check["id"] == id).unwrap();
        assert!(check["effect"].as_str().unwrap().starts_with(option), "{check}");
    }
}

#[test]
fn programs_that_fail() {
    let folder = tempfile::tempdir().unwrap();
    let shell = fs::read("/bin/sh").unwrap();
    let torn = executable(folder.path(), "torn", &shell[..6000]);
    fails(&[&torn], 4, "signal");
    fails(&["sh", "-c", "echo because >&2; exit 9"], 4, "exit code 9");
    fails(&["sh", "-c", "echo because >&2; exit 9"], 4, "| because");
    fails(&["sh", "-c", "exit 9"], 4, "--ignore-failure");
    fails(&["sh", "-c", "kill -SEGV $$"], 4, "signal 11");
    fails(&["sleep", "53.77"], 5, "--timeout");
    assert!(!is_running("53.77"));
    let output = run(&["measure", "-r", "3", "-i", "false"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).contains("3 of 3 launches failed"), "{}", stdout(&output));
}

#[test]
fn programs_that_stay() {
    // A daemon in a session of its own; a program that ignores requests to end.
    let daemon = "setsid sh -c 'trap \"\" TERM HUP; sleep 47.19; sleep 47.19' & exit 0";
    let output = run(&["measure", "-r", "2", "--warmup", "0", "--", "sh", "-c", daemon]);
    assert!(output.status.success(), "{}", stderr(&output));
    let flat = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "left processes running, which headstart ended; use --until to say when such a \
                program is ready.";
    assert!(flat.contains(told), "{flat}");
    assert!(!is_running("47.19"));
    let output = run(&["explain", "-r", "1", "--", "sh", "-c", daemon]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!is_running("47.19"));
    let output = run(&["measure", "--until", "output:never", "-r", "2", "--", "true"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(stderr(&output).contains("before it was ready"), "{}", stderr(&output));
}

#[test]
fn folders_and_files_that_cannot_be_written() {
    let output = run(&["measure", "-r", "2", "--save", "/proc/no", "true"]);
    assert_eq!(output.status.code(), Some(6));
    assert!(stderr(&output).contains("--save"), "{}", stderr(&output));
    let output = run(&["measure", "-r", "2", "--export", "/proc/no.json", "true"]);
    assert_eq!(output.status.code(), Some(6));
    assert!(stdout(&output).contains("median"), "the results are printed all the same");
    let output = run(&["measure", "--resume", "/no/such/run"]);
    assert_eq!(output.status.code(), Some(6));
    // Without a place for runs a measurement works and says that it is not kept.
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let output = common::headstart(&file, &["measure", "-r", "2", "true"]).output().unwrap();
    assert!(output.status.success());
    assert!(stdout(&output).contains("not kept on disk"), "{}", stdout(&output));
}

#[test]
fn command_lines_that_are_wrong() {
    for (arguments, says) in [
        (&["measure"][..], "CMD"),
        (&["explain", "ls | wc"][..], "sh -c"),
        (&["measure", "--precision", "5", "true"][..], "such as 1%"),
        (&["measure", "--until", "ready", "true"][..], "port:NUMBER"),
        (&["measure", "--jobs", "2", "--cold", "true"][..], "cannot be used with"),
        (&["measure", "--runs", "0", "true"][..], "0"),
        (&["compare"][..], "CMD"),
        (&["compare", "true", "sh 'x"][..], "quotation mark"),
        (&["explain"][..], "CMD"),
    ] {
        let output = run(arguments);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(text.contains(says), "{arguments:?}: {text}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let binary = env!("CARGO_BIN_EXE_headstart");
    let line = format!(
        "'{binary}' inspect --json /bin/sh | head -c 1 > /dev/null; exit ${{PIPESTATUS[0]}}"
    );
    let status = std::process::Command::new("bash").args(["-c", &line]).status().unwrap();
    assert_eq!(status.code(), Some(0));
}
