//! `headstart load`: lists of libraries, good and bad, as users meet them.
#![allow(clippy::unwrap_used)]

mod common;

use common::{children, headstart, is_running, json, run, stderr, stdout, wait_for};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A library whose initializer is `body`.
fn library(folder: &Path, name: &str, body: &str) -> Option<PathBuf> {
    let cc = testkit::tool("gcc")?;
    let source = format!(
        "#include <signal.h>\n#include <stdlib.h>\n#include <unistd.h>\n\
         __attribute__((constructor)) static void begin(void) {{ {body} }}\n"
    );
    Some(testkit::compile(&cc, folder, name, &source, &["-shared", "-fPIC"]))
}

fn list(folder: &Path, text: &str) -> String {
    let path = folder.join("list.txt");
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn failures_are_listed_and_the_rest_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    if library(folder.path(), "good.so", "").is_none() {
        return;
    }
    library(folder.path(), "crash.so", "raise(SIGSEGV);");
    library(folder.path(), "exits.so", "exit(3);");
    library(folder.path(), "hangs.so", "for (;;) pause();");
    library(folder.path(), "last.so", "");
    let mut other = fs::read(at("good.so")).unwrap();
    other[18] = 183;
    fs::write(at("other.so"), other).unwrap();
    fs::write(at("text.so"), "hello\n").unwrap();
    std::os::unix::fs::symlink("loop.so", at("loop.so")).unwrap();
    let names = ["good", "crash", "exits", "hangs", "other", "text", "loop", "gone", "last"];
    let lines = names.map(|name| format!("\"{}\" ; why\r\n", at(&format!("{name}.so"))));
    let list = list(folder.path(), &format!("# a list\r\n\r\n{}", lines.concat()));
    let found = json(&["load", "--json", "--timeout", "500ms", &list]);
    let libraries = found["libraries"].as_array().unwrap();
    assert_eq!(libraries.len(), names.len());
    for (library, says) in libraries.iter().zip([
        "",
        "SIGSEGV",
        "exit code 3",
        "within 0.5 s",
        "aarch64",
        "(it is text:",
        "Too many levels",
        "No such file",
        "",
    ]) {
        let error = library["error"].as_str().unwrap_or("");
        assert!(error.contains(says) && error.is_empty() == says.is_empty(), "{library}");
    }
    let known: Vec<bool> = libraries.iter().map(|library| library["us"].is_f64()).collect();
    assert_eq!(known, [true, false, false, false, true, true, true, true, true]);
    let sum: f64 = libraries.iter().filter_map(|library| library["us"].as_f64()).sum();
    assert!((found["total_us"].as_f64().unwrap() - sum).abs() < 0.01);
    let strict = run(&["load", "--strict", "--timeout", "500ms", &list]);
    assert_eq!(strict.status.code(), Some(1));
    let shown = stdout(&strict);
    assert!(shown.contains("2 of 9 libraries loaded") && shown.contains("SIGSEGV"), "{shown}");
}

#[test]
fn what_is_no_list_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    };
    for (path, code, says) in [
        ("/no/such/list".to_owned(), 6, "check the path"),
        ("/dev/zero".to_owned(), 6, "is a device"),
        ("/".to_owned(), 2, "is a folder"),
        ("/bin/sh".to_owned(), 6, "a program or a library itself"),
        (at("empty", b""), 6, "it names no library"),
        (at("quote", b"a\n\"b\n"), 6, "line 2: a quotation mark is not closed; close it"),
        (at("zero", b"a\0"), 6, "line 1: there is a NUL byte"),
        (at("large", &vec![b'\n'; 5 << 20]), 6, "larger than 4 MiB"),
    ] {
        let output = run(&["load", &path]);
        let text = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{path}: {text}");
        assert!(text.contains(says) && stdout(&output).is_empty(), "{path}: {text}");
    }
}

/// UTF-16 as Windows' Notepad writes it, and names of the current folder.
#[test]
fn lists_of_windows_and_names_of_the_current_folder() {
    let folder = tempfile::tempdir().unwrap();
    if library(folder.path(), "own.so", "").is_none() {
        return;
    }
    let text = "\u{feff}own.so\r\nlibm.so.6\r\n".encode_utf16().flat_map(u16::to_le_bytes);
    fs::write(folder.path().join("list.txt"), text.collect::<Vec<u8>>()).unwrap();
    let mut command = headstart(folder.path(), &["load", "--json", "--prefetch", "list.txt"]);
    let output = command.current_dir(folder.path()).output().unwrap();
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let own = folder.path().canonicalize().unwrap().join("own.so");
    let path = found["libraries"][0]["path"].as_str().unwrap();
    assert_eq!(Path::new(path).canonicalize().unwrap(), own);
    assert!(found["libraries"][1]["error"].is_null(), "{found}");
    assert!(found["read_ahead"]["files"].as_u64().unwrap() >= 1, "{found}");
}

#[test]
fn a_killed_headstart_leaves_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    let mark = folder.path().join("mark").display().to_string();
    let body = format!(
        "if (fork() == 0) {{ setsid(); execl(\"/bin/sleep\", \"{mark}\", \"1000\", NULL); }} for (;;) pause();"
    );
    let Some(hangs) = library(folder.path(), "hangs.so", &body) else { return };
    let list = list(folder.path(), hangs.to_str().unwrap());
    let mut command = headstart(folder.path(), &["load", "--timeout", "1000s", &list]);
    let mut command = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for("the library's own process", || is_running(&mark));
    let all = children(command.id());
    assert!(!all.is_empty());
    command.kill().unwrap();
    command.wait().unwrap();
    wait_for("the end of the library's own process", || !is_running(&mark));
    let alive = || all.iter().any(|pid| Path::new(&format!("/proc/{pid}")).exists());
    wait_for("the end of the keeper", || !alive());
}

#[test]
fn libraries_that_stop_or_end_their_keeper_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(stops) = library(folder.path(), "stops.so", "kill(getppid(), SIGSTOP);") else {
        return;
    };
    let stops = list(folder.path(), stops.to_str().unwrap());
    let stopped = run(&["load", "--strict", "--timeout", "5s", &stops]);
    assert_eq!(stopped.status.code(), Some(0), "{}", stderr(&stopped));

    let mark = folder.path().join("mark").display().to_string();
    let body = format!(
        "if (fork() == 0) {{ setsid(); execl(\"/bin/sleep\", \"{mark}\", \"1000\", NULL); }} \
         usleep(200000); kill(getppid(), SIGKILL); for (;;) pause();"
    );
    let ends = library(folder.path(), "ends.so", &body).unwrap();
    let ended = run(&["load", &list(folder.path(), ends.to_str().unwrap())]);
    assert_eq!(ended.status.code(), Some(8), "{}", stderr(&ended));
    assert!(stderr(&ended).contains("ends.so' was being loaded"), "{}", stderr(&ended));
    assert!(!is_running(&mark));
}

#[test]
fn the_sample_is_a_list_that_loads() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list").display().to_string();
    let written = run(&["load", "--sample", "--count", "8", "--out", &list]);
    if written.status.code() == Some(1) {
        return testkit::skip("needs ld.so.cache: no library is in memory of ldconfig here");
    }
    assert_eq!(run(&["load", "--sample", "--count", "8"]).stdout, fs::read(&list).unwrap());
    assert_eq!(run(&["load", "--strict", &list]).status.code(), Some(0));
    let found = json(&["load", "--json", "--compare", "-r", "1", &list]);
    assert_eq!(found["forms"].as_array().unwrap().len(), 4);
    assert_eq!(found["published"]["without_ms"], 407.0);
    let save = folder.path().join("kept").display().to_string();
    let kept = run(&["experiment", "prefetch", "-r", "1", "--save", &save, &list]);
    assert_eq!(kept.status.code(), Some(0), "{}", stderr(&kept));
    let table = fs::read_to_string(Path::new(&save).join("table.md")).unwrap();
    assert!(table.contains("| cold, read ahead before |") && table.contains("| 407 |"), "{table}");
}

#[test]
fn probes_are_tabled_with_the_published_figures() {
    let found = json(&["experiment", "probe", "--json", "-r", "1", "--warm-only", "true"]);
    assert_eq!(found["rows"].as_array().unwrap().len(), 9);
    assert_eq!(found["published"]["rows"].as_array().unwrap().len(), 4);
    let shown = stdout(&run(&["experiment", "probe", "-r", "1", "true"]));
    for part in ["all in memory before", "program evicted before", "cygwin-developers", "0.05 s"] {
        assert!(shown.contains(part), "{shown}");
    }
    let failed = run(&["experiment", "probe", "-r", "1", "false"]);
    assert_eq!(failed.status.code(), Some(4), "{}", stderr(&failed));
}
