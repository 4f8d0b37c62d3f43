//! `headstart generate` as a command.
#![allow(clippy::unwrap_used)] // a test that cannot read its input fails

mod common;

use common::{json, run, stderr, stdout};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use testkit::WhenFree;

fn folder() -> (TempDir, String) {
    let parent = tempfile::tempdir().unwrap();
    let out = parent.path().join("new").to_string_lossy().into_owned();
    (parent, out)
}

fn exit_code(program: &str, argument: &str) -> Option<i32> {
    Command::new(program).arg(argument).output_when_free().status.code()
}

#[test]
fn pietrek_says_what_was_written_and_what_is_next() {
    let (_parent, out) = folder();
    let output = run(&["generate", "pietrek", "--dlls", "3", "--functions", "10", "--out", &out]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let lines: Vec<_> = text.lines().collect();
    assert!(lines[0].starts_with(&format!("{out}: 4 files, ")), "{text}");
    assert_eq!(lines[1], "180 relocations, 30 imports, 30 exports");
    assert_eq!(lines[2], format!("next: headstart measure {out}/LoadTimeTest"));
    assert_eq!(exit_code(&format!("{out}/LoadTimeTest"), "--call"), Some(0));
    for number in 1..=3 {
        assert!(Path::new(&out).join(format!("libLoadTimeDLL_{number}.so")).is_file());
    }
}

#[test]
fn pe_images_are_counted_and_run_by_wine() {
    let (_parent, out) = folder();
    let sizes = ["--dlls", "3", "--functions", "10", "--globals", "2"];
    let choices = ["--format", "pe", "--by", "ordinal", "--bases", "chosen", "--out", &out];
    let output = run(&[&["generate", "pietrek"][..], &sizes, &choices].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    // The program takes three more functions from KERNEL32.
    assert!(text.contains("60 relocations, 33 imports, 30 exports"), "{text}");
    assert!(text.ends_with(&format!("next: headstart measure wine {out}/LoadTimeTest.exe\n")));
    for number in 1..=3 {
        let library = std::fs::read(format!("{out}/LoadTimeDLL_{number}.dll")).unwrap();
        assert!(library.starts_with(b"MZ"));
    }
}

#[test]
fn json_has_the_same_figures() {
    let (_parent, out) = folder();
    let value = json(&[
        "generate",
        "dawson",
        "--sources",
        "2",
        "--classes",
        "3",
        "--functions",
        "4",
        "--json",
        "--out",
        &out,
    ]);
    assert_eq!(value["schema"], 1);
    assert_eq!(value["relocations"], 2 * 3 * (4 + 4));
    assert_eq!(
        (&value["files"], &value["imports"], &value["exports"]),
        (&1.into(), &0.into(), &0.into())
    );
    let program = value["program"].as_str().unwrap();
    assert_eq!(value["bytes"], std::fs::metadata(program).unwrap().len());
    assert_eq!(exit_code(program, "--call"), Some(0));
}

#[test]
fn every_shape_leaves_main() {
    for kind in ["star", "chain", "dense", "symbols", "search-path", "tls", "dlopen"] {
        for n in ["0", "1", "3"] {
            let (_parent, out) = folder();
            let value = json(&["generate", "shape", kind, "--n", n, "--out", &out, "--json"]);
            assert_eq!(value["program"], format!("{out}/main"));
            assert_eq!(exit_code(&format!("{out}/main"), "--call"), Some(0), "{kind} {n}");
        }
    }
}

#[test]
fn the_generated_program_can_be_measured() {
    let (_parent, out) = folder();
    assert!(run(&["generate", "shape", "star", "--n", "2", "--out", &out]).status.success());
    let program = format!("{out}/main");
    let output = run(&["measure", "--runs", "3", &program]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn a_source_says_how_to_build_it() {
    let (_parent, out) = folder();
    let output = run(&["generate", "shape", "chain", "--n", "2", "--source", "--out", &out]);
    assert!(stdout(&output).contains(&format!("next: sh {out}/build.sh")), "{}", stdout(&output));
    assert!(Path::new(&out).join("main.c").is_file());
}

#[test]
fn wrong_arguments_are_refused_and_leave_nothing() {
    for (arguments, word) in [
        (&["pietrek", "--by", "ordinal"][..], "--format pe"),
        (&["pietrek", "--bases", "chosen"], "--format pe"),
        (&["pietrek", "--lazy", "--format", "pe"], "--lazy"),
        (&["dawson", "--arch", "i686", "--format", "pe"], "x86_64"),
        (&["pietrek", "--arch", "i686"], "x86_64"),
        (&["pietrek", "--dlls", "70000"], "65535"),
        (&["dawson", "--functions", "4000000000"], "2 GiB"),
        (&["shape", "star", "--n", "4294967296"], "4294967296"),
        (&["shape", "star", "--n", "-1"], "--n"),
        (&["shape", "ring", "--n", "1"], "ring"),
    ] {
        let (_parent, out) = folder();
        let output = run(&[&["generate"], arguments, &["--out", &out]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(word), "{arguments:?}: {}", stderr(&output));
        assert!(!Path::new(&out).exists(), "{arguments:?}");
    }
}

#[test]
fn what_helps_is_named() {
    for (arguments, remedy) in [
        (&["pietrek", "--by", "ordinal"][..], "always by name; use --by name, or --format pe\n"),
        (&["pietrek", "--arch", "i686"], "x86_64 only; omit --arch, or use --format pe\n"),
        (
            &["pietrek", "--format", "pe", "--source"],
            "ELF only; omit --source, or use --format elf\n",
        ),
        (&["dawson", "--arch", "i686", "--format", "pe"], "table is; use --arch x86_64\n"),
        (&["pietrek", "--dlls", "70000"], "limit is 65535; choose a smaller --dlls\n"),
        (
            &["pietrek", "--globals", "4000000000"],
            "limit is 2 GiB per image; choose a smaller --functions or --globals\n",
        ),
        (
            &["dawson", "--functions", "4000000000"],
            "per image; choose a smaller --sources, --classes or --functions\n",
        ),
        (&["shape", "star", "--n", "70000"], "limit is 65535; choose a smaller --n\n"),
    ] {
        let (_parent, out) = folder();
        let output = run(&[&["generate"], arguments, &["--out", &out]].concat());
        assert!(stderr(&output).ends_with(remedy), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_folder_in_use_is_left_alone() {
    let (_parent, out) = folder();
    let arguments = ["generate", "shape", "star", "--n", "1", "--out", &out];
    assert!(run(&arguments).status.success());
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(6));
    let errors = stderr(&output);
    assert!(errors.contains(&out) && errors.contains("is not empty"), "{errors}");
}

/// Files above 32 KiB cannot be written here: the libraries can, the program cannot.
#[test]
fn where_a_file_cannot_be_written_none_is_left() {
    let (_parent, out) = folder();
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" generate pietrek --dlls 20 --globals 1 \
                  --out \"$1\"";
    let command = env!("CARGO_BIN_EXE_headstart");
    let output = Command::new("sh").args(["-c", script, command, &out]).output().unwrap();
    assert_eq!(output.status.code(), Some(6), "{}", stderr(&output));
    let errors = stderr(&output);
    assert!(errors.contains("LoadTimeTest") && errors.ends_with("another folder\n"), "{errors}");
    assert!(!Path::new(&out).exists());
}
