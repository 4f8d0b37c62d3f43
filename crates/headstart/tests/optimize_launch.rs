//! `headstart optimize` and `headstart bundle` for scripts: what is found of the programs that they start,
//! and what is left when headstart is killed meanwhile.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, is_running, json, run, stderr, stdout, wait_for};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;
use testkit::WhenFree;

/// A program with a library of its own beside it, and a script that ends in an exec of it.
struct Stage {
    folder: TempDir,
    program: PathBuf,
    script: PathBuf,
}

const LIBRARY: &str = "int outer(void) { return 3; }";
const PROGRAM: &str = "#include <stdio.h>\n#include <unistd.h>\nint outer(void);\n\
    int main(void) { usleep(SLEEP); printf(\"%d\\n\", outer()); return 0; }";

impl Stage {
    /// `None`, said loudly, without a C compiler.
    fn new(sleep_us: u32) -> Option<Stage> {
        let (folder, cc) = (tempfile::tempdir().unwrap(), testkit::tool("cc")?);
        let place = folder.path().canonicalize().unwrap();
        testkit::compile(&cc, &place, "libown.so", LIBRARY, &["-shared", "-fPIC"]);
        let (search, define) = (format!("-L{}", place.display()), format!("-DSLEEP={sleep_us}"));
        let flags = [&search, &define, "-Wl,-rpath,$ORIGIN", "-l:libown.so"];
        let program = testkit::compile(&cc, &place, "program", PROGRAM, &flags);
        let text = format!("#!/bin/sh\nexec '{}' \"$@\"\n", program.display());
        let script = testkit::script(&place, "script", &text);
        Some(Stage { folder, program, script })
    }

    fn text(&self, name: &str) -> String {
        self.folder.path().canonicalize().unwrap().join(name).display().to_string()
    }
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn can_mount() -> bool {
    let permitted = os::place::permitted();
    if let Err(error) = &permitted {
        testkit::skip(&error.to_string());
    }
    permitted.is_ok()
}

fn program<'a>(found: &'a Value, path: &Path) -> &'a Value {
    let programs = found["programs"].as_array().unwrap();
    programs.iter().find(|program| program["path"] == text(path)).unwrap()
}

/// A bundle checks at its start that it is up to date, also where it is in the program's own place.
#[test]
fn a_bundle_is_used_in_the_place_of_its_program() {
    let Some(stage) = Stage::new(0) else { return };
    if !can_mount() {
        return;
    }
    let before = fs::read(&stage.program).unwrap();
    let options =
        ["optimize", "--json", "--runs", "2", "--only", "bundle", "--", text(&stage.script)];
    let found = json(&options);
    let part = program(&found, &stage.program);
    for key in ["path", "share", "best", "ratio"] {
        assert!(part.get(key).is_some(), "{key}: {part}");
    }
    assert_eq!((&part["starts"], &part["best"]), (&1.into(), &Value::Null), "too few rounds");
    let shares = found["programs"].as_array().unwrap().iter();
    let shares: f64 = shares.map(|program| program["share"].as_f64().unwrap()).sum();
    assert!(shares > 0.9 && shares <= 1.000_001, "{shares}");
    let variants = found["variants"].as_array().unwrap();
    let variant = variants.iter().find(|variant| variant["name"] == "bundle (program)").unwrap();
    assert_eq!(variant["verified"], true, "{variant}");
    assert!(variant["median_us"].is_number(), "{variant}");
    assert_eq!(found["best"], "default");
    assert_eq!(fs::read(&stage.program).unwrap(), before);
    let said =
        stdout(&run(&["optimize", "--runs", "2", "--only", "bundle", "--", text(&stage.script)]));
    assert!(said.contains("programs of the launch"), "{said}");
    assert!(said.contains("program: not measurably faster"), "{said}");
}

/// A program that is looked up along PATH, kept as a bundle in a folder whose `run` sets that.
#[test]
fn verify_looks_at_the_parts_of_a_launch() {
    let Some(stage) = Stage::new(0) else { return };
    let out = stage.text("out");
    let script = format!("#!/bin/sh\nPATH=$PATH:'{}'\nprogram\n", stage.text(""));
    let script = testkit::script(stage.folder.path(), "by-name", &script);
    let found = json(&["optimize", "--json", "--runs", "2", "--out", &out, "--", text(&script)]);
    assert_eq!(program(&found, &stage.program)["variable"], "PATH");
    assert_eq!(found["out"], out.as_str());
    let output = std::process::Command::new(Path::new(&out).join("run")).output_when_free();
    assert_eq!(stdout(&output), "3\n");
    let verified = run(&["verify", &out]);
    assert!(verified.status.success(), "{}{}", stdout(&verified), stderr(&verified));
}

#[test]
fn a_bundle_of_a_script_names_the_program_that_takes_the_time() {
    let Some(stage) = Stage::new(0) else { return };
    let out = stage.text("out");
    let refused = |script: &str, more: &[&str]| {
        let output = run(&[&["bundle", "--out", &out, "--", script], more].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(!Path::new(&out).exists(), "nothing is made");
        stderr(&output)
    };
    // No package owns it, so nothing is installed at its path.
    let instead = format!("headstart bundle --out DIR {}", stage.program.display());
    let said = refused(text(&stage.script), &[]);
    assert!(said.contains("is a script") && said.contains(&instead), "{said}");
    assert!(said.contains("Nothing can be installed in its place ("), "{said}");
    let script = format!("#!/bin/sh\nexec $0-not || '{}'\n", stage.program.display());
    let unread = testkit::script(stage.folder.path(), "unread", &script);
    let said = refused(text(&unread), &[]);
    assert!(said.contains("headstart optimize -- ") && !said.contains(&instead), "{said}");
    let script = format!("#!/bin/sh\nX='{}'\n$X\n$X\n$X\n$X\n", stage.program.display());
    let follows = testkit::script(stage.folder.path(), "follows", &script);
    let said = refused(text(&follows), &["argument"]);
    assert!(said.contains(&instead) && said.contains("In this launch"), "{said}");
}

#[test]
fn a_script_that_ends_in_a_program_of_a_package_names_what_installs_it() {
    let (Some(_), Some(git)) = (testkit::find("dpkg-divert"), testkit::find("git")) else {
        testkit::skip("needs git on Debian");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let script = format!("#!/bin/sh\nexec {} \"$@\"\n", git.display());
    let script = testkit::script(folder.path(), "script", &script);
    let out = folder.path().join("out");
    let output = run(&["bundle", "--out", text(&out), text(&script)]);
    let install = format!("headstart install {}", git.display());
    assert!(stderr(&output).contains(&install), "{}", stderr(&output));
}

#[test]
fn scripts_that_cannot_be_started_say_why() {
    let Some(stage) = Stage::new(0) else { return };
    let place = stage.folder.path();
    for (name, script, said) in [
        ("missing", "#!/no/such/interpreter\n", "/no/such/interpreter"),
        ("crlf", "#!/bin/sh\r\nexit 0\r\n", "CR LF"),
        ("plain", "exit 0\n", "without a '#!' line"),
    ] {
        let script = testkit::script(place, name, script);
        let output = run(&["optimize", "--", text(&script)]);
        assert!(stderr(&output).contains(said), "{name}: {}", stderr(&output));
        assert_eq!(output.status.code(), Some(3), "{name}");
    }
}

/// Whether a process sees something mounted over the program.
fn is_mounted(program: &Path) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let tables = processes.filter_map(|one| fs::read_to_string(one.path().join("mountinfo")).ok());
    tables.into_iter().any(|table| table.contains(&format!(" {} ", program.display())))
}

#[test]
fn nothing_is_left_where_headstart_is_killed() {
    let Some(stage) = Stage::new(200_000) else { return };
    if !can_mount() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let cache = tempfile::tempdir().unwrap();
    // The share of what is loaded is small beside the sleep, unless there is a lot of it.
    let script = format!(
        "#!/bin/sh\nfor i in 1 2 3 4 5 6 7 8; do '{}' & done\nwait\n",
        text(&stage.program)
    );
    let script = testkit::script(stage.folder.path(), "many", &script);
    let options = ["optimize", "--only", "bundle", "--runs", "500", "--", text(&script)];
    let mut command = headstart(cache.path(), &options);
    command.env("TMPDIR", temporary.path()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    wait_for("a launch with the bundle in place", || {
        assert!(running.try_wait().unwrap().is_none(), "it has ended");
        is_mounted(&stage.program)
    });
    running.kill().unwrap();
    running.wait().unwrap();
    wait_for("the mount to go", || !is_mounted(&stage.program));
    wait_for("the launch to end", || {
        !is_running(text(&stage.program)) && !is_running(text(&script))
    });
    let output = std::process::Command::new(&stage.program).output_when_free();
    assert_eq!(stdout(&output), "3\n");
    fs::remove_file(&stage.program).expect("nothing is mounted over it");
}
