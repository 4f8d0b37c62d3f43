//! `headstart experiment openoffice` as a command, on a small program.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, run, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::path::Path;

const BUILD: &str = "gcc -O1 -ffunction-sections -fuse-ld=lld -B /usr/lib/llvm-19/bin \
                     -Wl,--symbol-ordering-file=@ORDER@ -o @OUT@ small.c";

/// Functions of two kilobytes, called in the opposite order of the file.
fn source() -> String {
    let mut text = "static volatile int sink;\n".to_owned();
    for number in 0..100 {
        let body = "sink += sink * 3;".repeat(100);
        text += &format!("__attribute__((noinline)) void f_{number}(void) {{ {body} }}\n");
    }
    let calls: String = (0..10).rev().map(|number| format!("f_{}();", number * 9)).collect();
    text + &format!("int main(int argc, char **argv) {{ {calls} return argc > 3; }}\n")
}

fn small(folder: &Path) {
    fs::create_dir(folder.join("small")).unwrap();
    fs::write(folder.join("small/small.c"), source()).unwrap();
}

#[test]
fn tables_order_and_reads_are_kept_and_the_published_ones_are_beside() {
    if testkit::tool("gcc").is_none() || testkit::tool("ld.lld-19").is_none() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    small(folder.path());
    let words = ["experiment", "openoffice", "--source", "small", "--build", BUILD];
    let more = ["--launch=a b", "--held-out", "x", "-r", "3", "--cold-runs", "0", "--save", "kept"];
    let made = |more: &[&str]| {
        let mut command = headstart(&folder.path().join("cache"), &[&words[..], more].concat());
        command.current_dir(&folder).output().unwrap()
    };
    let output = made(&[&more[..], &["--json"]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let pages = |build: &str| found["verification"][build]["pages"].as_u64().unwrap();
    assert!(pages("new") < pages("old"), "{found}");
    assert_eq!(found["published"]["modules"][0]["module"], "swmi.dll");
    let command = found["verification"]["old"]["command"].as_str().unwrap();
    assert!(command.ends_with("/before/small a b"), "{command}");
    let mut kept: Vec<_> = fs::read_dir(folder.path().join("kept")).unwrap().flatten().collect();
    kept.sort_by_key(fs::DirEntry::file_name);
    let kept: Vec<_> = kept.iter().map(|entry| entry.file_name().into_string().unwrap()).collect();
    assert_eq!(kept, ["openoffice.json", "reads.csv", "small.order", "table.md"]);
    let order = fs::read_to_string(folder.path().join("kept/small.order")).unwrap();
    let first = order.lines().find(|line| line.starts_with("f_"));
    assert_eq!(first, Some("f_81"), "{order}");

    let again = made(&more);
    assert_eq!(again.status.code(), Some(2), "{}", stderr(&again));
    assert!(stderr(&again).contains("is not empty: name a new folder with --save"));
    let shown = stdout(&made(&["-r", "3", "--cold-runs", "0"]));
    for wanted in ["pagein", "Athlon XP 2800+", "2009", "fwkmi.dll", "The effects, there and here"]
    {
        assert!(shown.contains(wanted), "{wanted}: {shown}");
    }
}

#[test]
fn what_is_wrong_is_told_before_anything_is_built() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().to_str().unwrap();
    for (more, code, wanted) in [
        (&["--source", source][..], 2, "--build"),
        (&["--launch", "x"], 2, "--source"),
        (&["--program", "clang", "--source", source, "--build", "x"], 2, "cannot be used with"),
        (&["--source", source, "--build", "ld -o @OUT@"], 2, "@ORDER@ is missing"),
        (&["--source", "/no/folder", "--build", "ld @ORDER@ @OUT@"], 6, "/no/folder"),
        (&["--source", source, "--build", "exit 3 # @ORDER@ @OUT@"], 4, "ended with code 3"),
    ] {
        let output = run(&[&["experiment", "openoffice"], more].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{more:?}: {said}");
        assert!(said.contains(wanted), "{more:?}: {said}");
    }
}
