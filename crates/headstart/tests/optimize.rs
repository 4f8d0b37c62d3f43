//! `headstart optimize` as a command: what scripts rely on, and what goes wrong.
#![allow(clippy::unwrap_used)]

mod common;

use common::{children, headstart, json, run, stderr, stdout, wait_for};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use testkit::WhenFree;

const SOURCE: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }";

/// A small program; `None`, said loudly, without a C compiler.
fn program() -> Option<(TempDir, String)> {
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&testkit::tool("cc")?, folder.path(), "program", SOURCE, &[]);
    let program = program.canonicalize().unwrap().display().to_string();
    Some((folder, program))
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn json_has_what_scripts_rely_on() {
    let Some((folder, program)) = program() else { return };
    let out = folder.path().join("out");
    let before = fs::read(&program).unwrap();
    let options = ["optimize", "--json", "--runs", "10", "--allow", "no-aslr"];
    let found = json(&[&options[..], &["--out", text(&out), "--", &program]].concat());
    let variants = found["variants"].as_array().unwrap();
    assert_eq!(variants[0]["name"], "default");
    for variant in variants {
        let verified = variant["verified"].as_bool().unwrap();
        assert!(variant["keeps_aslr"].is_boolean());
        assert_eq!(variant["reason"].is_null(), verified, "{variant}");
        let times = ["min_us", "median_us", "ratio", "low", "high"];
        for name in times.into_iter().chain(["minor_faults", "private_kib", "peak_rss_kib"]) {
            let figure = variant.get(name).unwrap();
            // Without ptrace private memory, and memory below the launcher's, is not told.
            let told = figure.is_number() || (name.ends_with("_kib") && figure.is_null());
            assert!(if verified { told } else { figure.is_null() }, "{name}: {variant}");
        }
    }
    let best = &found["best"];
    assert!(variants.iter().any(|v| v["name"] == *best && v["verified"] == true), "{best}");
    let output = Command::new(out.join("run")).output_when_free();
    assert_eq!(stdout(&output), "hello\n");
    let manifest = fs::read_to_string(out.join("headstart.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!((&manifest["variant"], &manifest["original"]["file"]), (best, &program.into()));
    assert_eq!(fs::read(manifest["original"]["file"].as_str().unwrap()).unwrap(), before);
}

const AHEAD: &str = "bundle + read-ahead";

/// Bundles that read ahead are tried where cold launches are measured and pages can be recorded.
#[test]
fn bundles_that_read_ahead_are_for_cold_launches() {
    let Some((_folder, program)) = program() else { return };
    let tried = |more: &[&str]| {
        let options = ["optimize", "--json", "--runs", "2", "--only", AHEAD];
        let found = json(&[&options[..], more, &["--", &program]].concat());
        let variant = found["variants"][1].clone();
        assert_eq!(variant["name"], AHEAD);
        variant
    };
    let warm = tried(&[]);
    assert_eq!((&warm["state"], &warm["cold"]), (&"not_tried".into(), &Value::Null));
    assert!(warm["reason"].as_str().unwrap().contains("--cold"), "{warm}");
    if os::host::file_system(&std::env::temp_dir()).is_ok_and(|kind| kind == "tmpfs") {
        return testkit::skip("the folder for temporary files is in memory");
    }
    let cold = tried(&["--cold"]);
    if os::file_pages::permitted().is_err() {
        assert_eq!(cold["state"], "declined", "{cold}");
        assert!(cold["reason"].as_str().unwrap().contains("run headstart as root"), "{cold}");
        return testkit::skip("recording pages needs root");
    }
    assert_eq!((&cold["state"], &cold["cold"]["rounds"]), (&"verified".into(), &2.into()));
    let notes = cold["notes"].as_array().unwrap();
    let says = |note: &Value| note.as_str().unwrap().starts_with("Where it is not in memory");
    assert!(notes.iter().any(says), "{cold}");
}

#[test]
fn people_read_a_table() {
    let Some((_folder, program)) = program() else { return };
    let output = run(&["optimize", "--runs", "3", "--only", "default", "--", &program]);
    let text = stdout(&output);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(text.contains("should be left as it is") && text.contains("baseline"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// One sentence, the exit code, nothing on stdout.
fn fails(arguments: &[&str], code: i32, says: &str) {
    let output = run(&[&["optimize", "--runs", "3"], arguments].concat());
    check(&output, code, says);
}

fn check(output: &Output, code: i32, says: &str) {
    let said = stderr(output);
    assert!(said.contains(says), "{says}: {said}");
    assert_eq!(output.status.code(), Some(code), "{said}");
    assert!(stdout(output).is_empty(), "{}", stdout(output));
}

#[test]
fn programs_that_nothing_is_built_for() {
    let Some((folder, program)) = program() else { return };
    let cc = testkit::tool("cc").unwrap();
    let made = |name: &str, source: &str, options: &[&str]| {
        text(&testkit::compile(&cc, folder.path(), name, source, options)).to_owned()
    };
    fails(&["--", "no-such-program-here"], 3, "check the spelling");
    fails(&["--", "/etc/passwd"], 3, "chmod +x");
    fails(&["--", &made("static", SOURCE, &["-static"])], 1, "is static");
    fails(&["--", &made("fails", "int main(void) { return 3; }", &[])], 4, "exit code 3");
    fails(&["--", &made("crashes", "int main(void) { __builtin_trap(); }", &[])], 4, "signal");
    let hangs = made("hangs", "int main(void) { for (;;); }", &[]);
    fails(&["--timeout", "300ms", "--", &hangs], 5, "--timeout");
    let library = made("libgone.so", "int gone;", &["-shared", "-fPIC"]);
    let lacking = made("lacking", SOURCE, &["-Wl,--no-as-needed", "-L.", "-l:libgone.so"]);
    fs::remove_file(library).unwrap();
    fails(&["--", &lacking], 6, "libgone.so");
    if let Some(musl) = testkit::tool("musl-gcc") {
        let musl = testkit::compile(&musl, folder.path(), "musl", SOURCE, &[]);
        fails(&["--", text(&musl)], 1, "only glibc's loader");
    }
    fails(&["--until", "entry", "--", &program], 2, "--until exit alone");
    fails(&["--only", "hope", "--", &program], 2, "no variant 'hope'");
    fails(&["--check", "false", "--", &program], 4, "for the original program");
}

#[test]
fn damaged_programs() {
    let Some((folder, program)) = program() else { return };
    let whole = fs::read(&program).unwrap();
    let path = folder.path().join("damaged");
    // What the kernel and the loader say of them differs; that they end in a sentence does not.
    for length in [20, 63, 64, 100, 700, 3000, whole.len() / 2, whole.len() - 4000] {
        fs::write(&path, &whole[..length]).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let output = run(&["optimize", "--runs", "3", "--", text(&path)]);
        let said = stderr(&output);
        let code = output.status.code().unwrap();
        assert!(
            [1, 3, 4, 6].contains(&code) && said.starts_with("headstart: "),
            "{length}: {said}"
        );
        assert!(!said.contains("panicked"), "{length}: {said}");
    }
}

#[test]
fn folders_that_cannot_be_used() {
    let Some((folder, program)) = program() else { return };
    let path = |name: &str| folder.path().join(name);
    fs::create_dir(path("full")).unwrap();
    fs::write(path("full/mine"), "mine").unwrap();
    let out = |path: &Path| ["--out".to_owned(), text(path).to_owned()];
    for (place, says) in [
        (path("full"), "is not empty"),
        (path("program"), "--out"),
        (path("program/below"), "--out"),
        (PathBuf::from("/proc/no/such"), "--out"),
    ] {
        let [option, place] = out(&place);
        fails(&[&option, &place, "--", &program], 6, says);
    }
    assert_eq!(fs::read_to_string(path("full/mine")).unwrap(), "mine");
    // A failure later leaves no folder behind.
    let [option, place] = out(&path("new/below"));
    fails(&[&option, &place, "--", "/bin/false"], 4, "exit code 1");
    assert!(!path("new").exists());
    let mut command = headstart(folder.path(), &["optimize", "--", &program]);
    check(&command.env("TMPDIR", path("none")).output_when_free(), 6, "TMPDIR");
}

/// The command in a namespace of mounts, with a small file system of these options at `place`.
fn mounted(options: &str, place: &Path, arguments: &[&str]) -> Option<Output> {
    let unshare = testkit::tool("unshare")?;
    let script = "mount -t tmpfs -o \"$1\" none \"$2\" || exit 97; \
                  dd if=/dev/zero of=\"$2/filler\" bs=4096 2>/dev/null; \
                  mkdir -p \"$2/out\"; shift 2; exec \"$@\"";
    let mut command = Command::new(unshare);
    command.args(["--map-root-user", "--mount", "sh", "-c", script, "sh", options, text(place)]);
    command.arg(env!("CARGO_BIN_EXE_headstart")).args(arguments).env("TMPDIR", "/tmp");
    let output = command.output_when_free();
    if output.status.code() == Some(97) || stderr(&output).contains("unshare:") {
        testkit::skip("file systems cannot be mounted here");
        return None;
    }
    Some(output)
}

#[test]
fn a_full_file_system_is_said_and_nothing_called_run_is_left() {
    let Some((folder, program)) = program() else { return };
    let place = folder.path().join("mount");
    fs::create_dir(&place).unwrap();
    let out = place.join("out");
    let arguments = ["optimize", "--runs", "10", "--out", text(&out), "--", &program];
    if let Some(output) = mounted("size=64k", &place, &arguments) {
        check(&output, 6, "No space left");
    }
    if let Some(output) = mounted("size=64k,noexec", &place, &arguments) {
        check(&output, 6, "noexec");
    }
}

/// A launch of the command that goes on for long, with its temporary folder and its `--out`.
fn long(folder: &Path) -> Option<(std::process::Child, PathBuf, PathBuf)> {
    let cc = testkit::tool("cc")?;
    let source = "#include <unistd.h>\nint main(void) { usleep(50000); return 0; }";
    let program = testkit::compile(&cc, folder, "slow", source, &[]);
    let (temporary, out) = (folder.join("temporary"), folder.join("out"));
    fs::create_dir(&temporary).unwrap();
    let words = ["optimize", "--runs", "100000", "--out", text(&out), "--", text(&program)];
    let mut command = headstart(folder, &words);
    command.env("TMPDIR", &temporary).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_for("the scratch folder", || fs::read_dir(&temporary).unwrap().count() > 0);
    wait_for("a launch", || !children(child.id()).is_empty());
    Some((child, temporary, out))
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let Some(kill) = testkit::tool("kill") else { return };
    let Some((child, temporary, out)) = long(folder.path()) else { return };
    let pid = child.id().to_string();
    assert!(Command::new(kill).args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    check(&output, 130, "interrupted");
    assert_eq!(fs::read_dir(temporary).unwrap().count(), 0);
    assert!(!out.exists());
}

#[test]
fn a_kill_leaves_no_run_and_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let Some((mut child, temporary, out)) = long(folder.path()) else { return };
    let program = text(&folder.path().join("slow")).to_owned();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!out.join("run").exists());
    for entry in fs::read_dir(temporary).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name.starts_with("headstart-optimize-"), "{name}");
    }
    wait_for("the end of its launches", || !common::is_running(&program));
}
