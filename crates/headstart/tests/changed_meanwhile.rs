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

/// It would be a mixture of two versions, for which the record of the newer one stands.
#[test]
fn no_bundle_is_made_of_a_file_that_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let Some((program, library)) = with_library(folder.path()) else { return };
    let out = folder.path().join("bundle");
    for written in [&library, &program] {
        let told = while_written(Path::new(written), &["bundle", "--out", text(&out), &program]);
        assert_eq!(told.status.code(), Some(6), "{}", stderr(&told));
        let words = format!("{written} was changed while headstart worked with it");
        assert!(stderr(&told).contains(&words), "{}", stderr(&told));
        assert!(!out.join("run").exists());
    }
    // Its advice: once nobody writes there.
    let told = run(&["bundle", "--out", text(&out), &program]);
    assert!(told.status.success(), "{}", stderr(&told));
    let ran = Command::new(out.join("run")).output().unwrap();
    assert_eq!(ran.stdout, b"found\n");
}

#[test]
fn no_copy_is_made_of_a_file_that_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let Some((program, _)) = with_library(folder.path()) else { return };
    let before = fs::read(&program).unwrap();
    for verb in ["relr", "no-pie"] {
        let out = folder.path().join(verb);
        let told =
            while_written(Path::new(&program), &["elf", verb, "--out", text(&out), &program]);
        assert_eq!(told.status.code(), Some(6), "{verb}: {}", stderr(&told));
        let words =
            format!("{program}: it was changed while headstart read it; run the command again");
        assert!(stderr(&told).contains(&words), "{verb}: {}", stderr(&told));
        assert!(!out.exists(), "{verb}");
        assert_eq!(fs::read(&program).unwrap(), before);
    }
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

/// Its record would be that of the newer version.
#[test]
fn no_private_copies_are_made_of_files_that_are_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let Some((program, library)) = with_library(folder.path()) else { return };
    let out = folder.path().join("selfbind");
    for written in [&library, &program] {
        let arguments = ["elf", "selfbind", "--out", text(&out), &program];
        let told = while_written(Path::new(written), &arguments);
        assert_eq!(told.status.code(), Some(6), "{}", stderr(&told));
        assert!(stderr(&told).contains("was changed while headstart"), "{}", stderr(&told));
        assert!(stderr(&told).contains(written), "{}", stderr(&told));
        assert!(!out.exists());
    }
}
