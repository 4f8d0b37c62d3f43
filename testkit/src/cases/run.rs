//! Runs built cases.

use super::Built;
use crate::WhenFree;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What a launch came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Exit code or signal.
    pub status: ExitStatus,
    /// What it printed.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

/// A case takes milliseconds; a rewritten one may hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// Variables by which the loader and the C library behave differently.
const UNSET: [&str; 9] = [
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "LD_BIND_NOW",
    "LD_BIND_NOT",
    "LD_DEBUG",
    "LD_DEBUG_OUTPUT",
    "LD_AUDIT",
    "GLIBC_TUNABLES",
    "MALLOC_ARENA_MAX",
];

/// The command that launches `program`, which is the built one or one made of it, with the
/// arguments and the environment of the case.
pub fn command(program: &Path, built: &Built) -> Command {
    let mut command = Command::new(program);
    for name in UNSET {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C").args(&built.arguments);
    command.envs(built.environment.iter().map(|(name, value)| (name, value)));
    command.current_dir(&built.folder);
    command
}

/// Launches `program`, which is the built one or one made of it, and waits for its end.
///
/// # Panics
/// Where it cannot be started, and where it does not end within 20 s (it is killed then).
pub fn run(program: &Path, built: &Built) -> Outcome {
    let mut command = command(program, built);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn_when_free();
    let stdout = text_of(child.stdout.take());
    let stderr = text_of(child.stderr.take());
    let status = end_of(&mut child, &command);
    let text = |reader: thread::JoinHandle<String>| reader.join().unwrap_or_default();
    Outcome { status, stdout: text(stdout), stderr: text(stderr) }
}

/// Reads beside the waiting, so that no pipe fills up.
fn text_of(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read before an error is still worth a look.
        let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn end_of(child: &mut Child, command: &Command) -> ExitStatus {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status,
            Ok(None) if begun.elapsed() < PATIENCE => thread::sleep(pause),
            Ok(None) => {
                // It may end by itself just now.
                let _ = child.kill();
                panic!("{command:?} did not end within {PATIENCE:?}");
            }
            Err(why) => panic!("{command:?}: {why}"),
        }
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}
