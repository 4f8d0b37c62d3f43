//! `headstart verify` as a command, on folders that other commands than `bundle` have left.
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

mod common;

use common::{headstart, run, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const LIBRARY: &str = "int inner(void) { return 3; }\nint (*table[])(void) = { inner };\n\
    int outer(void) { return table[0]() + VALUE; }";
const PROGRAM: &str = "#include <stdio.h>\nint outer(void);\nint main(void) { printf(\"%d\\n\", outer()); return 0; }";

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

struct Stage {
    folder: TempDir,
    cc: PathBuf,
}

impl Stage {
    fn new() -> Option<Stage> {
        let stage = Stage { folder: tempfile::tempdir().unwrap(), cc: testkit::tool("cc")? };
        stage.library("1");
        let search = format!("-Wl,-rpath,{}", stage.folder.path().display());
        let flags = ["-L.", "-l:libown.so", &search];
        testkit::compile(&stage.cc, stage.folder.path(), "program", PROGRAM, &flags);
        Some(stage)
    }

    fn library(&self, value: &str) {
        let define = format!("-DVALUE={value}");
        let flags = ["-shared", "-fPIC", &define, "-Wl,-soname,libown.so"];
        testkit::compile(&self.cc, self.folder.path(), "new.so", LIBRARY, &flags);
        fs::rename(self.path("new.so"), self.path("libown.so")).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// The answer as JSON, whose exit code agrees with it.
fn verified(folder: &Path) -> Value {
    let output = run(&["verify", "--json", text(folder)]);
    let found: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}{}", stdout(&output), stderr(&output)));
    let current = found["current"].as_bool().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(!current)), "{found}");
    assert_eq!(found["reason"].is_null(), current, "{found}");
    assert!(found["files"].as_u64().unwrap() > 0, "{found}");
    found
}

fn words(folder: &Path) -> String {
    let output = run(&["verify", text(folder)]);
    stdout(&output).replace('\n', " ").replace("  ", " ")
}

#[test]
fn selfbind_says_that_nothing_is_checked_at_start() {
    let Some(stage) = Stage::new() else { return };
    let (program, out) = (stage.path("program"), stage.path("out"));
    let made = run(&["elf", "selfbind", "--out", text(&out), text(&program)]);
    assert!(made.status.success(), "{}", stderr(&made));
    let said = stdout(&made);
    assert!(said.contains("Nothing is checked at start"), "{said}");
    assert!(said.contains(&format!("headstart verify {}", text(&out))), "{said}");
    assert_eq!(verified(&out)["starts"], "copies");
    assert!(words(&out).contains("nothing is checked at start"), "{}", words(&out));
    stage.library("2");
    let found = verified(&out);
    assert_eq!((&found["current"], &found["starts"]), (&false.into(), &"copies".into()));
    assert!(found["reason"].as_str().unwrap().contains("libown.so: "), "{found}");
    let said = words(&out);
    assert!(said.contains("does not notice this, and still uses the copies"), "{said}");
    assert!(said.contains("headstart elf selfbind --out NEW"), "{said}");
    assert!(!said.contains("original"), "{said}");
    let json = stage.path("json");
    let made = run(&["elf", "selfbind", "--json", "--out", text(&json), text(&program)]);
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(made["checked_at_start"], false);
}

/// It is verified from wherever, also where another file of the same name is.
#[test]
fn a_program_named_from_the_working_folder_is_known_from_everywhere() {
    let Some(stage) = Stage::new() else { return };
    let out = stage.path("out");
    let within = |folder: &Path, words: &[&str]| {
        let cache = stage.path("cache");
        headstart(&cache, words).current_dir(folder).output().unwrap()
    };
    let other = stage.path("other");
    fs::create_dir(&other).unwrap();
    fs::copy(stage.path("program"), other.join("program")).unwrap();
    let made = within(stage.folder.path(), &["elf", "selfbind", "--out", "out", "./program"]);
    assert!(made.status.success(), "{}", stderr(&made));
    assert_eq!(verified(&out)["current"], true);
    let source = PROGRAM.replace("return 0", "return 1");
    let search = format!("-Wl,-rpath,{}", stage.folder.path().display());
    let flags = ["-L.", "-l:libown.so", &search];
    testkit::compile(&stage.cc, stage.folder.path(), "program", &source, &flags);
    let told = within(&other, &["verify", text(&out)]);
    assert_eq!(told.status.code(), Some(1), "{}", stdout(&told));
}

/// The copies go on as before where a variable brings another library to the program.
#[test]
fn what_a_variable_brings_is_no_change() {
    let Some(stage) = Stage::new() else { return };
    let out = stage.path("out");
    stdout(&run(&["elf", "selfbind", "--out", text(&out), text(&stage.path("program"))]));
    for (name, value) in [("LD_PRELOAD", "libm.so.6"), ("LD_LIBRARY_PATH", "/usr/lib/gcc")] {
        let mut verify = std::process::Command::new(env!("CARGO_BIN_EXE_headstart"));
        let told = verify.env(name, value).args(["verify", text(&out)]).output().unwrap();
        assert!(told.status.success(), "{name}: {}", stdout(&told));
    }
}

/// The files are as they were left, and yet nothing starts.
#[test]
fn copies_on_a_file_system_without_programs_are_not_current() {
    let Some(stage) = Stage::new() else { return };
    let Some(unshare) = testkit::tool("unshare") else { return };
    let script =
        "mount -t tmpfs none \"$1\" && \"$2\" elf selfbind --out \"$1/out\" \"$3\" >/dev/null &&
        mount -o remount,noexec \"$1\" && \"$2\" verify --json \"$1/out\"";
    let mounted = stage.path("mounted");
    fs::create_dir(&mounted).unwrap();
    let output = std::process::Command::new(unshare)
        .args(["-m", "sh", "-c", script, "sh", text(&mounted), env!("CARGO_BIN_EXE_headstart")])
        .arg(stage.path("program"))
        .output()
        .unwrap();
    if stderr(&output).contains("not permitted") {
        testkit::skip("needs root: mounting");
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{}{}", stdout(&output), stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["current"], &found["starts"]), (&false.into(), &"nothing".into()));
    assert!(found["reason"].as_str().unwrap().contains("noexec"), "{found}");
    assert!(found["remedy"].as_str().unwrap().starts_with("Fix that"), "{found}");
}

#[test]
fn optimize_says_of_each_variant_whether_it_looks() {
    let Some(stage) = Stage::new() else { return };
    let (program, out) = (stage.path("program"), stage.path("out"));
    let options = ["optimize", "--json", "--runs", "10", "--allow", "no-aslr", "--out"];
    let made = run(&[&options[..], &[text(&out), "--", text(&program)]].concat());
    assert!(made.status.success(), "{}", stderr(&made));
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    for variant in made["variants"].as_array().unwrap() {
        let name = variant["name"].as_str().unwrap();
        let checked = variant.get("checked_at_start");
        if variant["state"] != "verified" {
            assert_eq!(checked, None, "{variant}");
            continue;
        }
        assert_eq!(checked, Some(&name.starts_with("bundle").into()), "{variant}");
        let notes = variant["notes"].to_string();
        let says = notes.contains("othing is checked at start");
        assert_eq!(says, !name.starts_with("bundle"), "{name}: {notes}");
    }
    let found = verified(&out);
    assert_eq!(found["current"], true, "{found}");
    // Whichever was the best, a script in its place is told.
    fs::remove_file(out.join("run")).unwrap();
    testkit::script(&out, "run", "#!/bin/sh\necho mine\n");
    let found = verified(&out);
    assert_eq!((&found["current"], &found["starts"]), (&false.into(), &"unknown".into()));
}

#[test]
fn the_original_is_the_best() {
    let Some(stage) = Stage::new() else { return };
    let (program, out) = (stage.path("program"), stage.path("out"));
    let options = ["optimize", "--runs", "3", "--only", "default", "--out", text(&out), "--"];
    let made = run(&[&options[..], &[text(&program)]].concat());
    assert!(made.status.success(), "{}", stderr(&made));
    let found = verified(&out);
    assert_eq!((&found["current"], &found["starts"]), (&true.into(), &"original".into()));
    assert!(words(&out).contains(&format!("current: run starts {}", text(&program))));
    // There is no bundle in it to be given another base.
    let output = run(&["rerandomize", text(&out)]);
    assert_eq!(output.status.code(), Some(6));
    assert!(stderr(&output).contains("headstart optimize"), "{}", stderr(&output));
}

#[test]
fn a_folder_of_something_else() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in
        [("nothing", None), ("headstart.json", Some("{}")), ("libraries.json", Some("[]"))]
    {
        if let Some(bytes) = bytes {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        let output = run(&["verify", "--json", text(folder.path())]);
        assert_eq!(output.status.code(), Some(6), "{name}: {}", stdout(&output));
        let said = stderr(&output);
        assert!(said.contains("headstart has made"), "{name}: {said}");
        let _ = fs::remove_file(folder.path().join(name));
    }
    let output = run(&["verify", "/no/such/folder"]);
    assert_eq!(output.status.code(), Some(6));
    assert!(stderr(&output).contains("/no/such/folder"), "{}", stderr(&output));
}
