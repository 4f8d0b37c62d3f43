//! `headstart verify` after changes.

use crate::common::stdout;
use crate::stage::{KINDS, Stage, run};
use std::fs;
use std::process::Command;

/// The changes that are told of `library`, and that the words name them.
fn changes(stage: &Stage, library: &str, words: &str) -> Vec<String> {
    let mut all = Vec::new();
    for kind in KINDS {
        let out = stage.text(kind);
        let output = run(&["verify", "--json", &out]);
        assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["current"], false);
        let told = run(&["verify", &out]);
        assert_eq!(told.status.code(), Some(1));
        let text = stdout(&told);
        assert!(text.contains(words) && text.contains(library), "{text}");
        let list = found["changes"].as_array().unwrap().iter();
        let mut list: Vec<String> = list
            .filter(|change| change["path"].as_str().unwrap().contains(library))
            .map(|change| change["what"].as_str().unwrap().to_owned())
            .collect();
        list.sort();
        all.push(list);
    }
    assert_eq!(all[0], all[1]);
    all.remove(0)
}

#[test]
fn content() {
    let Some(stage) = Stage::bundled() else { return };
    let path = stage.path("second/libtwo.so.1");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    fs::copy(stage.path("v2/libtwo.so.1"), &path).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert_eq!(changes(&stage, "libtwo.so.1", "SHA-256"), ["changed"]);
}

#[test]
fn the_same_content_in_another_file_is_current() {
    let Some(stage) = Stage::bundled() else { return };
    let path = stage.path("second/libtwo.so.1");
    fs::copy(&path, stage.path("copy")).unwrap();
    fs::rename(stage.path("copy"), &path).unwrap();
    assert!(KINDS.iter().all(|kind| run(&["verify", &stage.text(kind)]).status.success()));
}

#[test]
fn missing() {
    let Some(stage) = Stage::bundled() else { return };
    fs::remove_file(stage.path("third/libthree.so.1")).unwrap();
    let found = changes(&stage, "libthree.so.1", "No such file");
    assert!(found.contains(&"missing".to_owned()), "{found:?}");
}

#[test]
fn replaced_by_another_path() {
    let Some(stage) = Stage::bundled() else { return };
    fs::copy(stage.path("second/libone.so.1"), stage.path("first/libone.so.1")).unwrap();
    assert_eq!(changes(&stage, "libone.so.1", "the loader takes"), ["replaced"]);
}

#[test]
fn a_need_that_is_added_and_one_that_is_gone() {
    let Some(patchelf) = testkit::tool("patchelf") else { return };
    let Some(stage) = Stage::bundled() else { return };
    let library = stage.path("second/libtwo.so.1");
    let patch = |words: &[&str]| {
        assert!(Command::new(&patchelf).args(words).arg(&library).status().unwrap().success());
    };
    patch(&["--add-needed", "libm.so.6"]);
    assert_eq!(changes(&stage, "libtwo.so.1", "SHA-256"), ["changed"]);
    assert_eq!(changes(&stage, "libm.so.6", "the program needs libm.so.6 now"), ["added"]);
}
