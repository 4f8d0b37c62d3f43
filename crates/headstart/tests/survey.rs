//! `headstart pe survey` beside the commands that its findings name: each cures what it is named
//! for.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

use image::pe::Pe;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use workload::{Arch, Bases, By, Format, Hints, PeOptions, Pietrek};

fn headstart(words: &[&str], files: &[PathBuf]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
    let output = command.args(words).args(files).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {errors}");
    output.stdout
}

fn set(files: &[PathBuf]) -> Value {
    serde_json::from_slice(&headstart(&["pe", "survey", "--json"], files)).unwrap()
}

fn findings(set: &Value) -> Vec<String> {
    let findings = set["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

/// Three DLLs at one base, with hints of zero, and the program that imports from them.
fn workload(folder: &Path) -> Vec<PathBuf> {
    let pe = PeOptions { hints: Hints::Zero, bases: Bases::Default, ..PeOptions::default() };
    let (dlls, functions, globals, arch) = (3, 20, 2, Arch::X86_64);
    let by = By::Name;
    let asked = Pietrek { dlls, functions, globals, by, format: Format::Pe, arch, lazy: false, pe };
    let files = (0..=dlls).map(|index| {
        let (name, bytes) = workload::pe::pietrek::file(&asked, index).unwrap();
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    });
    files.collect()
}

fn rewritten(words: &[&str], files: &[PathBuf], out: &Path) -> Vec<PathBuf> {
    let folder = out.to_string_lossy().into_owned();
    headstart(&[words, &["--out", &folder]].concat(), files);
    files.iter().map(|file| out.join(file.file_name().unwrap())).collect()
}

/// The same time stamp for all, and no checksum.
fn make_twins(files: &[PathBuf]) {
    for path in files {
        let mut bytes = std::fs::read(path).unwrap();
        let headers = Pe::parse("twin", &bytes).unwrap().headers().clone();
        let at = headers.time_stamp_offset().index();
        bytes[at..at + 4].copy_from_slice(&7_u32.to_le_bytes());
        let at = headers.checksum_offset().index();
        bytes[at..at + 4].fill(0);
        std::fs::write(path, bytes).unwrap();
    }
}

#[test]
fn every_remedy_cures_its_finding() {
    let folder = tempfile::tempdir().unwrap();
    let files = workload(folder.path());
    make_twins(&files[1..]);
    let before = set(&files);
    let all = ["collisions", "wrong-hints", "file-alignment", "same-stamps"];
    assert_eq!(findings(&before), all);
    assert_eq!(before["twins"][0]["extra_system_calls"], 6);

    let moved =
        rewritten(&["pe", "rebase", "--auto", "--checksum"], &files, &folder.path().join("1"));
    assert_eq!(findings(&set(&moved)), ["wrong-hints", "file-alignment"]);
    let hinted = rewritten(&["pe", "hints"], &moved, &folder.path().join("2"));
    assert_eq!(findings(&set(&hinted)), ["file-alignment"]);
    let words = ["pe", "realign", "--file-alignment", "4096"];
    let aligned = rewritten(&words, &hinted, &folder.path().join("3"));
    let after = set(&aligned);
    assert_eq!(findings(&after), Vec::<String>::new());
    assert_eq!(after["collisions"]["moved"], serde_json::json!([]));
    for file in after["files"].as_array().unwrap() {
        assert_eq!(file["problems"], serde_json::json!([]), "{file}");
    }
}

#[test]
fn bindings_are_valid_until_a_dll_changes() {
    let folder = tempfile::tempdir().unwrap();
    let files = workload(folder.path());
    let moved = rewritten(&["pe", "rebase", "--auto"], &files, &folder.path().join("1"));
    // There is room for the table of bound imports then.
    let words = ["pe", "realign", "--file-alignment", "4096"];
    let aligned = rewritten(&words, &moved, &folder.path().join("2"));
    let bound = rewritten(&["pe", "bind"], &aligned, &folder.path().join("3"));
    let states = |files: &[PathBuf]| -> Vec<Value> {
        let set = set(files);
        let program = set["files"].as_array().unwrap().iter().find(|f| f["kind"] == "program");
        let dlls = program.unwrap()["bound"].as_array().unwrap().iter();
        dlls.map(|dll| dll["valid"].clone()).collect()
    };
    let valid = states(&bound);
    assert_eq!(valid.iter().filter(|state| **state == true).count(), 3, "{valid:?}");
    assert!(!findings(&set(&bound)).contains(&"stale-bindings".to_owned()));
    let dll = bound.iter().find(|path| path.ends_with("LoadTimeDLL_2.dll")).unwrap();
    make_twins(std::slice::from_ref(dll));
    let stale = states(&bound);
    assert_eq!(stale.iter().filter(|state| **state == false).count(), 1, "{stale:?}");
    assert!(findings(&set(&bound)).contains(&"stale-bindings".to_owned()));
}
