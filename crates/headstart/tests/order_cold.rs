//! `headstart order verify` of builds that do not leave memory: nothing of them is read cold.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, stderr};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const FUNCTIONS: usize = 400;

/// Calls every tenth function; with an argument it says so, and waits for ever.
fn source() -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#include <unistd.h>\n#include <stdlib.h>\nvolatile int sink;\n",
    );
    for at in 0..FUNCTIONS {
        text += &format!("void f_{at}(int x) {{ {} }}\n", "sink += x;".repeat(60));
    }
    let calls: String = (0..FUNCTIONS).step_by(10).map(|at| format!("f_{at}(count);")).collect();
    let wait = "if (getenv(\"WAIT\")) { puts(\"ready\"); fflush(stdout); pause(); }";
    text + &format!("int main(int count, char **words) {{ (void)words; {calls} {wait} return 0; }}")
}

/// A folder with a program and a build of it in order.
fn builds(folder: TempDir) -> Option<TempDir> {
    testkit::tool("ld.lld-19")?;
    let gcc = testkit::tool("gcc")?;
    let order: String = (0..FUNCTIONS).step_by(10).map(|at| format!("f_{at}\n")).collect();
    fs::write(folder.path().join("program.c"), source()).unwrap();
    fs::write(folder.path().join("order"), order).unwrap();
    std::os::unix::fs::symlink(testkit::find("ld.lld-19").unwrap(), folder.path().join("ld.lld"))
        .unwrap();
    let run = |words: &[&str]| {
        let done = Command::new(&gcc).args(words).current_dir(folder.path()).status().unwrap();
        assert!(done.success(), "{words:?}");
    };
    run(&["-O1", "-ffunction-sections", "-fno-inline", "-c", "program.c"]);
    let link = ["program.o", "-B.", "-fuse-ld=lld", "-o"];
    run(&[&link[..], &["old"]].concat());
    run(&[&link[..], &["new", "-Wl,--symbol-ordering-file=order"]].concat());
    Some(folder)
}

fn verified(folder: &Path) -> (Value, Option<i32>) {
    let [old, new] = ["old", "new"].map(|name| folder.join(name).display().to_string());
    let words = ["order", "verify", "--runs", "0", "--cold-runs", "2", "--json", &old, &new];
    let done = headstart(&folder.join("cache"), &words).output().unwrap();
    let found = serde_json::from_slice(&done.stdout);
    (found.unwrap_or_else(|_| panic!("{}", stderr(&done))), done.status.code())
}

/// The program while it waits, with its file mapped.
struct Running(Child);

impl Running {
    fn start(program: PathBuf) -> Running {
        let mut child =
            Command::new(program).env("WAIT", "1").stdout(Stdio::piped()).spawn().unwrap();
        let mut said = [0; 5];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        Running(child)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn reason(figure: &Value) -> &str {
    figure["unavailable"].as_str().unwrap_or_else(|| panic!("{figure}"))
}

#[test]
fn a_build_that_still_runs_is_not_read_cold_and_nothing_follows_from_its_reads() {
    let Some(folder) = builds(tempfile::tempdir().unwrap()) else { return };
    let running = Running::start(folder.path().join("old"));
    let (found, code) = verified(folder.path());
    assert_eq!((found["verdict"].as_str(), code), (Some("better"), Some(0)), "{found}");
    for figure in ["cold_median_us", "reads", "bytes", "distance", "major_faults", "read_us"] {
        reason(&found["old"][figure]);
    }
    let cold = &found["cold"];
    assert!(reason(cold).contains("stayed in memory"), "{cold}");
    assert!(cold["remedy"].as_str().unwrap().contains("end it"), "{cold}");
    let lists = [&found["modules"], &found["old"]["read_list"]];
    assert!(lists.iter().all(|list| list.as_array().unwrap().is_empty()), "{found}");
    drop(running);
    let (found, _) = verified(folder.path());
    if is_in_memory(&found) {
        return testkit::skip("the folder for temporary files is in memory");
    }
    assert!(found["old"]["cold_median_us"].is_number(), "{found}");
}

fn is_in_memory(found: &Value) -> bool {
    found["cold"]["remedy"].as_str().is_some_and(|remedy| remedy.contains("tmpfs"))
}

#[test]
fn builds_on_tmpfs_have_no_cold_figures() {
    let folder = match tempfile::tempdir_in("/dev/shm") {
        Ok(folder) => folder,
        Err(error) => return testkit::skip(&format!("/dev/shm: {error}")),
    };
    let Some(folder) = builds(folder) else { return };
    let (found, code) = verified(folder.path());
    assert_eq!((found["verdict"].as_str(), code), (Some("better"), Some(0)), "{found}");
    for build in ["old", "new"] {
        for figure in ["cold_median_us", "reads", "major_faults", "read_us"] {
            reason(&found[build][figure]);
        }
    }
    assert!(is_in_memory(&found), "{}", found["cold"]);
    assert!(!found.to_string().contains("-0.0"), "{found}");
}
