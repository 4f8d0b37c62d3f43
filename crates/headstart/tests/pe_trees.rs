//! `headstart pe survey` of trees in which files of several folders have the same name: what it
//! advises is followed, and cures what it is advised for.
#![allow(clippy::unwrap_used)]

mod common;

use common::{json, pe, run, stderr};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 3] = ["one", "two", "three"];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Two copies of a set, and another version of it.
fn tree(root: &Path) {
    for (folder, functions) in [("one", "10"), ("three", "20")] {
        let sizes = ["--dlls", "3", "--functions", functions, "--hints", "zero"];
        pe::set(&root.join(folder), &sizes);
    }
    fs::create_dir(root.join("two")).unwrap();
    for file in pe::files(&root.join("one")) {
        fs::copy(&file, root.join("two").join(file.file_name().unwrap())).unwrap();
    }
}

fn survey(root: &Path) -> Value {
    json(&["pe", "survey", "--json", text(root)])
}

fn finding<'a>(set: &'a Value, id: &str) -> Option<&'a Value> {
    set["findings"].as_array().unwrap().iter().find(|finding| finding["id"] == id)
}

#[test]
fn copies_of_a_dll_do_not_collide_with_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("in");
    tree(&root);
    // Of the three DLLs at one base, one has its place in each of the folders.
    let moved = survey(&root)["collisions"]["moved"].as_array().unwrap().clone();
    assert_eq!(moved.len(), 6, "{moved:?}");
    for one in &moved {
        let folder = |key: &str| Path::new(one[key].as_str().unwrap()).parent().unwrap().to_owned();
        assert_eq!(folder("path"), folder("by"), "{one}");
        assert!(one["by"].as_str().unwrap().ends_with("LoadTimeDLL_1.dll"), "{one}");
    }
}

#[test]
fn what_is_advised_for_files_of_one_name_works() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("in");
    tree(&root);
    let before = survey(&root);
    let mut followed = Vec::new();
    for found in before["findings"].as_array().unwrap() {
        let (id, remedy) = (found["id"].as_str().unwrap(), found["remedy"].as_str().unwrap());
        let Some(command) = remedy.strip_prefix("headstart pe ") else { continue };
        assert!(remedy.contains("(folder by folder"), "{remedy}");
        let cured = folder.path().join(id);
        let places = folder.path().join("places.json");
        for name in FOLDERS {
            let words = command.split(" --out DIR").next().unwrap().split(' ');
            let words = words.map(|word| if word == "PLACES" { text(&places) } else { word });
            let mut words: Vec<&str> = std::iter::once("pe").chain(words).collect();
            let (out, own) = (cured.join(name), pe::files(&root.join(name)));
            words.extend(["--out", text(&out)]);
            let others = FOLDERS.iter().filter(|other| **other != name);
            let others: Vec<PathBuf> = others.map(|other| root.join(other)).collect();
            if remedy.contains("--search") {
                words.extend(others.iter().flat_map(|other| ["--search", text(other)]));
            }
            words.extend(own.iter().map(|file| text(file)));
            let done = run(&words);
            assert!(done.status.success(), "{id}: {words:?}: {}", stderr(&done));
        }
        let after = survey(&cured);
        assert!(finding(&after, id).is_none(), "{id}: {:?}", finding(&after, id));
        followed.push(id);
    }
    assert_eq!(followed, ["collisions", "wrong-hints", "file-alignment"]);
}
