//! `headstart trace --pages`, on a program whose touched pages are known by construction.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, run, stderr, stdout, wait_for};
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// Read-ahead is one for the whole machine.
static ONE: Mutex<()> = Mutex::new(());

/// Touches every third of 1024 pages, from the last to the first, and sleeps as long as it is told.
const THIRDS: &str = r#"
#include <stdlib.h>
#include <unistd.h>
extern const volatile char constants[];
__asm__(".section .constants,\"a\",@progbits\n.balign 4096\nconstants:\n"
        ".rept 1024\n.byte 1\n.zero 4095\n.endr\n.text\n");
int main(int count, char **arguments) {
    long sum = 0;
    for (long page = 1023; page >= 0; page -= 3) sum += constants[page * 4096];
    if (count > 1) sleep(atoi(arguments[1]));
    return sum != 342;
}"#;

struct World {
    folder: TempDir,
    program: PathBuf,
    _one: MutexGuard<'static, ()>,
}

impl World {
    /// `None`, said loudly, where pages cannot be recorded.
    fn new() -> Option<World> {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = os::file_pages::permitted() {
            testkit::skip(&error.to_string());
            return None;
        }
        let cc = testkit::tool("gcc")?;
        let folder = tempfile::tempdir().unwrap();
        let program = testkit::compile(&cc, folder.path(), "thirds", THIRDS, &["-O1"]);
        if os::host::read_ahead_kib(&program).get().is_none_or(|kib| kib == 0) {
            testkit::skip("the folder for temporary files is on a device without read-ahead");
            return None;
        }
        Some(World { folder, program, _one: one })
    }

    fn program(&self) -> &str {
        self.program.to_str().unwrap()
    }
}

fn read_ahead_kib(path: &Path) -> u64 {
    os::host::read_ahead_kib(path).get().unwrap()
}

#[test]
fn the_pages_of_a_section_are_listed_in_the_order_of_their_touch() {
    let Some(world) = World::new() else { return };
    let before = read_ahead_kib(&world.program);
    let arguments = ["trace", "--pages", "--all", "--json", "--", world.program()];
    let output = headstart(world.folder.path(), &arguments).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(read_ahead_kib(&world.program), before);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let files = found["files"].as_array().unwrap();
    let own = files.iter().position(|file| file["path"] == world.program()).unwrap();
    let file = &files[own];
    assert_eq!(file["exact"], true, "{file}");
    let sections = file["sections"].as_array().unwrap();
    let at = sections.iter().position(|section| section["name"] == ".constants").unwrap();
    let pages = &sections[at]["pages"];
    assert_eq!((&pages["touched"], &pages["total"]), (&342.into(), &1024.into()), "{file}");
    let order = found["order"].as_array().unwrap();
    let own = order.iter().filter(|page| page["file"] == own && page["section"] == at);
    let own: Vec<u64> = own.map(|page| page["page"].as_u64().unwrap()).collect();
    assert_eq!(own.len(), 342);
    assert!(own.windows(2).all(|pair| pair[0] == pair[1] + 3), "{own:?}");
    let touched = files.iter().filter_map(|file| file["pages"]["touched"].as_u64());
    assert_eq!(touched.sum::<u64>(), order.len() as u64);
}

#[test]
fn the_view_names_what_is_not_known_and_lists_every_page_where_asked() {
    let Some(world) = World::new() else { return };
    let arguments = ["trace", "--pages", "--all", "--", world.program()];
    let output = headstart(world.folder.path(), &arguments).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    let row = text.lines().find(|line| line.trim_start().starts_with(".constants")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>()[..3], [".constants", "342", "1,024"]);
    let line = format!(" .constants {}", world.program());
    assert_eq!(text.lines().filter(|page| page.ends_with(&line)).count(), 342);
    // This test itself has the C library mapped.
    assert!(text.contains("could not leave memory") && text.contains("is not known"), "{text}");
}

#[test]
fn read_ahead_comes_back_after_kill_9_and_after_an_interrupt() {
    let Some(world) = World::new() else { return };
    let before = read_ahead_kib(&world.program);
    for signal in ["KILL", "INT"] {
        let arguments = ["trace", "--pages", "--", world.program(), "4"];
        let mut child = headstart(world.folder.path(), &arguments).spawn().unwrap();
        wait_for("read-ahead is off", || read_ahead_kib(&world.program) == 0);
        let line = format!("kill -{signal} {}", child.id());
        let sent = std::process::Command::new("sh").args(["-c", &line]).status().unwrap();
        assert!(sent.success());
        assert!(!child.wait().unwrap().success());
        wait_for("read-ahead is on", || read_ahead_kib(&world.program) == before);
        wait_for("the program is ended", || !common::is_running(world.program()));
    }
}

#[test]
fn a_launch_that_is_ended_in_time_is_no_failure() {
    let Some(world) = World::new() else { return };
    let arguments = ["trace", "--pages", "--first", "1s", "--json", "--", world.program(), "100"];
    let output = headstart(world.folder.path(), &arguments).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["total_us"], 1e6, "{found}");
}

#[test]
fn what_does_not_go_together_is_said() {
    for other in ["--counts", "--functions", "--out=x", "--export=headstart", "--weight=2"] {
        let output = run(&["trace", "--pages", other, "--", "true"]);
        assert_eq!(output.status.code(), Some(2), "{other}");
        let text = stderr(&output);
        let name = other.split('=').next().unwrap();
        assert!(text.contains("--pages") && text.contains(name), "{text}");
    }
    let output = run(&["trace", "--pages", "--until", "function:main", "--", "true"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--pages stops nothing"), "{}", stderr(&output));
}

#[test]
fn windows_programs_are_refused_by_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testfiles/pe");
    let program = folder.join("arm-guarded.exe");
    let output = run(&["trace", "--pages", "--", program.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("cannot be launched by name"), "{}", stderr(&output));
    assert!(!stderr(&output).contains("chmod"), "{}", stderr(&output));
}

#[test]
fn a_file_that_the_first_launches_make_is_no_sign() {
    let Some(world) = World::new() else { return };
    let sign = world.folder.path().join("sign");
    let (until, script) = (format!("file:{}", sign.display()), format!("> {}", sign.display()));
    let output = run(&["trace", "--pages", "--until", &until, "--", "sh", "-c", &script]);
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    assert!(stderr(&output).contains("have made it; choose output"), "{}", stderr(&output));
}

#[test]
fn without_root_nothing_is_listed_and_the_remedy_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = headstart(folder.path(), &["trace", "--pages", "--json", "--", "true"]);
    if os::file_pages::permitted().is_ok() {
        command.uid(65534);
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return testkit::skip(&format!("nobody may not run headstart: {error}")),
    };
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert!(output.stdout.is_empty());
    assert!(stderr(&output).contains("run headstart as root"), "{}", stderr(&output));
}
