//! Programs of this machine: the same output and exit code as without a tracer.

use crate::support::{kinds, traced, traced_with};
use model::MarkKind;
use std::process::{Command, Stdio};

/// Runs `argv` plainly, traced, and with its file calls recorded, and compares.
fn compare(argv: &[&str], main_image: &str) {
    if testkit::tool(argv[0]).is_none() {
        return;
    }
    let plain = Command::new(argv[0])
        .args(&argv[1..])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&plain.stdout).into_owned();
    let recorded = traced_with(argv, |request| request.record_files = true);
    let run = traced(argv);
    for run in [&run, &recorded] {
        assert_eq!((run.code(), &run.output), (plain.status.code().unwrap(), &text), "{argv:?}");
    }
    assert!(!recorded.launch.trace.file_calls.is_empty());
    let images = run.launch.trace.processes.iter().flat_map(|process| &process.images);
    let own = images.into_iter().find(|image| image.path.ends_with(main_image));
    let own = own.unwrap_or_else(|| panic!("{main_image} is not among {:?}", run.launch.trace));
    use MarkKind::*;
    let expected = [ExecCalled, ExecDone, Mapped, Relocated, Entry, Main, ExitCalled, Exiting];
    assert_eq!(kinds(own), expected, "{own:?}");
    assert!(own.notes.is_empty(), "{own:?}");
}

#[test]
fn git() {
    compare(&["git", "--version"], "/git");
}

#[test]
fn emacs() {
    compare(&["emacs", "--batch", "-Q", "--eval", "(progn (princ 1) (kill-emacs))"], "emacs-nox");
}

#[test]
fn inkscape() {
    compare(&["inkscape", "--version"], "/inkscape");
}

#[test]
fn clang() {
    compare(&["clang-19", "--version"], "/clang");
}

#[test]
fn soffice_is_a_script_that_starts_a_launcher() {
    compare(&["soffice", "--version"], "/soffice.bin");
}

#[test]
fn chromium() {
    compare(&["chromium", "--version", "--no-sandbox"], "/chromium");
}

#[test]
fn python() {
    if std::path::Path::new("/usr/bin/python3").exists() {
        let run = traced(&["/usr/bin/python3", "-c", "print(1)"]);
        assert_eq!((run.code(), run.output.as_str()), (0, "1\n"));
        assert!(kinds(run.image(0)).contains(&MarkKind::Main));
    }
}
