//! Starting programs that a test has just written.

use std::io::{Error, ErrorKind};
use std::process::{Child, Command, Output};
use std::thread;
use std::time::Duration;

/// How often a busy program is tried again, 5 ms apart.
const TRIES: usize = 400;

/// Starts programs that were just written: a child that another test forked meanwhile has them
/// open for writing until it starts its own program, and Linux refuses to start them as long
/// (ETXTBSY).
pub trait WhenFree {
    /// What the program prints, and how it ends.
    ///
    /// # Panics
    /// Where it cannot be started, and where somebody has it open for writing for 2 s.
    fn output_when_free(&mut self) -> Output;

    /// The running program.
    ///
    /// # Panics
    /// As [`WhenFree::output_when_free`].
    fn spawn_when_free(&mut self) -> Child;
}

impl WhenFree for Command {
    fn output_when_free(&mut self) -> Output {
        patiently(self, Command::output)
    }

    fn spawn_when_free(&mut self) -> Child {
        patiently(self, Command::spawn)
    }
}

fn patiently<T>(command: &mut Command, start: impl Fn(&mut Command) -> Result<T, Error>) -> T {
    for _ in 0..TRIES {
        match start(command) {
            Err(why) if why.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(5));
            }
            started => return started.unwrap_or_else(|why| panic!("{command:?}: {why}")),
        }
    }
    panic!("{command:?} is open for writing")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_that_is_written_to_is_waited_for() {
        let Some(truth) = crate::find("true") else { return };
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::copy(truth, &program).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let writer = std::fs::OpenOptions::new().append(true).open(&program).unwrap();
        let waiting = thread::spawn(move || Command::new(program).output_when_free());
        thread::sleep(Duration::from_millis(20));
        assert!(!waiting.is_finished(), "it was started while it is open for writing");
        drop(writer);
        assert!(waiting.join().unwrap().status.success());
    }
}
