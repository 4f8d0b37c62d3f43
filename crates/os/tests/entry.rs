//! Launches to the entry point, on every kind of program.
#![cfg(unix)]
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use model::{Ending, Launch, Until};
use os::launcher::{Configuration, LaunchSpec, Launcher, Stdio};
use os::program::resolve;
use os::{LaunchError, processes};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A tenth of a second in an initializer, ten seconds in `main`.
const PROGRAM: &str = r#"
#include <unistd.h>
__attribute__((constructor)) static void initialize(void) { usleep(100000); }
int main(void) { sleep(10); return 3; }
"#;

fn to_entry(argv: &[&str]) -> Result<Launch, LaunchError> {
    to_entry_within(argv, Duration::from_secs(5))
}

fn to_entry_within(argv: &[&str], timeout: Duration) -> Result<Launch, LaunchError> {
    let argv: Vec<String> = argv.iter().map(|&argument| argument.to_owned()).collect();
    let mut launcher = Launcher::start()?;
    launcher.configure(Configuration { cpu: None, realtime: false })?;
    let null = Stdio::null()?;
    let slot = launcher.prepare(&resolve(&argv)?, &null, &[])?;
    let launch = launcher
        .launch(slot, &LaunchSpec { until: Until::Entry, timeout, grace: Duration::from_secs(1) });
    let left = processes::descendants(launcher.pid() as i32);
    assert!(left.is_empty(), "left running: {left:?} {launch:?}");
    launch
}

fn entered(program: &Path) -> Launch {
    let launch = to_entry(&[program.to_str().unwrap()]).unwrap();
    assert_eq!(launch.ending, Ending::Ready, "{program:?} {launch:?}");
    assert!(launch.total_us > 0.0 && launch.total_us < 5e6, "{launch:?}");
    assert!(launch.minor_faults.get().unwrap() > 0, "{launch:?}");
    assert!(launch.peak_rss_kib.get().unwrap() > 0, "{launch:?}");
    launch
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn build(folder: &Path, compiler: &str, name: &str, flags: &[&str]) -> Option<PathBuf> {
    Some(testkit::compile(&testkit::tool(compiler)?, folder, name, PROGRAM, flags))
}

#[test]
fn stops_before_the_programs_own_initializer() {
    let folder = folder();
    let cases: [(&str, &str, &[&str]); 6] = [
        ("gcc", "pie", &["-pie", "-fPIE"]),
        ("gcc", "fixed", &["-no-pie"]),
        ("gcc", "static", &["-static", "-no-pie"]),
        ("gcc", "static-pie", &["-static-pie", "-fPIE"]),
        ("musl-gcc", "musl", &[]),
        ("musl-gcc", "musl-static", &["-static"]),
    ];
    for (compiler, name, flags) in cases {
        let Some(program) = build(folder.path(), compiler, name, flags) else { continue };
        // glibc 2.34 and musl run the program's initializers after its entry point.
        let launch = entered(&program);
        assert!(launch.total_us < 100_000.0, "{name}: {launch:?}");
    }
}

#[test]
fn the_initializers_of_libraries_count() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = folder();
    let library =
        testkit::compile(&cc, folder.path(), "libslow.so", PROGRAM, &["-shared", "-fPIC"]);
    let own = "int main(void) { return 0; }";
    let flags = ["-Wl,--no-as-needed", library.to_str().unwrap()];
    let program = testkit::compile(&cc, folder.path(), "program", own, &flags);
    let launch = entered(&program);
    assert!(launch.total_us > 100_000.0, "{launch:?}");
}

#[test]
fn what_an_initializer_has_started_is_ended_too() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = folder();
    let source = r#"
#include <unistd.h>
__attribute__((constructor)) static void initialize(void) {
    if (fork() == 0) { setsid(); if (fork() == 0) sleep(60); _exit(0); }
    usleep(100000);
}"#;
    let library = testkit::compile(&cc, folder.path(), "libfork.so", source, &["-shared", "-fPIC"]);
    let own = "int main(void) { return 0; }";
    let flags = ["-Wl,--no-as-needed", library.to_str().unwrap()];
    entered(&testkit::compile(&cc, folder.path(), "program", own, &flags));
}

#[test]
fn a_script_is_its_interpreter_and_a_later_program_does_not_count() {
    let folder = folder();
    let script = testkit::script(folder.path(), "script", "#!/bin/sh\nsleep 0.5\nexec sleep 10\n");
    assert!(entered(&script).total_us < 500_000.0);
}

#[test]
fn the_first_entry_point_counts_where_a_library_executes_another_program() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = folder();
    let source = r#"
#include <unistd.h>
__attribute__((constructor)) static void initialize(void) {
    usleep(100000);
    execl("/bin/sleep", "sleep", "10", (char *)0);
}"#;
    let library = testkit::compile(&cc, folder.path(), "libexec.so", source, &["-shared", "-fPIC"]);
    let own = "int main(void) { return 0; }";
    let flags = ["-Wl,--no-as-needed", library.to_str().unwrap()];
    let launch = entered(&testkit::compile(&cc, folder.path(), "program", own, &flags));
    assert!(launch.total_us > 100_000.0, "{launch:?}");
}

#[test]
fn a_32_bit_program() {
    let (Some(assembler), Some(linker)) = (testkit::tool("as"), testkit::tool("ld")) else {
        return;
    };
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    // pause(), for ever.
    std::fs::write(at("p.s"), ".globl _start\n_start:\n mov $29,%eax\n int $0x80\n jmp _start\n")
        .unwrap();
    let run = |command: &mut Command| assert!(command.status().unwrap().success(), "{command:?}");
    run(Command::new(assembler).args(["--32", "-o"]).args([at("p.o"), at("p.s")]));
    run(Command::new(linker).args(["-m", "elf_i386", "-o"]).args([at("p"), at("p.o")]));
    let Err(error) = to_entry(&[at("p").to_str().unwrap()]) else { return };
    assert!(error.to_string().contains("an ELF file for i386"), "{error}");
    testkit::skip("this kernel executes no 32-bit programs");
}

#[test]
fn a_program_that_never_gets_there() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = folder();
    let own = "int main(void) { return 0; }";
    let library = testkit::compile(&cc, folder.path(), "libgone.so", own, &["-shared", "-fPIC"]);
    let flags = ["-Wl,--no-as-needed", library.to_str().unwrap()];
    let program = testkit::compile(&cc, folder.path(), "program", own, &flags);
    std::fs::remove_file(library).unwrap();
    // The loader's exit code where a library is missing.
    assert_eq!(to_entry(&[program.to_str().unwrap()]).unwrap().ending, Ending::Code(127));

    let hang = "#include <unistd.h>\n__attribute__((constructor)) static void i(void) { for (;;) pause(); }";
    let library = testkit::compile(&cc, folder.path(), "libhang.so", hang, &["-shared", "-fPIC"]);
    let flags = ["-Wl,--no-as-needed", library.to_str().unwrap()];
    let program = testkit::compile(&cc, folder.path(), "hanging", own, &flags);
    let launch = to_entry_within(&[program.to_str().unwrap()], Duration::from_millis(200));
    assert_eq!(launch.unwrap().ending, Ending::TimedOut);
}

#[test]
#[ignore = "a helper of privileges_are_not_lost_in_silence"]
fn helper_enters() {
    let program = std::env::var("HEADSTART_TEST_PROGRAM").unwrap();
    match to_entry(&[&program]) {
        Ok(launch) => println!("ending: {:?}", launch.ending),
        Err(error) => println!("error: {error}"),
    }
}

#[test]
fn privileges_are_not_lost_in_silence() {
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    let folder = folder();
    let Some(program) = build(folder.path(), "gcc", "program", &[]) else { return };
    if !std::fs::read_to_string("/proc/self/status").unwrap().contains("\nUid:\t0\t") {
        testkit::skip("only root can become another user");
        return;
    }
    // The other user may not reach the build folder.
    let own = folder.path().join("tests");
    std::fs::copy(std::env::current_exe().unwrap(), &own).unwrap();
    set_mode(folder.path(), 0o755);
    let enter = || {
        let output = Command::new(&setpriv)
            .args(["--reuid", "65534", "--regid", "65534", "--clear-groups"])
            .arg(&own)
            .args(["--ignored", "--exact", "--nocapture", "helper_enters"])
            .env("HEADSTART_TEST_PROGRAM", &program)
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        text(&output.stdout) + &text(&output.stderr)
    };
    // Another test's child may hold the copy open for writing until it executes.
    while enter().contains("Text file busy") {}
    for (mode, expected) in [
        (0o755, "ending: Ready"),
        (0o4755, "which it loses under ptrace; run as root"),
        (0o2755, "which it loses under ptrace; run as root"),
        (0o711, "may not be read"),
    ] {
        set_mode(&program, mode);
        let text = enter();
        assert!(text.contains(expected), "mode {mode:o}: {text}");
        // root keeps them.
        entered(&program);
    }
}

fn set_mode(path: &Path, mode: u32) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(path, mode).unwrap();
}
