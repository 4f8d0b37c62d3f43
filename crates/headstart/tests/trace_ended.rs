//! How `headstart trace` ends, and what its trace then says.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, stderr, wait_for};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Traces into `t` of the folder.
fn trace(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = headstart(folder, &[&["trace", "--out", "t"], arguments].concat());
    command.current_dir(folder);
    command
}

fn header(folder: &Path) -> Value {
    let trace = fs::read_to_string(folder.join("t")).unwrap();
    serde_json::from_str(trace.lines().next().unwrap()).unwrap()
}

fn has_note(folder: &Path, part: &str) -> bool {
    let header = header(folder);
    let notes = header["notes"].as_array().into_iter().flatten();
    notes.filter(|note| note.as_str().unwrap().contains(part)).count() == 1
}

fn code_and_words(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), stderr(output))
}

#[test]
fn an_interrupted_trace_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let said = folder.path().join("said");
    let script = "trap 'echo asked >> said; exit 7' TERM; echo begun >> said; sleep 1000 & wait";
    let mut command = trace(folder.path(), &["--", "sh", "-c", script]);
    let child = command.stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the program", || fs::read_to_string(&said).is_ok_and(|said| said == "begun\n"));
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let (code, words) = code_and_words(&child.wait_with_output().unwrap());
    assert_eq!(code, Some(143), "{words}");
    assert!(words.contains("interrupted; the calls until then are in the trace"), "{words}");
    // The program ends in its own way.
    assert_eq!(fs::read_to_string(&said).unwrap(), "begun\nasked\n");
    assert_eq!(header(folder.path())["ending"]["code"], 7);
    assert!(has_note(folder.path(), "headstart was interrupted"));
    assert!(fs::read_to_string(folder.path().join("t")).unwrap().lines().count() > 100);
}

#[test]
fn a_sign_that_never_came_is_told() {
    let folder = tempfile::tempdir().unwrap();
    for (until, program) in [("output:ready", "true"), ("file:absent", "true")] {
        let output = trace(folder.path(), &["--until", until, "--", program]).output().unwrap();
        let (code, words) = code_and_words(&output);
        assert_eq!(code, Some(4), "{words}");
        let expected =
            format!("ended with exit code 0 before it was ready (--until {until}); the calls");
        assert!(words.contains(&expected), "{words}");
        assert!(has_note(folder.path(), &format!("'--until {until}' never came true")));
    }
    // The last words of a program count.
    let arguments = ["--until", "output:ready", "--", "echo", "ready"];
    let output = trace(folder.path(), &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(header(folder.path())["ending"], "ready");
}

#[test]
fn a_file_that_is_there_already_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("sign"), "").unwrap();
    let output = trace(folder.path(), &["--until", "file:sign", "--", "true"]).output().unwrap();
    let (code, words) = code_and_words(&output);
    assert_eq!(code, Some(3), "{words}");
    assert!(words.contains("sign already exists before the launch; remove it"), "{words}");
    assert!(!words.contains("--prepare"), "there is no such option: {words}");
}

/// Root may read everything, so another user traces.
#[test]
fn a_program_that_may_not_be_read_is_refused_or_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("program");
    fs::copy("/bin/true", &program).unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, PermissionsExt::from_mode(mode));
    mode(folder.path(), 0o777).unwrap();
    mode(&program, 0o711).unwrap();
    let as_another = |arguments: &[&str]| {
        let traced = trace(folder.path(), arguments);
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
        command.arg(traced.get_program()).args(traced.get_args()).current_dir(folder.path());
        command.output().ok()
    };
    let may_run = as_another(&["--", "true"]).is_some_and(|output| output.status.success());
    if !may_run {
        println!("SKIPPED: needs root and setpriv (apt-get install util-linux)");
        return;
    }
    let (code, words) = code_and_words(&as_another(&["--", "./program"]).unwrap());
    assert_eq!(code, Some(7), "{words}");
    assert!(words.contains("'./program' may only be executed"), "{words}");
    let (code, words) = code_and_words(&as_another(&["--", "sh", "-c", "./program; :"]).unwrap());
    assert_eq!(code, Some(0), "{words}");
    assert!(has_note(folder.path(), "'./program': its functions are not recorded"), "{words}");
    let header = header(folder.path());
    let programs = header["programs"].as_array().unwrap();
    assert_eq!(programs.last().unwrap()["path"], "./program", "{header}");
}
