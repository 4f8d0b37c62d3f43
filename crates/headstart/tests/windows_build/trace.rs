//! `headstart.exe trace`, under Wine: what it records of a program is what the build for Linux records, which sees
//! the same program from outside of Wine.

use super::pair::{Folders, Pair};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use testkit::pe::{Machine, Printed, mingw, mingw_cpp};

/// A program that does what its argument says.
const PROGRAM: &str = r#"
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define OWN __attribute__((noinline)) void
OWN hot(int i) { __asm__ volatile("" :: "r"(i)); }
OWN copy(char *to, const char *from, size_t n) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) :: "memory");
}
OWN before_main(void) __attribute__((constructor));
OWN before_main(void) { hot(0); }
OWN ready(void) { puts("ready"); fflush(stdout); }
OWN late(void) { hot(1); }
OWN never(void) { puts("never"); }
int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
DWORD WINAPI thread(void *p) { for (int i = 0; i < 20; i++) hot(i); return 0; }
HANDLE start(const char *task, int waits) {
    STARTUPINFOA startup = {sizeof startup};
    PROCESS_INFORMATION made;
    char line[100];
    sprintf(line, "app.exe %s", task);
    CreateProcessA(0, line, 0, 0, 0, 0, 0, 0, &startup, &made);
    if (waits) WaitForSingleObject(made.hProcess, INFINITE);
    return made.hProcess;
}
int main(int count, char **words) {
    const char *task = count > 1 ? words[1] : "";
    int numbers[] = {3, 1, 2};
    if (!strcmp(task, "threads")) {
        HANDLE all[8];
        for (int i = 0; i < 8; i++) all[i] = CreateThread(0, 0, thread, 0, 0, 0);
        WaitForMultipleObjects(8, all, 1, INFINITE);
    } else if (!strcmp(task, "child")) start("leaf", 1);
    else if (!strcmp(task, "leave")) start("wait", 0);
    else if (!strcmp(task, "leaf")) late();
    else if (!strcmp(task, "kill")) for (int i = 0; i < 12; i++) {
        TerminateProcess(start("wait", 0), 3);
        Sleep(i * 7);
        TerminateProcess(start("threads", 0), 3);
    }
    else if (!strcmp(task, "suspend")) {
        HANDLE worker = CreateThread(0, 0, thread, 0, 0, 0);
        for (int i = 0; i < 20; i++) {
            SuspendThread(worker);
            hot(i);
            ResumeThread(worker);
        }
        WaitForSingleObject(worker, INFINITE);
    }
    else if (!strcmp(task, "crash")) { late(); *(volatile int *)0 = 1; }
    else if (!strcmp(task, "wait")) { ready(); for (;;) Sleep(1000); }
    else if (!strcmp(task, "view")) {
        LoadLibraryExA("one.dll", 0, LOAD_LIBRARY_AS_IMAGE_RESOURCE);
        ((int (*)(void))GetProcAddress(LoadLibraryA("one.dll"), "one"))();
    }
    else if (!strcmp(task, "load")) for (int i = 0; i < 3; i++) {
        HMODULE dll = LoadLibraryA("one.dll");
        ((int (*)(void))GetProcAddress(dll, "one"))();
        FreeLibrary(dll);
    } else {
        char to[64], from[64] = "abc";
        qsort(numbers, 3, sizeof *numbers, compare);
        copy(to, from, sizeof to);
        printf("%s %d\n", to, numbers[0]);
    }
    if (count > 50) never();
    return 0;
}
"#;
const DLL: &str = "int one(void) { return 1; }\n";
/// Its exception is caught three calls further up.
const THROWS: &str = r#"
#include <cstdio>
#include <stdexcept>
__attribute__((noinline)) void fails(int i) { if (i < 9) throw std::runtime_error("no"); }
__attribute__((noinline)) void calls(int i) { fails(i); std::puts("not here"); }
__attribute__((noinline)) void caught(int i) { try { calls(i); } catch (std::exception &error) { std::puts(error.what()); } }
int main() { for (int i = 0; i < 3; i++) caught(i); return 5; }
"#;

/// Both builds, and two folders with the programs; none, after a loud line, where something is missing.
fn world() -> Option<(Pair, Folders)> {
    let pair = Pair::new()?;
    let built = built()?;
    let folders = pair.with(|folder| {
        for name in ["app.exe", "one.dll", "throws.exe"] {
            fs::copy(built.join(name), folder.join(name)).unwrap();
        }
    });
    Some((pair, folders))
}

/// The folder with the programs, which are built once for all tests.
fn built() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("windows_build_trace");
        fs::create_dir_all(&folder).unwrap();
        let build =
            |name, source, flags: &[&str]| mingw(&folder, Machine::X86_64, name, source, flags);
        build("app.exe", PROGRAM, &["-O1"])?;
        build("one.dll", DLL, &["-shared"])?;
        mingw_cpp(&folder, "throws.exe", THROWS, &["-O1"])?;
        Some(folder)
    });
    built.as_deref()
}

/// What headstart.exe prints of a trace that it leaves in the file `t`, given before the names of `options`.
fn traced(pair: &Pair, folder: &Path, options: &[&str], program: &[&str], code: i32) -> Value {
    let words = [&["trace", "--json", "--out", "t"], options, &["--"], program].concat();
    let printed = pair.windows(folder, &words);
    assert_eq!(printed.code, Some(code), "{words:?}: {}", printed.stderr);
    serde_json::from_slice(&printed.stdout).unwrap_or_else(|error| panic!("{error}: {printed:?}"))
}

/// The names of the called functions of a module, in the order of the trace `t`, with their counts.
fn calls(folder: &Path, module: &str) -> Vec<(String, Option<u64>)> {
    let text = fs::read_to_string(folder.join("t")).unwrap();
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let head = lines.next().unwrap();
    let modules = head["modules"].as_array().unwrap();
    let is_it = |path: &Value| path.as_str().unwrap().replace('\\', "/").ends_with(module);
    let place = modules.iter().position(|known| is_it(&known["path"])).unwrap();
    let calls = lines.filter(|line| line[1].as_u64() == Some(place as u64));
    calls.map(|call| (call[4].as_str().unwrap().to_owned(), call[5].as_u64())).collect()
}

fn names(folder: &Path) -> Vec<String> {
    calls(folder, "/app.exe").into_iter().map(|(name, _)| name).collect()
}

fn note<'a>(report: &'a Value, words: &str) -> &'a str {
    let mut notes = report["notes"].as_array().unwrap().iter().filter_map(Value::as_str);
    notes.find(|note| note.contains(words)).unwrap_or_else(|| panic!("{report}"))
}

#[test]
fn functions_are_those_that_the_build_for_linux_records() {
    let Some((pair, folders)) = world() else { return };
    for (program, module) in [
        (&["app.exe"][..], "/app.exe"),
        (&["app.exe", "load"], "/app.exe"),
        (&["app.exe", "load"], "/one.dll"),
        (&["app.exe", "view"], "/one.dll"),
        (&["throws.exe"], "/throws.exe"),
    ] {
        let code = if program[0] == "throws.exe" { 4 } else { 0 };
        traced(&pair, folders.windows.path(), &[], program, code);
        let linux = [&["trace", "--ignore-failure", "--out", "t", "--"], program].concat();
        pair.linux(folders.linux.path(), &linux);
        let found = calls(folders.windows.path(), module);
        assert!(found.len() > 2, "{found:?}");
        assert_eq!(found, calls(folders.linux.path(), module), "{program:?}");
    }
    let order = ["order", "write", "--linker", "lld-link", "--image", "throws.exe", "t"];
    fs::copy(folders.windows.path().join("t"), folders.linux.path().join("t")).unwrap();
    pair.run_alike(&folders, &order);
}

#[test]
fn exceptions_are_caught_as_usual() {
    let Some((pair, folders)) = world() else { return };
    for more in [&[][..], &["--counts", "--count-limit", "9"]] {
        let words = [&["trace", "--ignore-failure"], more, &["--", "throws.exe"]].concat();
        let Printed { code, stdout, stderr } = pair.windows(folders.windows.path(), &words);
        let printed = String::from_utf8_lossy(&stdout).replace('\r', "");
        assert_eq!((code, printed.as_str()), (Some(0), "no\nno\nno\n"), "{stderr}");
        assert!(stderr.contains("exit code 5"), "{stderr}");
    }
}

#[test]
fn processes_that_are_ended_at_a_breakpoint_end_no_trace() {
    let Some((pair, folders)) = world() else { return };
    let report = traced(&pair, folders.windows.path(), &[], &["app.exe", "kill"], 0);
    assert_eq!(report["programs"], 25);
    let notes = report["notes"].as_array().unwrap().iter().filter_map(Value::as_str);
    assert!(notes.clone().all(|note| !note.contains("not recorded")), "{report}");
}

#[test]
fn each_call_of_every_thread_is_counted() {
    let Some((pair, folders)) = world() else { return };
    let folder = folders.windows.path();
    // Fewer calls of Windows' own functions are counted, each of which takes two stops.
    let counts = ["--counts", "--count-limit", "200"];
    traced(&pair, folder, &counts, &["app.exe", "threads"], 0);
    let counted = |name: &str| calls(folder, "/app.exe").into_iter().find(|call| call.0 == name);
    // Eight threads call it twenty times each, and a constructor calls it.
    assert_eq!(counted("hot").unwrap().1, Some(161));
    assert_eq!(counted("thread").unwrap().1, Some(8));
    traced(&pair, folder, &["--counts", "--count-limit", "9"], &["app.exe", "threads"], 0);
    assert_eq!(counted("hot").unwrap().1, Some(9));
    // The program suspends the thread itself.
    traced(&pair, folder, &counts, &["app.exe", "suspend"], 0);
    assert_eq!(counted("hot").unwrap().1, Some(41));
    // A string instruction is one call, however often it repeats.
    traced(&pair, folder, &counts, &["app.exe"], 0);
    assert_eq!(counted("copy").unwrap().1, Some(1));
}

#[test]
fn launches_are_complete_where_they_are_said_to_be() {
    let Some((pair, folders)) = world() else { return };
    let folder = folders.windows.path();
    let is_called = |name: &str| names(folder).iter().any(|known| known == name);
    let report = traced(&pair, folder, &["--until", "function:ready"], &["app.exe", "wait"], 0);
    assert_eq!((&report["ending"], &report["ready"]), (&"ready".into(), &true.into()));
    let report = traced(&pair, folder, &["--until", "output:ready"], &["app.exe", "wait"], 0);
    assert_eq!(report["ending"], "ready");
    assert!(is_called("ready") && is_called("main") && !is_called("never"));
    traced(&pair, folder, &["--until", "entry"], &["app.exe", "wait"], 0);
    // Only what the loader has called before.
    assert!(is_called("__dyn_tls_init") && !is_called("mainCRTStartup") && !is_called("main"));
    let until = ["--until", "function:absent"];
    note(&traced(&pair, folder, &until, &["app.exe"], 4), "no module of the launch has a function");
    let report = traced(&pair, folder, &["--timeout", "2s"], &["app.exe", "wait"], 5);
    assert_eq!(report["ending"], "timed_out");
    let report = traced(&pair, folder, &[], &["app.exe", "crash"], 4);
    assert_eq!(report["ending"]["status"], 0xc000_0005_u32);
    assert!(is_called("late"));
}

#[test]
fn started_programs_are_recorded_and_none_is_left_running() {
    let Some((pair, folders)) = world() else { return };
    let folder = folders.windows.path();
    let report = traced(&pair, folder, &[], &["app.exe", "child"], 0);
    assert_eq!(report["programs"], 2);
    let text = fs::read_to_string(folder.join("t")).unwrap();
    let late = text.lines().find(|line| line.contains("\"late\"")).unwrap();
    assert!(late.starts_with("[1,"), "{late}");
    let report = traced(&pair, folder, &[], &["app.exe", "leave"], 0);
    note(&report, "left running were ended with it: 1");
}

#[test]
fn what_windows_does_not_have_is_told() {
    let Some((pair, folders)) = world() else { return };
    for (options, code, words) in [
        (["--pages", "-i"], 7, "cannot record pages"),
        (["--until", "signal:USR1"], 2, "Windows has no signals"),
    ] {
        let line = [&["trace"], &options[..], &["--", "app.exe"]].concat();
        let printed = pair.windows(folders.windows.path(), &line);
        assert_eq!(printed.code, Some(code), "{printed:?}");
        assert!(printed.stderr.contains(words), "{}", printed.stderr);
    }
}
