//! `headstart trace` of Windows programs by their names alone, of which nothing stays.
#![allow(clippy::unwrap_used)]

mod common;

use common::{headstart, stderr, stdout, wait_for};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use testkit::pe::{Machine, mingw};

/// Prints its arguments in UTF-8, its folder's file, and lines of its input.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <windows.h>
__attribute__((noinline)) void tell(int at, const wchar_t *word) {
    char text[500];
    WideCharToMultiByte(CP_UTF8, 0, word, -1, text, 500, 0, 0);
    printf("%d [%s]\n", at, text);
}
__attribute__((noinline)) void never(void) { puts("never"); }
int wmain(int count, wchar_t **words) {
    char line[100];
    FILE *beside = fopen("beside.txt", "r");
    for (int at = 1; at < count; at++) tell(at, words[at]);
    printf("file %s\n", beside ? "found" : "missing");
    while (fgets(line, 100, stdin)) printf("line %s", line);
    if (count > 50) never();
    return 0;
}
"#;
/// Waits for ever.
const HANG: &str = "#include <windows.h>\nint main(void) { for (;;) Sleep(1000); }\n";
const DLL: &str = "int one(void) { return 1; }\n";

/// A folder with programs, and a home and a folder for temporary files beside it.
struct World(TempDir);

impl World {
    /// `None`, said loudly, without Wine or a compiler.
    fn new() -> Option<World> {
        testkit::tool("wine64")?;
        let world = World(tempfile::tempdir().unwrap());
        for name in ["home", "tmp", "work"] {
            fs::create_dir(world.path(name)).unwrap();
        }
        Some(world)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn build(&self, name: &str, source: &str, machine: Machine, more: &[&str]) -> Option<()> {
        let made = mingw(&self.path("work"), machine, name, source, more)?;
        assert!(made.is_file(), "{made:?}");
        Some(())
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = headstart(&self.path("cache"), words);
        command.env("HOME", self.path("home")).env("TMPDIR", self.path("tmp"));
        command.env_remove("WINEPREFIX").current_dir(self.path("work"));
        command
    }

    /// Processes with this world in their environment.
    fn processes(&self) -> Vec<PathBuf> {
        let tmp = self.path("tmp").display().to_string();
        let here = |process: &PathBuf| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.windows(tmp.len()).any(|part| part == tmp.as_bytes())
        };
        let processes = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        processes.filter(here).collect()
    }

    fn temporary(&self) -> Vec<PathBuf> {
        fs::read_dir(self.path("tmp")).unwrap().flatten().map(|entry| entry.path()).collect()
    }

    fn assert_clean(&self) {
        wait_for("the last process", || self.processes().is_empty());
        wait_for("the prefix to go", || self.temporary().is_empty());
        assert!(!self.path("home").join(".wine").exists());
    }
}

#[test]
fn a_windows_program_is_traced_by_its_name() {
    let Some(world) = World::new() else { return };
    let flags = ["-municode", "-O1"];
    if world.build("app.exe", PROGRAM, Machine::X86_64, &flags).is_none() {
        return;
    }
    fs::write(world.path("work/beside.txt"), "").unwrap();
    fs::write(world.path("input"), "first\nsecond\n").unwrap();
    // Files from an archive are often not marked as executable.
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    fs::set_permissions(world.path("work/app.exe"), permissions).unwrap();
    let words = ["a b", "q\"uo\"te", "back\\slash\\", "\u{fc}\u{2603}", ""];
    let trace = [&["trace", "--out", "t", "--", "app.exe"][..], &words].concat();
    let output =
        world.command(&trace).stdin(fs::File::open(world.path("input")).unwrap()).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output).replace('\r', "");
    let told: String =
        words.iter().enumerate().map(|(at, word)| format!("{} [{word}]\n", at + 1)).collect();
    assert_eq!(said, format!("{told}file found\nline first\nline second\n"));
    let summary = stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(summary.contains("under wine-"), "{summary}");
    assert!(summary.contains("in a temporary prefix"), "{summary}");
    let text = fs::read_to_string(world.path("work/t")).unwrap();
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(head["command"][0], "app.exe", "{head}");
    assert_eq!(head["command"][1], "a b", "{head}");
    assert!(head["notes"][0].as_str().unwrap().starts_with("under wine-"), "{head}");
    let modules: Vec<&str> = head["modules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|module| module["path"].as_str().unwrap())
        .collect();
    assert!(modules.iter().any(|path| path.ends_with("/app.exe")), "{modules:?}");
    assert!(text.contains("\"tell\"") && !text.contains("\"never\""), "{text}");
    world.assert_clean();
    // Its functions are those that are ordered, not those of Wine's loader.
    let write = ["order", "write", "--linker", "lld", "--out", "order", "--json", "t"];
    let output = world.command(&write).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(report["image"].as_str().unwrap().ends_with("/app.exe"), "{report}");
}

#[test]
fn what_wine_cannot_launch_is_told_with_the_next_step() {
    let Some(world) = World::new() else { return };
    let built = || {
        world.build("one.dll", DLL, Machine::X86_64, &["-shared"])?;
        world.build("hang.exe", HANG, Machine::X86_64, &[])?;
        world.build("old.exe", HANG, Machine::I686, &[])
    };
    if built().is_none() {
        return;
    }
    let cases: [(&[&str], i32, &[&str]); 4] = [
        (&["./one.dll"], 3, &["is a DLL", "trace a program that loads it"]),
        (&["./old.exe"], 3, &["i386", "WINEPREFIX"]),
        (&["--timeout", "1s", "hang.exe"], 5, &["did not finish in time"]),
        (&["WINEPREFIX=/no/prefix", "./one.dll"], 3, &["is a DLL"]),
    ];
    for (words, code, told) in cases {
        let output = world.command(&[&["trace"][..], words].concat()).output().unwrap();
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
        assert!(told.iter().all(|words| said.contains(words)), "{said}");
        world.assert_clean();
    }
}

#[test]
fn a_prefix_of_the_users_is_used_if_it_exists() {
    let Some(world) = World::new() else { return };
    if world.build("app.exe", PROGRAM, Machine::X86_64, &["-municode"]).is_none() {
        return;
    }
    let run = |prefix: &Path| {
        let mut command = world.command(&["trace", "--", "app.exe"]);
        let output = command.env("WINEPREFIX", prefix).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(stdout(&output).contains("file missing"), "{}", stdout(&output));
        stderr(&output).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let missing = world.path("home/missing");
    let said = run(&missing);
    assert!(said.contains("in a temporary prefix") && said.contains("no prefix;"), "{said}");
    assert!(!missing.exists());
    let own = world.path("home/own");
    let system = own.join("drive_c/windows/system32");
    fs::create_dir_all(&system).unwrap();
    fs::write(own.join(".update-timestamp"), "disable\n").unwrap();
    for entry in fs::read_dir(testkit::pe::libraries().unwrap()).unwrap().flatten() {
        std::os::unix::fs::symlink(entry.path(), system.join(entry.file_name())).unwrap();
    }
    let said = run(&own);
    assert!(said.contains("in the prefix that WINEPREFIX names"), "{said}");
    wait_for("the last process", || world.processes().is_empty());
}

#[test]
fn nothing_stays_where_headstart_is_killed() {
    let Some(world) = World::new() else { return };
    if world.build("hang.exe", HANG, Machine::X86_64, &[]).is_none() {
        return;
    }
    // While the prefix is filled, and while the program runs.
    for (runs, signal) in [(false, 9), (false, 2), (true, 9), (true, 2)] {
        let mut command = world.command(&["trace", "--", "./hang.exe"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for("the launch", || match runs {
            true => world.processes().iter().any(|process| {
                let line = fs::read(process.join("cmdline")).unwrap_or_default();
                line.starts_with(b"wine64\0")
                    || line.ends_with(b"hang.exe\0")
                        && !line.windows(5).any(|part| part == b"trace")
            }),
            false => !world.temporary().is_empty(),
        });
        let kill = format!("kill -{signal} {}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        let code = child.wait().unwrap().code();
        assert_eq!(code, (signal == 2).then_some(130));
        world.assert_clean();
    }
}
