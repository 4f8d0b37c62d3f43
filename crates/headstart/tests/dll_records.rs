//! The record of imports by ordinal goes where the files go; signed images that stay are kept.
#![allow(clippy::unwrap_used)]

mod common;

use common::pe::{files, words};
use common::{json, pe, run, stderr, stdout};
use std::fs;
use std::path::{Path, PathBuf};

const RECORD: &str = "headstart-ordinals.json";

/// A program with three DLLs.
fn set(folder: &Path) -> Vec<PathBuf> {
    pe::set(folder, &["--functions", "20", "--dlls", "3"])
}

#[test]
fn the_record_goes_along_to_another_folder() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = set(&at("in"));
    assert!(run(&words(&["ordinal", "--out", at("o").to_str().unwrap()], &made)).status.success());
    // Its own file among them is passed over.
    let all = files(&at("o"));
    assert!(all.iter().any(|file| file.ends_with(RECORD)));
    for verb in ["realign", "rebase", "hints", "unbind", "ordinal"] {
        let out = at(verb);
        let done = run(&words(&[verb, "--out", out.to_str().unwrap()], &all));
        assert!(done.status.success(), "{verb}: {}", stderr(&done));
        assert!(out.join(RECORD).exists(), "{verb}");
        let found = json(&["verify", "--json", out.to_str().unwrap()]);
        assert_eq!((&found["current"], &found["functions"]), (&true.into(), &60.into()), "{verb}");
        assert_eq!(found["unrecorded"], 0, "{verb}");
    }
    fs::write(at("o").join(RECORD), "{").unwrap();
    let dlls = files(&at("o")).into_iter().filter(|file| !file.ends_with(RECORD));
    let dlls: Vec<PathBuf> = dlls.collect();
    let said = stderr(&run(&words(&["realign", "--out", at("x").to_str().unwrap()], &dlls)));
    assert!(said.contains("it is not a record of ordinals"), "{said}");
    let said = stderr(&run(&["verify", at("o").to_str().unwrap()]));
    assert!(!said.contains("is not rewritten"), "{said}");
}

#[test]
fn a_set_without_its_record_is_told_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let (made, out) = (folder.path().join("in"), folder.path().join("out"));
    let to = out.to_str().unwrap();
    assert!(run(&words(&["ordinal", "--out", to], &set(&made))).status.success());
    let moved = folder.path().join("elsewhere");
    fs::create_dir(&moved).unwrap();
    for file in files(&out).iter().filter(|file| !file.ends_with(RECORD)) {
        fs::copy(file, moved.join(file.file_name().unwrap())).unwrap();
    }
    let verify = run(&["verify", moved.to_str().unwrap()]);
    let said = stderr(&verify);
    assert_eq!(verify.status.code(), Some(6), "{said}");
    assert!(said.contains("elsewhere/headstart-ordinals.json"), "{said}");
    assert!(said.contains("copy it from the folder where") && !said.contains("bundle"), "{said}");
    // It works.
    fs::copy(out.join(RECORD), moved.join(RECORD)).unwrap();
    assert!(run(&["verify", moved.to_str().unwrap()]).status.success());
    assert!(run(&["pe", "survey", moved.to_str().unwrap()]).status.success());
}

#[test]
fn undo_by_any_verb_takes_the_record_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let made = set(folder.path());
    assert!(run(&words(&["ordinal", "--in-place"], &made)).status.success());
    assert!(folder.path().join(RECORD).exists());
    let undone = run(&words(&["realign", "--undo"], &files(folder.path())));
    assert!(undone.status.success(), "{}", stderr(&undone));
    assert_eq!(files(folder.path()), made);
    // Somebody's own file of that name stays, and nothing false is said of it.
    fs::write(folder.path().join(RECORD), "mine").unwrap();
    let said = stderr(&run(&words(&["ordinal", "--in-place"], &made)));
    assert!(said.contains("it is no record") && !said.contains("--undo"), "{said}");
    assert!(run(&words(&["flags", "--set", "tsaware", "--in-place"], &made)).status.success());
    assert!(run(&words(&["ordinal", "--undo"], &made)).status.success());
    assert_eq!(fs::read(folder.path().join(RECORD)).unwrap(), b"mine");
}

#[test]
fn an_exclusion_that_fits_nothing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let made = set(folder.path());
    let exclude = ["ordinal", "--dry-run", "--exclude", "nosuch*", "--exclude", "kernel32"];
    let said = stdout(&run(&words(&exclude, &made)));
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("--exclude 'nosuch*' fits no DLL that is imported from."), "{said}");
    assert!(!said.contains("'kernel32"), "{said}");
}

/// A certificate table behind the image, as far as headers go.
fn sign(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let directory = word(0x3c) + 24 + 112 + 4 * 8;
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let place = (bytes.len() as u32).to_le_bytes();
    bytes[directory..directory + 4].copy_from_slice(&place);
    bytes[directory + 4..directory + 8].copy_from_slice(&16_u32.to_le_bytes());
    bytes.extend([16, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_signed_image_that_need_not_move_is_copied() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let made = set(&folder.path().join("in"));
    assert!(run(&words(&["rebase", "--out", out.to_str().unwrap()], &made)).status.success());
    let moved = files(&out);
    sign(&moved[1]);
    sign(&moved[3]);
    let again = folder.path().join("again");
    let done = run(&words(&["rebase", "--out", again.to_str().unwrap()], &moved));
    assert_eq!(done.status.code(), Some(0), "{}{}", stdout(&done), stderr(&done));
    assert!(stdout(&done).contains("Nothing has to move"), "{}", stdout(&done));
    for (one, other) in moved.iter().zip(files(&again)) {
        assert!(fs::read(one).unwrap() == fs::read(&other).unwrap(), "{}", other.display());
    }
    // One that would have to be moved is refused, and the others keep clear of it.
    let elsewhere = folder.path().join("elsewhere");
    let first = ["rebase", "--base", "0x3000000000", "--json", "--out"];
    let done = run(&words(&[&first[..], &[elsewhere.to_str().unwrap()]].concat(), &moved));
    assert_eq!(done.status.code(), Some(1));
    let map: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let refused = map["images"].as_array().unwrap().iter();
    let refused: Vec<bool> = refused.map(|image| image["refused"].is_string()).collect();
    assert_eq!(refused, [false, true, false, false], "the program stays: {map}");
    assert!(map["images"][1]["refused"].as_str().unwrap().contains("--strip-signature"));
    assert!(!elsewhere.join(moved[1].file_name().unwrap()).exists());
}
