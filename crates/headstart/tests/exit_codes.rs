//! Kinds of input and verbs that only look or rewrite: the documented exit code, and a sentence
//! that names the file.
#![allow(clippy::unwrap_used)]

mod common;

use common::{run, stderr};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use testkit::WhenFree;

const SOURCE: &str = "#include <stdio.h>\nconst char *words[] = {\"here\", \"there\"};\n\
    int main(int count, char **all) { (void)all; return puts(words[count - 1]) < 0; }";

fn file(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Verbs that need a dynamic program or library, with an option that says where to.
const VERBS: [&[&str]; 8] = [
    &["bundle", "--out"],
    &["bundle", "--fixed", "--out"],
    &["elf", "selfbind", "--out"],
    &["elf", "order-needed", "--out"],
    &["elf", "no-pie", "--out"],
    &["elf", "relr", "--out"],
    &["simulate"],
    &["optimize", "--runs", "2", "--only", "relr", "--"],
];

/// Runs the verb; gives its code and what it said.
fn answer(verb: &[&str], folder: &Path, path: &Path) -> (i32, String) {
    let out = folder.join("out");
    let mut words = verb.to_vec();
    if verb.last() == Some(&"--out") {
        words.push(out.to_str().unwrap());
    }
    words.push(path.to_str().unwrap());
    let output = run(&words);
    let said = stderr(&output);
    let _ = fs::remove_dir_all(&out).or_else(|_| fs::remove_file(&out));
    let code = output.status.code();
    (code.unwrap_or_else(|| panic!("{words:?}: {:?} {said}", output.status)), said)
}

#[test]
fn what_is_not_rewritten_or_bundled_is_an_answer() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let whole = fs::read(testkit::compile(&cc, at, "whole", SOURCE, &[])).unwrap();
    let mut kinds = vec![
        ("static", testkit::compile(&cc, at, "static", SOURCE, &["-static"])),
        ("static-pie", testkit::compile(&cc, at, "static-pie", SOURCE, &["-static-pie", "-fPIE"])),
        ("script", file(at, "script", b"#!/bin/sh\nexit 0\n")),
        ("text", file(at, "text", b"echo hello\n")),
        ("empty", file(at, "empty", b"")),
        ("magic", file(at, "magic", &whole[..6])),
        ("header", file(at, "header", &whole[..40])),
        ("half", file(at, "half", &whole[..whole.len() / 2])),
    ];
    if let Some(musl) = testkit::tool("musl-gcc") {
        kinds.push(("musl", testkit::compile(&musl, at, "musl", SOURCE, &[])));
    }
    for (kind, path) in &kinds {
        for verb in VERBS {
            let (code, said) = answer(verb, at, path);
            // A program that can be rewritten may be: musl's with fixed addresses, say.
            // What a script starts may be optimized.
            let followed = *kind == "script" && verb[0] == "optimize";
            let fine = code == 0 && (*kind == "musl" || followed);
            // What cannot be started has a code of its own where it is started.
            let started = [3, 4].contains(&code) && verb[0] == "optimize";
            assert!(fine || started || code == 1, "{kind} {verb:?}: {code} {said}");
            let name = path.file_name().unwrap().to_str().unwrap();
            assert!(fine || said.contains(name), "{kind} {verb:?} names the file: {said}");
        }
    }
    let missing = at.join("missing");
    for verb in VERBS {
        let (code, said) = answer(verb, at, &missing);
        // A program that is looked for and one that is a file: not started, not read.
        let expected = if verb[0] == "elf" { 6 } else { 3 };
        assert!(code == expected && said.contains("missing"), "{verb:?}: {code} {said}");
        let (code, said) = answer(verb, at, at);
        assert!([3, 6].contains(&code) && said.contains("folder"), "{verb:?}: {code} {said}");
    }
}

/// Mutated programs: an answer or a file that cannot be read, never a wrong command line, a
/// failure of headstart's own, a panic or a signal.
#[test]
fn damaged_programs_are_an_answer_too() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let whole = fs::read(testkit::compile(&cc, at, "whole", SOURCE, &[])).unwrap();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for round in 0..60 {
        let mut bytes = whole.clone();
        // Headers and the tables behind them; every fourth time anywhere.
        let area = if round % 4 == 3 { bytes.len() } else { 0x800 };
        for _ in 0..=random(4) {
            let (at, value) = (4 + random(area - 4), random(256) as u8);
            bytes[at] = value;
        }
        if round % 5 == 4 {
            bytes.truncate(64 + random(whole.len() - 64));
        }
        let path = file(at, "mutated", &bytes);
        for verb in &VERBS[..7] {
            let (code, said) = answer(verb, at, &path);
            assert!([0, 1, 6].contains(&code), "round {round} {verb:?}: {code} {said}");
            assert!(!said.contains("panicked"), "round {round} {verb:?}: {said}");
            assert!(code == 0 || said.contains("mutated"), "round {round} {verb:?}: {said}");
        }
        for verb in [&["inspect"][..], &["identify"]] {
            let (code, said) = answer(verb, at, &path);
            assert!([0, 1].contains(&code), "round {round} {verb:?}: {code} {said}");
        }
    }
}

/// A function that nothing defines, and nothing calls: the program runs, and no sentence denies it.
#[test]
fn a_reference_that_waits_for_its_first_call_is_no_failure() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let library = "int nowhere(void); int weak(void) __attribute__((weak));
        int greet(int count) { return count > 3 ? nowhere() : weak ? weak() : 7; }";
    let program = "int greet(int); int main(int count, char **all) { return greet(count); }";
    let build = |name: &str, order: &str| {
        let soname = format!("-Wl,-soname,libl{name}.so,-z,{order}");
        let file = format!("libl{name}.so");
        testkit::compile(&cc, at, &file, library, &["-shared", "-fPIC", &soname]);
        let search =
            format!("-Wl,-z,{order},--unresolved-symbols=ignore-all,-rpath,{}", at.display());
        testkit::compile(&cc, at, name, program, &["-L.", &format!("-l:{file}"), &search])
    };
    let lazy = build("lazy", "lazy");
    let code = |path: &Path| std::process::Command::new(path).status().unwrap().code();
    assert_eq!(code(&lazy), Some(7));
    let (refused, said) = answer(&["bundle", "--out"], at, &lazy);
    assert!(refused == 1 && said.contains("nowhere") && said.contains("first call"), "{said}");
    assert!(!said.contains("would fail") && said.contains("--outside"), "{said}");
    // What the sentence advises works.
    let out = at.join("bundle");
    let words = ["bundle", "--out", out.to_str().unwrap(), "--outside", "libllazy"];
    let output = run(&[&words[..], &[lazy.to_str().unwrap()]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(code(&out.join("run")), Some(7));
    // Where all is bound at the start the program does fail.
    let now = build("now", "now");
    assert_eq!(code(&now), Some(127));
    let (refused, said) = answer(&["bundle", "--out"], at, &now);
    assert!(refused == 1 && said.contains("would fail as it is"), "{said}");
}

/// A thread that cannot be started in the middle of the work would end it without a word.
#[test]
fn too_few_threads_are_told_before_anything_is_done() {
    let (Some(setpriv), Some(prlimit)) = (testkit::tool("setpriv"), testkit::tool("prlimit"))
    else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    // The build may be in a folder that nobody may enter.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("headstart");
    fs::copy(env!("CARGO_BIN_EXE_headstart"), &copy).unwrap();
    let limited = |limit: &str| {
        let mut command = std::process::Command::new(&prlimit);
        command.arg(format!("--nproc={limit}")).arg(&setpriv);
        // A user who has no other processes.
        command.args(["--reuid", "64123", "--regid", "64123", "--clear-groups"]).arg(&copy);
        command.args(["simulate", "/bin/ls"]).current_dir("/").output_when_free()
    };
    let output = limited("100");
    if stderr(&output).starts_with("setpriv:") {
        return testkit::skip(&stderr(&output));
    }
    assert!(output.status.success(), "{}", stderr(&output));
    let output = limited("1");
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(7), "{said}");
    assert!(said.contains("(ulimit -u is 1"), "{said}");
}

/// Nothing can be said then, but the exit code is the documented one.
#[test]
fn a_standard_error_that_is_full_or_closed_changes_no_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let text = file(folder.path(), "text", b"no program");
    let text = text.to_str().unwrap();
    let verbs: [&[&str]; 3] =
        [&["inspect"], &["elf", "relr", "--undo"], &["identify", "--is", "elf"]];
    for verb in verbs {
        for path in [text, "/nonexistent"] {
            let words = [verb, &[path]].concat();
            let code = run(&words).status.code();
            for stderr in ["/dev/full", "&-", "/dev/null"] {
                let script = format!("exec \"$0\" \"$@\" 2>{stderr}");
                let mut shell = std::process::Command::new("sh");
                shell.args(["-c", &script, env!("CARGO_BIN_EXE_headstart")]).args(&words);
                let ended = shell.output_when_free().status.code();
                assert_eq!(ended, code, "{words:?} 2>{stderr}");
            }
        }
    }
}
