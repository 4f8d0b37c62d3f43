//! Launches that headstart ends: the time is up, or the user wants to stop.

use crate::support::{folder, helper, is_running, strings, traced_with, wait_until};
use model::{Command, Ending, MarkKind, Reading};
use os::LaunchError;
use os::attend::AttendOptions;
use os::count;
use os::launcher::{GRACE, Stdio};
use os::trace::{TraceRequest, trace};
use std::path::Path;
use std::time::{Duration, Instant};

/// Long enough for a shell to begin, on a busy machine too.
const TIMEOUT: Duration = Duration::from_millis(500);
/// Leaves when it is asked to, and with success.
const POLITE: &str = "trap 'echo asked >> $0; exit 0' TERM; sleep 1000 & wait";
/// Says that it was asked, and goes on.
const DEAF: &str = "trap 'echo asked >> $0' TERM; while :; do sleep 0.1; done";

fn sh(script: &str, file: &Path) -> Vec<String> {
    strings(&["sh", "-c", script, file.to_str().unwrap()])
}

/// How a traced launch of `script` ends, what it left running, and what it wrote.
fn traced(script: &str) -> (Ending, u32, String) {
    let folder = folder();
    let file = folder.path().join("said");
    let argv = sh(script, &file);
    let argv: Vec<&str> = argv.iter().map(String::as_str).collect();
    let run = traced_with(&argv, |request| request.timeout = TIMEOUT);
    assert!(run.launch.trace.processes.iter().all(|process| !is_running(process.pid)));
    let said = std::fs::read_to_string(&file).unwrap_or_default();
    (run.launch.ending, run.launch.left_running, said)
}

/// How a counted launch of `script` ends, and what it wrote.
fn counted(script: &str) -> (Ending, String) {
    let folder = folder();
    let file = folder.path().join("said");
    let options = AttendOptions { timeout: TIMEOUT, cpu: None, to_entry: false };
    let counted = count::syscalls(&resolve(&sh(script, &file)), &options).unwrap();
    assert!(matches!(counted.count, Reading::Value(10..)), "{counted:?}");
    (counted.ending, std::fs::read_to_string(&file).unwrap_or_default())
}

fn resolve(argv: &[String]) -> Command {
    os::program::resolve(argv).unwrap()
}

#[test]
fn a_program_is_asked_to_end_before_it_is_killed() {
    let begun = Instant::now();
    assert_eq!(traced(POLITE), (Ending::TimedOut, 1, "asked\n".to_owned()));
    assert!(begun.elapsed() < TIMEOUT + GRACE, "nobody waits once it has ended");
    let begun = Instant::now();
    assert_eq!(counted(POLITE), (Ending::TimedOut, "asked\n".to_owned()));
    assert!(begun.elapsed() < TIMEOUT + GRACE, "nobody waits once it has ended");
}

#[test]
fn a_traced_program_that_goes_on_is_killed_after_the_grace() {
    let begun = Instant::now();
    let (ending, _, said) = traced(DEAF);
    assert_eq!((ending, said.as_str()), (Ending::TimedOut, "asked\n"));
    assert!(begun.elapsed() >= TIMEOUT + GRACE);
}

#[test]
fn a_counted_program_that_goes_on_is_killed_after_the_grace() {
    let begun = Instant::now();
    assert_eq!(counted(DEAF), (Ending::TimedOut, "asked\n".to_owned()));
    assert!(begun.elapsed() >= TIMEOUT + GRACE);
}

#[test]
#[ignore = "a helper of a_launch_is_killed_when_the_user_wants_to_stop"]
fn helper_is_interrupted() {
    os::interrupt::install();
    let said = std::env::var("HEADSTART_TEST_SAID").unwrap();
    // Its parent is this process.
    let script = "trap 'echo asked >> $0' TERM; echo begun $$ >> $0; kill -TERM $PPID; sleep 1000";
    let command = resolve(&sh(script, Path::new(&said)));
    let begun = Instant::now();
    let error = trace(&command, &TraceRequest::new(Stdio::inherited())).unwrap_err();
    assert!(matches!(error, LaunchError::Interrupted), "{error:?}");
    // The wish is there already when this one begins.
    let error = count::syscalls(&command, &AttendOptions::default()).unwrap_err();
    assert!(matches!(error, count::CountError::Launch(LaunchError::Interrupted)), "{error:?}");
    assert!(begun.elapsed() < GRACE, "the user does not wait for the grace");
}

#[test]
fn a_launch_is_killed_when_the_user_wants_to_stop() {
    let folder = folder();
    let said = folder.path().join("said");
    let argv = helper("ended::helper_is_interrupted");
    let mut command = std::process::Command::new(&argv[0]);
    let output = command.args(&argv[1..]).env("HEADSTART_TEST_SAID", &said).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = std::fs::read_to_string(&said).unwrap();
    let pids: Vec<u32> =
        said.lines().map(|line| line.strip_prefix("begun ").unwrap().parse().unwrap()).collect();
    assert!(!pids.is_empty(), "{said}");
    wait_until(|| pids.iter().all(|&pid| !is_running(pid)));
}

#[test]
fn a_launch_can_be_ended_at_its_entry_point() {
    let begun = Instant::now();
    let run = traced_with(&["sleep", "1000"], |request| request.end_at_entry = true);
    assert!(begun.elapsed() < TIMEOUT + GRACE, "it was not waited for");
    assert_eq!(run.launch.ending, Ending::Signal(9));
    let marks: Vec<MarkKind> = run.image(0).marks.iter().map(|mark| mark.kind).collect();
    // A program that is killed need not stop once more on its way out (ptrace(2)).
    let to_entry = marks.strip_suffix(&[MarkKind::Exiting]).unwrap_or(&marks);
    assert!(to_entry.ends_with(&[MarkKind::Entry]), "{marks:?}");
    // A shell's own entry point ends it, not that of what it would have started.
    let run = traced_with(&["sh", "-c", "true"], |request| request.end_at_entry = true);
    assert_eq!((run.launch.trace.processes.len(), run.launch.left_running), (1, 0));
}
