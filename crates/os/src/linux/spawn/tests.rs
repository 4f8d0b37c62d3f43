//! Programs that cannot be started: each error names the file, what was found, the next step.

use super::{Prepared, Setup, spawn};
use crate::LaunchError;
use crate::launcher::{LaunchSpec, Launcher, Stdio, Stream};
use crate::linux::processes;
use crate::program::resolve;
use model::{Command, Until};
use rustix::process::WaitOptions;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Spawns and reaps; gives the exit code.
fn run(command: &Command) -> Result<i32, LaunchError> {
    let null = Stdio::null()?;
    let child = spawn(&Prepared::new(command, &[])?, Setup::with_stdio(&null))?;
    let status = processes::wait_for(child.pid, WaitOptions::empty()).expect("it ends");
    Ok(status.exit_status().unwrap_or(0))
}

fn command(argv: &[&str]) -> Command {
    let argv: Vec<String> = argv.iter().map(|&argument| argument.to_owned()).collect();
    resolve(&argv).unwrap()
}

fn refusal(program: &Path) -> String {
    let argv = vec![program.display().to_string()];
    let error = resolve(&argv).and_then(|command| run(&command)).expect_err("it is refused");
    let text = error.to_string();
    assert!(text.contains(&argv[0]), "it names the file: {text}");
    text
}

fn file(folder: &Path, name: &str, content: &[u8], mode: u32) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("permissions");
    path
}

fn is_root() -> bool {
    // SAFETY: takes nothing and never fails.
    unsafe { libc::geteuid() == 0 }
}

#[test]
fn starts_a_program_and_hands_over_its_arguments() {
    assert_eq!(run(&command(&["sh", "-c", "exit $1", "sh", "7"])).unwrap(), 7);
}

#[test]
fn restores_the_default_action_of_sigpipe() {
    assert_eq!(run(&command(&["sh", "-c", "kill -PIPE $$; exit 3"])).unwrap(), 0);
}

/// An ELF header and nothing else.
fn elf(byte_order: u8, machine: u16) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02".to_vec();
    bytes.extend([byte_order, 1]);
    bytes.resize(16, 0);
    for half in [2, machine] {
        bytes.extend(if byte_order == 1 { half.to_le_bytes() } else { half.to_be_bytes() });
    }
    bytes.resize(64, 0);
    bytes
}

#[test]
fn files_that_the_kernel_cannot_execute() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[u8], &[&str]); 10] = [
        ("text", b"echo hello\n", &["without a '#!' line", "sh '"]),
        ("empty", b"", &["the file is empty"]),
        ("noise", b"\x80\x81\x82\x00\x01", &["its format is unknown"]),
        ("windows", b"MZ\x90\x00\x03", &["a Windows program", "wine"]),
        ("script", b"#!/no/such/interpreter -x\n", &["/no/such/interpreter", "command -v"]),
        ("dos", b"#!/bin/sh\r\nexit 0\r\n", &["'/bin/sh\\r'", "CR LF", "sed -i"]),
        ("folder-script", b"#!/tmp\n", &["interpreter '/tmp' is not executable"]),
        ("arm", &elf(1, 183), &["an ELF file for AArch64", "not for this machine"]),
        ("s390", &elf(2, 22), &["an ELF file for S/390", "use a build for"]),
        ("cut", &elf(1, 62), &["for x86-64, but damaged", "check it with: Inspect("]),
    ];
    for (name, content, expected) in cases {
        let text = refusal(&file(folder.path(), name, content, 0o755));
        assert!(expected.iter().all(|part| text.contains(part)), "{name}: {text}");
    }
}

#[test]
fn paths_that_lead_to_no_program() {
    let folder = tempfile::tempdir().unwrap();
    let plain = file(folder.path(), "plain", b"#!/bin/sh\n", 0o644);
    assert!(refusal(folder.path()).contains("is a folder"));
    assert!(refusal(&plain).contains("chmod +x"));
    assert!(refusal(&folder.path().join("missing")).contains("does not exist"));
    assert!(refusal(&plain.join("below")).contains("does not exist"));
    let link = folder.path().join("circle");
    std::os::unix::fs::symlink(&link, &link).unwrap();
    assert!(refusal(&link).contains("form a loop"));
    if Path::new("/dev/null").exists() {
        let text = refusal_as_is(Path::new("/dev/null"));
        assert!(text.contains("not a regular file"), "{text}");
    }
}

/// What execve of a path gives, without the checks of `resolve`.
fn refusal_as_is(program: &Path) -> String {
    let command = Command { program: program.to_owned(), ..command(&["true"]) };
    run(&command).expect_err("it is refused").to_string()
}

#[test]
fn a_program_that_vanished_after_it_was_found() {
    assert!(refusal_as_is(Path::new("/no/such/file")).contains("'/no/such/file' does not exist"));
}

#[test]
fn a_missing_loader_is_named() {
    let Some(cc) = testkit::tool("gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-Wl,--dynamic-linker=/lib/ld-linux-nowhere.so.9"];
    let program = testkit::compile(&cc, folder.path(), "odd", "int main(void){return 0;}", &flags);
    let text = refusal(&program);
    assert!(text.contains("/lib/ld-linux-nowhere.so.9"), "{text}");
    assert!(text.contains("install the C library"), "{text}");
}

#[test]
fn what_this_user_may_not_execute() {
    if !is_root() {
        testkit::skip("only root can become another user");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("own");
    fs::create_dir(&own).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    file(&own, "inside", b"#!/bin/sh\n", 0o755);
    fs::set_permissions(&own, fs::Permissions::from_mode(0o700)).unwrap();
    let private = file(folder.path(), "private", b"#!/bin/sh\n", 0o700);
    let [inside, private] = [own.join("inside"), private].map(|path| as_nobody(&path));
    assert!(inside.contains("own' may not be entered"), "{inside}");
    assert!(private.contains("its mode is 700 and its owner user 0"), "{private}");
}

/// The refusal for an ordinary user, in a thread that has become one.
fn as_nobody(program: &Path) -> String {
    let program = program.to_owned();
    let thread = std::thread::spawn(move || {
        // SAFETY: the raw calls change this thread alone, which ends here.
        unsafe {
            libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>());
            libc::syscall(libc::SYS_setresuid, 65_534, 65_534, 65_534);
        }
        refusal(&program)
    });
    thread.join().expect("no panic")
}

#[test]
fn a_working_directory_that_does_not_exist() {
    let directory = Some(PathBuf::from("/no/such/folder"));
    let error = run(&Command { directory, ..command(&["true"]) }).unwrap_err();
    assert!(matches!(error, LaunchError::Directory { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("working directory '/no/such/folder'"), "{text}");
}

#[test]
fn arguments_beyond_the_limits() {
    let long = "x".repeat(140_000);
    let text = run(&command(&["true", &long])).unwrap_err().to_string();
    assert!(text.contains("one argument or variable has 140001 bytes"), "{text}");
    let part = "x".repeat(100_000);
    let mut argv = vec!["true"];
    argv.extend(std::iter::repeat_n(part.as_str(), 80));
    let text = run(&command(&argv)).unwrap_err().to_string();
    assert!(text.contains("ARG_MAX") && text.contains("in a file"), "{text}");
}

#[test]
fn a_nul_byte_in_an_argument() {
    let text = run(&command(&["true", "a\0b"])).unwrap_err().to_string();
    assert!(text.contains("NUL byte"), "{text}");
}

#[test]
fn closed_output_is_no_mystery() {
    let mut launcher = Launcher::start().unwrap();
    let stdio = Stdio::null().unwrap().with_stdout(Stream::closed());
    let error = launcher.prepare(&command(&["true"]), &stdio, &[]).unwrap_err();
    assert!(error.to_string().contains("none of the three may be closed"), "{error}");
    let text = run_with_closed_output().to_string();
    assert!(text.contains("none of the three may be closed"), "{text}");
}

fn run_with_closed_output() -> LaunchError {
    let prepared = Prepared::new(&command(&["true"]), &[]).unwrap();
    let stdio = Stdio::all(Stream::closed());
    spawn(&prepared, Setup::with_stdio(&stdio)).err().expect("it is refused")
}

#[test]
fn a_program_that_is_being_written_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("copy");
    fs::copy("/bin/true", &path).unwrap();
    let command = command(&[path.to_str().unwrap()]);
    let writer = File::options().append(true).open(&path).unwrap();
    let begun = Instant::now();
    let error = run(&command).unwrap_err();
    assert!(matches!(error, LaunchError::Busy(_)), "{error:?}");
    assert!(error.to_string().contains("open for writing"), "{error}");
    assert!(begun.elapsed() >= Duration::from_millis(100), "{:?}", begun.elapsed());
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(30));
            drop(writer);
        });
        assert_eq!(run(&command).unwrap(), 0);
    });
}

#[test]
fn the_launcher_says_the_same_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let empty = file(folder.path(), "empty", b"", 0o755);
    let mut launcher = Launcher::start().unwrap();
    let stdio = &Stdio::null().unwrap();
    let limit = Duration::from_secs(10);
    for until in [Until::Exit, Until::Entry] {
        let spec = LaunchSpec { until, timeout: limit, grace: limit };
        let bad = launcher.prepare(&command(&[empty.to_str().unwrap()]), stdio, &[]).unwrap();
        let text = launcher.launch(bad, &spec).unwrap_err().to_string();
        assert!(text.contains("the file is empty"), "{text}");
        let good = launcher.prepare(&command(&["true"]), stdio, &[]).unwrap();
        launcher.launch(good, &spec).unwrap();
    }
}
