//! What the `pe` commands advise where they cannot do something, followed: it works.
#![allow(clippy::unwrap_used)]

mod common;

use common::pe::{files, set, words};
use common::{run, stderr};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Both streams, without line breaks.
fn said(output: &Output) -> String {
    let all = format!("{} {}", String::from_utf8_lossy(&output.stdout), stderr(output));
    all.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs a command into a folder; what it says.
fn done(verb: &[&str], out: &Path, files: &[PathBuf]) -> String {
    let output = run(&words(&[verb, &["--out", text(out)]].concat(), files));
    let said = said(&output);
    assert!(output.status.success(), "{verb:?}: {said}");
    said
}

/// The same of one that fails, and advises this.
fn advised(verb: &[&str], out: &Path, files: &[PathBuf], advice: &str) {
    let output = run(&words(&[verb, &["--out", text(out)]].concat(), files));
    let said = said(&output);
    assert!(!output.status.success(), "{verb:?}: {said}");
    assert!(said.contains(advice), "{verb:?}: {said}");
    assert!(!out.exists(), "{verb:?}: {said}");
}

#[test]
fn images_that_cannot_be_bound_can_be_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = set(&at("in"), &["--dlls", "3", "--functions", "3"]);
    // DLLs at one base.
    let told = done(&["bind"], &at("2"), &made);
    assert!(told.contains("headstart pe rebase fixes that"), "{told}");
    done(&["rebase"], &at("rebased"), &made);
    let told = done(&["bind"], &at("3"), &files(&at("rebased")));
    assert!(!told.contains("overlap"), "{told}");
    // The mark.
    let rebased = files(&at("rebased"));
    done(&["flags", "--set", "no-bind"], &at("marked"), &rebased);
    advised(&["bind"], &at("4"), &files(&at("marked")), "headstart pe flags --clear no-bind");
    done(&["flags", "--clear", "no-bind"], &at("cleared"), &files(&at("marked")));
    done(&["bind"], &at("5"), &files(&at("cleared")));
    // Bound ones are converted once they are not.
    let bound = files(&at("5"));
    advised(&["ordinal"], &at("6"), &bound, "undo that with headstart pe unbind first");
    done(&["unbind"], &at("unbound"), &bound);
    done(&["ordinal"], &at("7"), &files(&at("unbound")));
}

#[test]
fn places_that_are_refused_can_be_chosen_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = set(&at("in"), &["--dlls", "2", "--functions", "5"]);
    // The program has no relocations, so that this would not help.
    let told = said(&run(&words(&["rebase", "--dry-run"], &made)));
    assert!(told.contains("it is a program") && !told.contains("--programs"), "{told}");
    advised(
        &["rebase", "--base", "0x12345"],
        &at("2"),
        &made,
        "not a multiple of 64 KiB (0x10000)",
    );
    // ASLR, which Windows honors and Wine does not.
    done(&["flags", "--set", "dynamicbase"], &at("aslr"), &made[..2]);
    let told = done(&["rebase"], &at("3"), &files(&at("aslr")));
    assert!(told.contains("`headstart pe flags --clear dynamicbase` on the moved files"), "{told}");
    done(&["flags", "--clear", "dynamicbase"], &at("4"), &files(&at("3")));
    let told = said(&run(&words(&["rebase", "--dry-run"], &files(&at("4")))));
    assert!(!told.contains("DYNAMICBASE"), "{told}");
}

#[test]
fn dlls_that_are_not_found_are_looked_for_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = set(&at("in"), &["--dlls", "2", "--functions", "5", "--hints", "zero"]);
    fs::create_dir(at("alone")).unwrap();
    let program = at("alone").join("LoadTimeTest.exe");
    fs::copy(&made[2], &program).unwrap();
    let alone = [program];
    let told = done(&["hints"], &at("1"), &alone);
    assert!(told.contains("give those that you ship too, or their folder with --search"), "{told}");
    let told = done(&["hints", "--search", text(&at("in"))], &at("2"), &alone);
    assert!(told.contains("were wrong and are now correct"), "{told}");
    let told = done(&["hints"], &at("3"), &[&made[..2], &alone].concat());
    assert!(told.contains("were wrong and are now correct"), "{told}");
    // Two versions of one DLL.
    set(&at("other"), &["--dlls", "2", "--functions", "7"]);
    let both = [made.clone(), files(&at("other"))].concat();
    advised(&["hints"], &at("4"), &both, "or process each folder separately");
    done(&["hints"], &at("5"), &files(&at("other")));
    advised(&["realign"], &at("6"), &both, "write them to different folders");
    done(&["realign"], &at("7"), &made);
    fs::copy(&made[0], made[0].with_file_name("loadtimedll_1.DLL")).unwrap();
    advised(&["hints"], &at("8"), &files(&at("in")), "give only one of them");
    let told = said(&run(&words(&["hints", "--dry-run"], &files(&at("in")))));
    assert!(!told.contains("separately"), "the folder is the same: {told}");
    done(&["hints"], &at("8"), &made);
}

#[test]
fn what_is_in_the_way_of_ordinals_can_be_removed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = set(&at("in"), &["--dlls", "2", "--functions", "5"]);
    set(&at("apart"), &["--dlls", "1", "--functions", "5"]);
    let apart = at("apart").join("LoadTimeTest.exe");
    fs::rename(&apart, apart.with_file_name("Other.exe")).unwrap();
    let apart = [&made[..], &[apart.with_file_name("Other.exe")]].concat();
    let refused = said(&run(&words(&["ordinal", "--in-place"], &apart)));
    assert!(refused.contains("write the results to one folder with --out"), "{refused}");
    done(&["ordinal"], &at("1"), &apart);
    // A record of earlier.
    assert!(run(&words(&["ordinal", "--in-place"], &made)).status.success());
    let refused = said(&run(&words(&["ordinal", "--in-place"], &made)));
    assert!(refused.contains("--undo restores those of --in-place, and --out to another folder"));
    done(&["ordinal"], &at("2"), &made);
    assert!(run(&words(&["ordinal", "--undo"], &made)).status.success());
    // What is replaced stays until that is taken back.
    assert!(run(&words(&["realign", "--in-place"], &made)).status.success());
    let twice = said(&run(&words(&["rebase", "--in-place"], &made)));
    assert!(twice.contains("take that back first with --undo, or write"), "{twice}");
    done(&["rebase"], &at("3"), &made);
    assert!(run(&words(&["rebase", "--undo"], &made)).status.success());
    assert!(run(&words(&["rebase", "--in-place"], &made)).status.success());
}

#[test]
fn a_stale_set_is_converted_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = set(&at("in"), &["--dlls", "1", "--functions", "5"]);
    done(&["ordinal"], &at("1"), &made);
    // A version of the DLL with fewer functions.
    let newer = set(&at("newer"), &["--dlls", "1", "--functions", "3"]);
    fs::copy(&newer[0], at("1").join("LoadTimeDLL_1.dll")).unwrap();
    let stale = run(&["verify", text(&at("1"))]);
    let told = said(&stale);
    assert_eq!(stale.status.code(), Some(1), "{told}");
    assert!(told.contains("headstart pe ordinal, to a new folder"), "{told}");
    assert!(told.contains("or put the old DLLs back"), "{told}");
    done(&["ordinal"], &at("2"), &[newer[0].clone(), made[1].clone()]);
    assert!(run(&["verify", text(&at("2"))]).status.success());
    fs::copy(&made[0], at("1").join("LoadTimeDLL_1.dll")).unwrap();
    assert!(run(&["verify", text(&at("1"))]).status.success());
}

fn testfile(name: &str, to: &Path) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/pe").join(name);
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
    to.to_owned()
}

#[test]
fn moved_images_are_bound_again() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let calling = [testfile("calling.dll", &at("in/c.dll"))];
    let called = testfile("x86_64.dll", &at("called/a.dll"));
    advised(&["bind"], &at("1"), &calling, "give that file too, or its folder with --search");
    done(&["bind", "--search", text(&at("called"))], &at("2"), &calling);
    let told = done(&["bind"], &at("3"), &[&calling[..], &[called]].concat());
    assert!(told.contains("3 of 3 imports have their address"), "{told}");
    let told = done(&["rebase"], &at("4"), &files(&at("3")));
    assert!(told.contains("`headstart pe bind` binds images again"), "{told}");
    let told = done(&["bind"], &at("5"), &files(&at("4")));
    assert!(told.contains("3 of 3 imports have their address"), "{told}");
}

#[test]
fn programs_move_where_the_user_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let program = [testfile("x86_64-guarded.exe", &at("in/program.exe"))];
    let told = done(&["rebase", "--base", "0x30000000"], &at("1"), &program);
    assert!(told.contains("--programs moves it too"), "{told}");
    let told = done(&["rebase", "--base", "0x30000000", "--programs"], &at("2"), &program);
    assert!(told.contains("1 image moved to 0x30000000"), "{told}");
}
