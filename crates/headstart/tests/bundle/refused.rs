//! What is not bundled: a sentence each, and nothing left behind.

use crate::common::stderr;
use crate::place::Place;
use crate::stage::{Stage, command, headstart, names, outcome, run};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};
use testkit::WhenFree;

/// It ends with this code and these words, and the folders that it made are gone.
pub fn refused(words: &[&str], program: &Path, code: i32, says: &str) {
    for fixed in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("new/folders").display().to_string();
        let mut all = vec!["bundle", "--out", &out, program.to_str().unwrap()];
        all.extend_from_slice(words);
        all.extend(fixed.then_some("--fixed"));
        told(&run(&all), code, says);
        assert_eq!(names(folder.path()), [] as [&str; 0], "{all:?}");
    }
}

fn told(output: &Output, code: i32, says: &str) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(says), "'{says}' is not in: {text}");
    assert!(text.starts_with("headstart: ") && text.lines().count() == 1, "{text}");
    assert!(output.stdout.is_empty());
}

pub const MAIN: &str = "#include <stdio.h>\nint main(void) { return puts(\"here\") < 0; }";

#[test]
fn no_program_of_this_loader() {
    let Some(place) = Place::new() else { return };
    let program = place.built("program", MAIN, &[]);
    let bytes = fs::read(&program).unwrap();
    let changed = |name: &str, at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        place.file(name, &bytes)
    };
    refused(&[], &place.built("static", MAIN, &["-static"]), 1, "is static");
    refused(&[], &place.file("script", b"#!/bin/sh\necho here\n"), 1, "script");
    refused(&[], &place.file("text", b"echo here\n"), 1, "is not an ELF file");
    refused(&[], &place.file("empty", b""), 1, "it is empty");
    refused(&[], &changed("arm", 18, 183), 1, "it is for aarch64");
    let mut other = bytes.clone();
    (other[4], other[18]) = (1, 3);
    refused(&[], &place.file("i386", &other), 1, "is not a 64-bit");
    refused(&[], Path::new("/no/such/program"), 3, "does not exist");
    refused(&[], place.folder.path(), 3, "is a folder");
    refused(&[], Path::new("/etc/passwd"), 3, "chmod +x");
    if let Some(musl) = testkit::tool("musl-gcc") {
        let program = testkit::compile(&musl, place.folder.path(), "musl", MAIN, &[]);
        refused(&[], &program, 1, "only glibc's loader");
    }
}

#[test]
fn truncated_at_any_length() {
    let Some(place) = Place::new() else { return };
    let program = place.built("program", MAIN, &[]);
    let bytes = fs::read(&program).unwrap();
    let lengths = (0..100).step_by(9).chain((100..bytes.len()).step_by(bytes.len() / 50));
    for length in lengths {
        let program = place.file("torn", &bytes[..length]);
        let out = place.path("out");
        let words = ["bundle", "--out", out.to_str().unwrap(), program.to_str().unwrap()];
        let output = run(&words);
        let code = output.status.code();
        if code == Some(0) {
            // What is missing is behind all that is loaded.
            let done = command(&out.join("run")).output_when_free();
            assert_eq!(outcome(&done), outcome(&command(&program).output_when_free()), "{length}");
            fs::remove_dir_all(&out).unwrap();
            continue;
        }
        assert!(matches!(code, Some(1 | 2 | 3 | 6)), "{length}: {}", stderr(&output));
        assert_eq!(stderr(&output).lines().count(), 1, "{length}: {}", stderr(&output));
        assert!(!out.exists(), "{length}");
    }
}

#[test]
fn libraries_that_are_not_what_they_should_be() {
    let Some(stage) = Stage::bare() else { return };
    let library = stage.path("third/libthree.so.1");
    let bytes = fs::read(&library).unwrap();
    fs::remove_file(&library).unwrap();
    refused(&[], &stage.path("program"), 6, "libthree.so.1 is not found");
    fs::write(&library, b"a text").unwrap();
    refused(&[], &stage.path("program"), 6, "libthree.so.1");
    // Its tables are gone: what others need of it cannot be found.
    fs::write(&library, &bytes[..bytes.len() / 3]).unwrap();
    refused(&[], &stage.path("program"), 1, "which neither it nor any library defines");
}

#[test]
fn privileges_would_be_lost() {
    let Some(place) = Place::new() else { return };
    let program = place.built("program", MAIN, &[]);
    for (mode, says) in [(0o4755, "set-user-ID"), (0o2755, "set-group-ID")] {
        fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
        refused(&[], &program, 1, says);
        let link = place.path(says);
        symlink(&program, &link).unwrap();
        refused(&[], &link, 1, says);
    }
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let Some(setcap) = testkit::tool("setcap") else { return };
    let set = Command::new(setcap).arg("cap_net_raw+ep").arg(&program).output_when_free();
    if !set.status.success() {
        testkit::skip("capabilities are only given by root");
        return;
    }
    refused(&[], &program, 1, "file capabilities");
}

#[test]
fn what_a_bundle_cannot_follow() {
    let Some(stage) = Stage::bare() else { return };
    let (out, program) = (stage.text("made/out"), stage.text("program"));
    let mut made = headstart(&["bundle", "--out", &out, &program]);
    told(
        &made.env("LD_PRELOAD", stage.path("preload.so")).output_when_free(),
        1,
        "LD_PRELOAD is set",
    );
    assert!(names(&stage.path("made")).is_empty());
    let Some(place) = Place::new() else { return };
    let folder = format!("-Wl,-rpath,{}", place.folder.path().display());
    place.built(
        "libu.so",
        "void nowhere(void); void u(int n) { if (n) nowhere(); }",
        &["-shared", "-fPIC"],
    );
    let flags = ["-L.", "-lu", &folder, "-Wl,--unresolved-symbols=ignore-all"];
    let program = place.built("program", "void u(int); int main(void) { u(0); return 3; }", &flags);
    refused(&[], &program, 1, "refers to nowhere, which neither it nor any library defines");
}

#[test]
fn where_nothing_can_be_written() {
    let Some(stage) = Stage::bare() else { return };
    let program = stage.text("program");
    let file = stage.path("a-file");
    fs::write(&file, "mine").unwrap();
    for out in [stage.text("a-file"), stage.text("a-file/below"), "/proc/nothing".to_owned()] {
        told(&run(&["bundle", "--out", &out, &program]), 6, &out);
    }
    assert_eq!(fs::read(&file).unwrap(), b"mine");
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    let (read, closed) = (fs::Permissions::from_mode(0o755), stage.path("closed"));
    fs::set_permissions(stage.folder.path(), read.clone()).unwrap();
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, read).unwrap();
    let mut nobody = command(&setpriv);
    nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    nobody.arg(env!("CARGO_BIN_EXE_headstart")).arg("bundle").arg("--out").arg(&closed);
    let output = nobody.arg(&program).output_when_free();
    if stderr(&output).starts_with("setpriv") {
        testkit::skip("another user can only be taken on by root, and must reach headstart");
        return;
    }
    told(&output, 6, "Permission denied (mode 755, owner user 0)");
    assert!(names(&closed).is_empty());
}

#[test]
fn a_folder_that_may_be_written_to_but_not_read_gets_a_bundle() {
    let Some(stage) = Stage::bare() else { return };
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    let (program, out) = (stage.text("program"), stage.path("out"));
    let [entered, written] = [0o755, 0o733].map(fs::Permissions::from_mode);
    fs::set_permissions(stage.folder.path(), entered).unwrap();
    fs::create_dir(&out).unwrap();
    fs::set_permissions(&out, written).unwrap();
    let mut nobody = command(&setpriv);
    nobody.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    nobody.arg(env!("CARGO_BIN_EXE_headstart")).arg("bundle").arg("--out").arg(&out);
    let output = nobody.arg(&program).output_when_free();
    if stderr(&output).starts_with("setpriv") {
        testkit::skip("another user can only be taken on by root, and must reach headstart");
        return;
    }
    assert!(output.status.success(), "{output:?}");
    assert_eq!(names(&out), ["headstart.json", "run", "symbols.gdb"]);
}

/// Mounts a file system on the stage's folder `full`, and bundles there; what is left is listed.
fn in_a_mount(stage: &Stage, options: &str) -> Option<Output> {
    let unshare = testkit::tool("unshare")?;
    let folder = stage.text("full");
    fs::create_dir_all(&folder).unwrap();
    let script = "mount -t tmpfs -o \"$1\" none \"$2\" || exit 99\n\
        \"$3\" bundle --out \"$2/new\" \"$4\"; code=$?; ls -A \"$2\"; exit $code";
    let mut command = command(&unshare);
    command.args(["-m", "sh", "-c", script, "sh", options, &folder]);
    let output =
        command.arg(env!("CARGO_BIN_EXE_headstart")).arg(stage.path("program")).output_when_free();
    if output.status.code() == Some(99) || stderr(&output).starts_with("unshare") {
        testkit::skip("file systems are only mounted by root");
        return None;
    }
    Some(output)
}

#[test]
fn a_full_file_system_and_one_where_nothing_is_executed() {
    let Some(stage) = Stage::bare() else { return };
    for size in ["4k", "40k", "100k"] {
        let Some(output) = in_a_mount(&stage, &format!("size={size}")) else { return };
        told(&output, 6, "No space left on device");
    }
    if let Some(output) = in_a_mount(&stage, "noexec") {
        told(&output, 6, "mounted with noexec");
    }
}
