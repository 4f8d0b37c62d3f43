//! Recordings that real recorders make of a real program, held against what the program prints.
#![allow(clippy::unwrap_used)]

use model::{FunctionTrace, ModuleId, Rva};
use ordering::maps::{self, LinkerMap};
use ordering::trace::{self, openoffice, proftext, recorder, uftrace};
use std::path::Path;
use std::process::Command;

/// Each function prints its name. Two threads run one after the other, and a child is forked.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define SAY setvbuf(stdout, 0, _IONBF, 0), puts(__func__)
__attribute__((noinline)) int third(int x) { SAY; return x; }
static __attribute__((noinline)) int second(int x) { SAY; return third(x) + 1; }
static __attribute__((noinline)) void *thread(void *x) { SAY; second(1); return x; }
__attribute__((noinline)) int never(void) { SAY; return 7; }
__attribute__((noinline)) int child(void) { SAY; return 0; }
__attribute__((noinline)) void last(void) { SAY; }
__attribute__((constructor, noinline)) static void early(void) { SAY; }
int main(int count, char **words)
{
    pthread_t id;
    int turn;
    SAY;
    for (turn = 0; turn < 2; turn++) {
        pthread_create(&id, 0, thread, 0);
        pthread_join(id, 0);
    }
    if (count > 1 && strcmp(words[1], "fork") == 0) {
        if (fork() == 0)
            return child();
        wait(0);
    }
    last();
    return count > 9 ? never() : 0;
}
"#;
const ORDER: [&str; 6] = ["early", "main", "thread", "second", "third", "last"];

fn run(folder: &Path, words: &[&str]) -> String {
    let trace = folder.join("trace.log");
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(folder).env("HEADSTART_TRACE", trace);
    command.env("LLVM_PROFILE_FILE", "default.profraw").env("ASAN_OPTIONS", "coverage=1");
    let done = command.output().unwrap();
    assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

fn read(folder: &Path, name: &str) -> FunctionTrace {
    trace::read(name, &std::fs::read(folder.join(name)).unwrap()).unwrap().remove(0)
}

/// Each name once, in order.
fn distinct(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

fn said(output: &str) -> Vec<String> {
    distinct(output.lines().map(str::to_owned))
}

/// The functions of the program's own source among the calls, in order.
fn called(trace: &FunctionTrace, program: &Path, nm: &LinkerMap) -> Vec<String> {
    let is_program = |module: ModuleId| {
        let path = &trace.modules[module.index()].path;
        Path::new(path).file_name() == program.file_name()
    };
    let calls = trace.calls.iter().filter(|call| is_program(call.module));
    let name = |rva: Rva| nm.covering_rva(rva).unwrap().name.clone();
    let ours = ["never", "child"];
    let known = |name: &String| ORDER.contains(&name.as_str()) || ours.contains(&name.as_str());
    distinct(calls.map(|call| name(call.rva)).filter(known))
}

fn nm(folder: &Path, program: &str) -> LinkerMap {
    let map = maps::read("nm", run(folder, &["nm", "-S", program]).as_bytes()).unwrap();
    map.with_base(model::Va::ZERO)
}

fn sources(folder: &Path) {
    std::fs::write(folder.join("program.c"), PROGRAM).unwrap();
    std::fs::write(folder.join("recorder.c"), recorder::SOURCE).unwrap();
}

#[test]
fn the_recorder_library_sees_the_order_that_the_program_prints() {
    for compiler in ["gcc", "clang-19"] {
        let Some(_) = testkit::tool(compiler) else { continue };
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        sources(folder);
        for hooks in [
            &["-finstrument-functions"][..],
            &["-pg", "-mfentry"],
            &["-fpatchable-function-entry=5"],
        ] {
            let common = [
                compiler,
                "-Wall",
                "-Werror",
                "-O1",
                "-pthread",
                "program.c",
                "recorder.c",
                "-o",
                "program",
            ];
            run(folder, &[&common, hooks].concat());
            let printed = said(&run(folder, &["./program"]));
            assert_eq!(printed, ORDER);
            let nm = nm(folder, "program");
            let bytes = std::fs::read(folder.join("trace.log")).unwrap();
            let trace = read(folder, "trace.log");
            assert_eq!(called(&trace, Path::new("program"), &nm), printed, "{compiler} {hooks:?}");
            assert_eq!(openoffice::write(&trace), bytes);
        }
    }
}

#[test]
fn the_recorder_library_counts_and_follows_forks() {
    let Some(_) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sources(folder);
    let options = ["gcc", "-O1", "-pthread", "-finstrument-functions", "-DHEADSTART_COUNTS"];
    run(folder, &[&options[..], &["program.c", "recorder.c", "-o", "program"]].concat());
    run(folder, &["./program", "fork"]);
    let nm = nm(folder, "program");
    let trace = read(folder, "trace.log");
    assert_eq!(called(&trace, Path::new("program"), &nm), ORDER);
    let second = trace.calls.iter().find(|it| nm.covering_rva(it.rva).unwrap().name == "second");
    assert_eq!(second.unwrap().count, Some(2));
    let others = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
    let child = others.map(|it| it.into_string().unwrap()).find(|it| it.starts_with("trace.log."));
    let child = called(&read(folder, &child.unwrap()), Path::new("program"), &nm);
    assert_eq!(child, [&ORDER[..5], &["child"]].concat());
}

/// Many threads that call the same functions at once: each function is recorded once.
#[test]
fn the_recorder_library_is_safe_with_threads_and_ends_when_told() {
    let Some(_) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sources(folder);
    let functions: String = (0..500).map(|at| format!("void f{at}(void) {{}}\n")).collect();
    let calls: String = (0..500).map(|at| format!("f{at}();")).collect();
    let source = format!(
        "#include <pthread.h>\nvoid headstart_startup_done(void);\nvoid late(void) {{}}\n{functions}
         static void *all(void *x) {{ {calls} return x; }}
         int main(void) {{ pthread_t ids[8]; for (int i = 0; i < 8; i++) pthread_create(ids + i, 0, all, 0);
         for (int i = 0; i < 8; i++) pthread_join(ids[i], 0); headstart_startup_done(); late(); return 0; }}"
    );
    std::fs::write(folder.join("program.c"), source).unwrap();
    run(
        folder,
        &["gcc", "-pthread", "-finstrument-functions", "program.c", "recorder.c", "-o", "program"],
    );
    run(folder, &["./program"]);
    let nm = nm(folder, "program");
    let trace = read(folder, "trace.log");
    let mut names: Vec<String> =
        trace.calls.iter().map(|it| nm.covering_rva(it.rva).unwrap().name.clone()).collect();
    assert_eq!(names.len(), 502);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 502);
    assert!(!names.contains(&"late".to_owned()));
}

#[test]
fn the_recorder_library_works_on_windows() {
    let tools = ["x86_64-w64-mingw32-gcc", "i686-w64-mingw32-gcc"];
    if tools.iter().any(|name| testkit::tool(name).is_none()) {
        return;
    }
    let Some(wine) = testkit::pe::Wine::shared() else { return };
    let source =
        "volatile int seen;\n__attribute__((noinline)) int third(int x) { seen += x; return x; }
        static __attribute__((noinline)) int second(int x) { return third(x) + 1; }
        int never(void) { return seen; }
        int main(int count, char **words) { return second(count) == 9 ? never() : 0; }";
    for (compiler, hooks) in [
        (tools[0], &["-finstrument-functions"][..]),
        (tools[0], &["-pg", "-mfentry"]),
        (tools[1], &["-finstrument-functions"]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        sources(folder);
        std::fs::write(folder.join("program.c"), source).unwrap();
        let common = [compiler, "-O1", "program.c", "recorder.c", "-o", "program.exe"];
        run(folder, &[&common, hooks].concat());
        if compiler == tools[1] {
            // Here, Wine runs programs of 64 bits only.
            continue;
        }
        assert_eq!(wine.run(folder, &["program.exe"]).code, Some(0));
        let symbols = run(folder, &["x86_64-w64-mingw32-nm", "program.exe"]);
        let model::ImageFacts::Pe(facts) = image::facts(&folder.join("program.exe")).unwrap()
        else {
            panic!()
        };
        let nm = maps::read("nm", symbols.as_bytes()).unwrap().with_base(facts.base);
        // Nobody has named the file.
        let files = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().file_name());
        let mut files = files.map(|it| it.into_string().unwrap());
        let trace = read(folder, &files.find(|it| it.starts_with("headstart-trace.")).unwrap());
        let names = trace.calls.iter().map(|call| nm.covering_rva(call.rva).unwrap().name.clone());
        let ours =
            names.filter(|name| ["main", "second", "third", "never"].contains(&name.as_str()));
        assert_eq!(distinct(ours), ["main", "second", "third"], "{hooks:?}");
    }
}

#[test]
fn temporal_profiles_of_llvm_are_read_and_written() {
    if ["clang-19", "llvm-profdata-19"].iter().any(|name| testkit::tool(name).is_none()) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sources(folder);
    let options = ["-fprofile-generate", "-mllvm", "-pgo-temporal-instrumentation"];
    // The runtime of LLVM's profiles is not installed with the compiler everywhere.
    if Command::new("clang-19")
        .args(options)
        .args(["-pthread", "program.c", "-o", "program"])
        .current_dir(folder)
        .output()
        .is_ok_and(|done| !done.status.success())
    {
        return testkit::skip("needs libclang-rt-19-dev: apt-get install libclang-rt-19-dev");
    }
    let printed = said(&run(folder, &["./program"]));
    run(folder, &["llvm-profdata-19", "merge", "-text", "default.profraw", "-o", "a.proftext"]);
    let trace = read(folder, "a.proftext");
    let names: Vec<String> = trace.calls.iter().map(|call| call.name.clone()).collect();
    assert_eq!(names, printed);
    let heavier = FunctionTrace { weight: 3.0, calls: trace.calls[2..].to_vec(), ..trace.clone() };
    let written = proftext::write(&[trace, heavier.clone()], |_, _| true);
    assert_eq!(written.left_out, [""; 0]);
    std::fs::write(folder.join("b.proftext"), written.text).unwrap();
    run(folder, &["llvm-profdata-19", "merge", "b.proftext", "-o", "b.profdata"]);
    let ordered = run(folder, &["llvm-profdata-19", "order", "b.profdata"]);
    let mut ordered: Vec<&str> = ordered.lines().filter(|line| !line.starts_with('#')).collect();
    ordered.sort_unstable();
    let mut expected = ORDER;
    expected.sort_unstable();
    assert_eq!(ordered, expected);
    run(folder, &["llvm-profdata-19", "merge", "-text", "b.profdata", "-o", "c.proftext"]);
    let again = trace::read("c", &std::fs::read(folder.join("c.proftext")).unwrap()).unwrap();
    assert_eq!((again[1].weight, &again[1].calls), (3.0, &heavier.calls));
}

#[test]
fn coverage_of_sanitizers_names_the_functions_without_order() {
    let Some(_) = testkit::tool("clang-19") else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sources(folder);
    let options = ["-fsanitize=address", "-fsanitize-coverage=func,trace-pc-guard", "-pthread"];
    if Command::new("clang-19")
        .args(options)
        .args(["program.c", "-o", "program"])
        .current_dir(folder)
        .output()
        .is_ok_and(|done| !done.status.success())
    {
        return testkit::skip("needs libclang-rt-19-dev: apt-get install libclang-rt-19-dev");
    }
    run(folder, &["./program"]);
    let files = std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
    let file =
        files.into_iter().find(|it| it.extension().is_some_and(|it| it == "sancov")).unwrap();
    let trace = read(folder, file.file_name().unwrap().to_str().unwrap());
    assert!(trace.calls.is_sorted_by_key(|call| call.rva) && trace.notes.len() == 1);
    let mut names = called(&trace, Path::new("program"), &nm(folder, "program"));
    let mut expected = ORDER;
    names.sort_unstable();
    expected.sort_unstable();
    assert_eq!(names, expected);
}

#[test]
fn recordings_of_uftrace_have_order_names_forks_and_counts() {
    if ["gcc", "uftrace"].iter().any(|name| testkit::tool(name).is_none()) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    sources(folder);
    for options in [&["-pg"][..], &["-pg", "-no-pie"], &["-finstrument-functions"]] {
        run(folder, &[&["gcc", "-O1", "-pthread", "program.c", "-o", "program"], options].concat());
        let _ = std::fs::remove_dir_all(folder.join("data"));
        run(folder, &["uftrace", "record", "-d", "data", "./program", "fork"]);
        let trace = uftrace::read(&folder.join("data")).unwrap();
        let module = trace.modules.iter().position(|it| it.path.ends_with("/program")).unwrap();
        assert!(trace.modules[module].build_id.is_some());
        let names = |program: u32| -> Vec<String> {
            let calls = trace.calls.iter().filter(|call| call.program == program);
            let ours =
                calls.filter(|call| call.module.index() == module && !call.name.starts_with('_'));
            ours.map(|call| call.name.clone()).collect()
        };
        // gcc calls the hook of constructors, too, but uftrace begins with main.
        let order: Vec<String> = names(0).into_iter().filter(|name| name != "early").collect();
        assert_eq!(order, ORDER[1..], "{options:?}");
        assert_eq!(names(1), ["child"]);
        assert_eq!(trace.programs[1].forked_from, Some(0));
        let second = trace.calls.iter().find(|call| call.name == "second").unwrap();
        assert_eq!(second.count, Some(2));
        let nm = nm(folder, "program");
        let place = nm.symbols.iter().find(|it| it.name == "second").unwrap();
        assert_eq!(place.va.0 & 0xffff, u64::from(second.rva.0) & 0xffff);
    }
}
