//! Recordings in a container, where the launch's processes have other numbers than the kernel's trace has, and
//! recordings that the user ends.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod common;

use common::{is_running, json, stderr, wait_for};
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

const READS: &str = r#"
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char byte;
    int data = open(argv[1], O_RDONLY), state;
    if (pread(data, &byte, 1, 40 * 4096) != 1) return 1;
    if (fork() == 0) _exit(pread(data, &byte, 1, 7 * 4096) != 1);
    return wait(&state) < 0 || state != 0;
}"#;

#[test]
fn a_recording_in_a_pid_namespace_has_the_pages_of_the_launch_and_of_its_children() {
    let Some(cc) = testkit::tool("gcc") else { return };
    if os::program::own_user() != 0 {
        return testkit::skip("exact recordings need root");
    }
    // Not in memory, as /tmp often is.
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let program = testkit::compile(&cc, folder.path(), "reads", READS, &[]);
    let data = folder.path().join("data");
    fs::write(&data, vec![1; 200 * 4096]).unwrap();
    File::open(&data).unwrap().sync_all().unwrap();
    let record = folder.path().join("record");
    let made = Command::new("unshare")
        .args(["--pid", "--fork", "--mount", "--mount-proc"])
        .arg(env!("CARGO_BIN_EXE_headstart"))
        .args(["record", "--out", record.to_str().unwrap(), "--"])
        .args([&program, &data])
        .output()
        .unwrap();
    let why = stderr(&made);
    if !made.status.success() && (why.contains("unshare:") || why.contains("not permitted")) {
        return testkit::skip(&format!("no namespace, or no recording in it: {why}"));
    }
    assert!(made.status.success(), "{why}");
    let shown = json(&["record", "--json", record.to_str().unwrap()]);
    assert_eq!(shown["mode"], "exact", "{shown}");
    assert_eq!(pages(&shown, &data), [40, 7], "{shown}");
    assert!(!pages(&shown, &program).is_empty(), "{shown}");
}

#[test]
fn an_interrupted_recording_says_that_nothing_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let seconds = format!("30.{}", std::process::id());
    let words = ["record", "--out", record.to_str().unwrap(), "--", "sleep", &seconds];
    let command = common::headstart(folder.path(), &words).stderr(Stdio::piped()).spawn().unwrap();
    wait_for("the launch", || is_running(&seconds) && started(command.id()));
    let kill = Command::new("kill").args(["-INT", &command.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let ended = command.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", stderr(&ended));
    assert!(
        stderr(&ended).contains("nothing is kept of an unfinished recording"),
        "{}",
        stderr(&ended)
    );
    assert!(!record.exists());
    wait_for("the end of the launch", || !is_running(&seconds));
}

/// Whether it has started something, beside which it waits.
fn started(headstart: u32) -> bool {
    !common::children(headstart).is_empty()
}

/// Pages of a file in order of first touch.
fn pages(shown: &Value, path: &Path) -> Vec<u64> {
    let files = shown["files"].as_array().unwrap();
    let file = files.iter().find(|file| Path::new(file["path"].as_str().unwrap()) == path).unwrap();
    let ranges = file["ranges"].as_array().unwrap().iter();
    let pages = ranges.flat_map(|range| {
        let [offset, bytes] = [0, 1].map(|field| range[field].as_u64().unwrap());
        offset / 4096..(offset + bytes).div_ceil(4096)
    });
    pages.collect()
}
