//! `--export FILE` replaces an older result, and nothing that could be started.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod common;

use common::{run, stderr};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_program_that_is_measured_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::copy("/bin/true", path("program.json")).unwrap();
    let before = fs::read(path("program.json")).unwrap();
    symlink("program.json", path("link.json")).unwrap();
    fs::hard_link(path("program.json"), path("hard.csv")).unwrap();
    let program = path("program.json");
    for name in ["program.json", "link.json", "hard.csv"] {
        let file = path(name);
        for option in ["--export", "--export-hyperfine"] {
            let words = ["measure", "--runs", "3", option, text(&file), "--", text(&program)];
            let output = run(&words);
            let said = stderr(&output);
            assert_eq!(output.status.code(), Some(6), "{words:?}: {said}");
            assert!(said.contains(name) && said.contains("choose another file"), "{said}");
            assert!(fs::read(&program).unwrap() == before, "{words:?}");
            assert_eq!(fs::read_link(path("link.json")).unwrap(), Path::new("program.json"));
            assert_eq!(fs::metadata(&program).unwrap().nlink(), 2, "{words:?}");
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "nothing is left beside them");
}

#[test]
fn an_older_result_is_replaced_also_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("results.json"), "older").unwrap();
    fs::set_permissions(path("results.json"), fs::Permissions::from_mode(0o600)).unwrap();
    symlink("results.json", path("link.json")).unwrap();
    let link = path("link.json");
    let words = ["measure", "--runs", "3", "--export", text(&link), "--", "/bin/true"];
    let output = run(&words);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(path("link.json").is_symlink());
    let written = fs::read_to_string(path("results.json")).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&written).is_ok(), "{written}");
    let mode = fs::metadata(path("results.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "who may read it stays");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Opening one would wait for its other end, whatever signal comes.
#[test]
fn a_named_pipe_is_refused_before_anything_is_launched() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.json");
    let pipe = pipe.to_str().unwrap();
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    for option in ["--export", "--export-csv", "--input", "--output"] {
        let output = run(&["measure", "-r", "2", option, pipe, "true"]);
        assert!(matches!(output.status.code(), Some(2 | 6)), "{option}: {}", stderr(&output));
        let said = stderr(&output).replace('\n', " ");
        assert!(said.contains("named pipe") && said.contains("file"), "{option}: {said}");
    }
}
