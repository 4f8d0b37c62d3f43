//! `headstart cache status` and `cache evict`, by what the kernel counts.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, run, stderr, stdout};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

const PAGES: u64 = 300;

/// A file of so many pages that is in memory and on the disk.
fn file(folder: &Path, name: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, vec![1; 300 * 4096]).unwrap();
    std::fs::File::open(&path).unwrap().sync_all().unwrap();
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[test]
fn a_file_is_in_memory_until_it_is_evicted() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "file");
    let before = json(&["cache", "status", "--json", &path]);
    assert_eq!(before["totals"]["resident_pages"], PAGES);
    let evicted = json(&["cache", "evict", "--json", &path]);
    if evicted["files"][0]["reason"].as_str().is_some_and(|it| it.contains("in memory")) {
        return testkit::skip("the folder for temporary files is in memory");
    }
    assert_eq!((&evicted["evicted_pages"], &evicted["left_pages"]), (&PAGES.into(), &0.into()));
    let after = json(&["cache", "status", "--json", folder.path().to_str().unwrap()]);
    assert_eq!(
        (&after["totals"]["files"], &after["files"][0]["resident_pages"]),
        (&1.into(), &0.into())
    );
}

#[test]
fn the_files_of_a_launch_are_meant_by_its_command() {
    let found = json(&["cache", "status", "--json", "--", "sh", "-c", "exit 0"]);
    assert_eq!(found["command"], "sh -c 'exit 0'");
    let files = found["files"].as_array().unwrap();
    let sh = Path::new("/bin/sh").canonicalize().unwrap();
    assert!(files.iter().any(|file| file["path"] == sh.to_str().unwrap()), "{files:?}");
    let output = run(&["cache", "evict", "--", "sh", "-c", "exit 0"]);
    assert!(output.status.success() && stdout(&output).contains("mapped by"), "{output:?}");
}

#[test]
fn what_cannot_be_read_is_named_and_the_answer_is_no() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "file");
    let output = run(&["cache", "status", &path, "/no/such/file"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("300 of 300 pages of 1 file in memory"), "{output:?}");
    assert!(stderr(&output).contains("/no/such/file: No such file"), "{output:?}");
    assert_eq!(run(&["cache", "status"]).status.code(), Some(2));
    let root = run(&["cache", "evict", "--level", "remount", "/etc/passwd"]);
    assert!([Some(1), Some(7)].contains(&root.status.code()), "{root:?}");
}

#[test]
fn to_strangers_it_is_unknown_and_not_zero() {
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("headstart");
    std::fs::copy(env!("CARGO_BIN_EXE_headstart"), &program).unwrap();
    let path = file(folder.path(), "file");
    std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let as_stranger = |words: &[&str]| {
        let mut command = Command::new(&setpriv);
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&program);
        command.args(words).arg(&path).output().unwrap()
    };
    let output = as_stranger(&["cache", "status"]);
    if stderr(&output).starts_with("setpriv") {
        return testkit::skip("only root can become another user");
    }
    assert!(stdout(&output).contains("it is not known how much is in memory"), "{output:?}");
    let output = as_stranger(&["cache", "evict", "--json"]);
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["left_pages"]["unavailable"].is_string(), "{found}");
    // Though it cannot know it, it has evicted the file.
    let after = json(&["cache", "status", "--json", &path]);
    let left = &after["totals"]["resident_pages"];
    assert!(
        left == 0
            || left == PAGES && stdout(&run(&["cache", "evict", &path])).contains("in memory")
    );
    let output = as_stranger(&["cache", "evict", "--level", "drop"]);
    assert_eq!(output.status.code(), Some(7), "{output:?}");
    assert!(!stderr(&output).contains("note: this empties"), "nothing is emptied: {output:?}");
}
