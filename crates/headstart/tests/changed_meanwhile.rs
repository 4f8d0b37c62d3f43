//! Files that somebody writes to while headstart reads them.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod common;

use common::{run, stderr};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs headstart while the same bytes are written to a file over and over.
fn while_written(file: &Path, arguments: &[&str]) -> Output {
    let bytes = fs::read(file).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                OpenOptions::new().write(true).open(file).unwrap().write_all(&bytes).unwrap();
            }
        });
        let output = run(arguments);
        done.store(true, Ordering::Relaxed);
        output
    })
}

/// A program that says what its library says.
fn with_library(folder: &Path) -> Option<(String, String)> {
    let cc = testkit::tool("cc")?;
    let library = "const char *word(void) { return \"found\"; }";
    let shared = ["-shared", "-fPIC"];
    let library = testkit::compile(&cc, folder, "libword.so", library, &shared);
    let source = "#include <stdio.h>\nconst char *word(void);\n\
        int main(void) { return puts(word()) < 0; }";
    let flags = ["-L.", "-lword", "-Wl,-rpath,$ORIGIN"];
    let program = testkit::compile(&cc, folder, "program", source, &flags);
    Some((text(&program).to_owned(), text(&library).to_owned()))
}

/// Runs a verb that makes `out` of `program` while `written` is written to: it names that file and
/// makes nothing.
fn refused(verb: &[&str], program: &str, written: &str, out: &Path) {
    let arguments = [verb, &["--out", text(out), program]].concat();
    let told = while_written(Path::new(written), &arguments);
    let words = stderr(&told);
    assert_eq!(told.status.code(), Some(6), "{verb:?}: {words}");
    let copied =
        format!("{written}: it was changed while headstart read it; run the command again");
    let merged = format!("{written} was added, changed or removed while headstart was working");
    // Private copies are recorded as well, and may be hit at either moment.
    let found = [words.contains(&copied), words.contains(&merged)];
    let expected: &[[bool; 2]] = match verb {
        ["bundle", ..] => &[[false, true]],
        [_, "selfbind"] => &[[true, false], [false, true]],
        _ => &[[true, false]],
    };
    assert!(expected.contains(&found), "{verb:?}: {words}");
    assert!(!out.exists() && !out.join("run").exists(), "{verb:?}");
}

/// It would be a mixture of two versions, for which the record of the newer one stands.
#[test]
fn nothing_is_made_of_a_file_that_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let Some((program, library)) = with_library(folder.path()) else { return };
    let before = [fs::read(&program).unwrap(), fs::read(&library).unwrap()];
    let out = folder.path().join("out");
    for verb in [&["bundle"][..], &["bundle", "--fixed"], &["elf", "selfbind"]] {
        refused(verb, &program, &library, &out);
        refused(verb, &program, &program, &out);
    }
    for verb in ["relr", "no-pie"] {
        refused(&["elf", verb], &program, &program, &out);
    }
    assert_eq!([fs::read(&program).unwrap(), fs::read(&library).unwrap()], before);
    // Its advice: once nobody writes there.
    let told = run(&["bundle", "--out", text(&out), &program]);
    assert!(told.status.success(), "{}", stderr(&told));
    let ran = Command::new(out.join("run")).output().unwrap();
    assert_eq!(ran.stdout, b"found\n");
}

/// The bytes of a mapped file that is cut short are gone, and whoever reads them gets SIGBUS.
#[test]
fn a_file_that_is_cut_short_is_told() {
    // headstart, its guard, its launcher, and the program that is measured.
    let signal = "parent() { cut -d ' ' -f 4 /proc/$1/stat; }; \
        kill -BUS $(parent $(parent $PPID))";
    let told = run(&["measure", "-r", "1", "--", "sh", "-c", signal]);
    let own = stderr(&told);
    assert_eq!(told.status.code(), Some(6), "{own}");
    assert!(own.contains("it was truncated while headstart read it"), "{own}");
}

/// DLLs one by one, and sets that are read together.
#[test]
fn no_dlls_are_made_of_files_that_are_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let files = common::pe::set(folder.path(), &["--dlls", "3"]);
    let out = folder.path().join("out");
    for verb in ["realign", "hints", "bind"] {
        let options = [verb, "--out", text(&out)];
        let told = while_written(&files[0], &common::pe::words(&options, &files));
        assert_eq!(told.status.code(), Some(6), "{verb:?}: {}", stderr(&told));
        let words = format!("{}: it was changed while headstart read it", files[0].display());
        assert!(stderr(&told).contains(&words), "{verb:?}: {}", stderr(&told));
        assert!(!out.exists(), "{verb:?}");
    }
}
