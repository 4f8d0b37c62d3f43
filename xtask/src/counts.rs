//! Running tests by cargo, and counting them in what it prints.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// What the test harnesses of one or more runs reported.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Tests that passed, those that skipped themselves among them.
    pub passed: u64,
    /// Tests that failed.
    pub failed: u64,
    /// Tests that were not run.
    pub ignored: u64,
    /// The `SKIPPED:` lines of tests, each once.
    pub skipped: BTreeSet<String>,
}

impl Counts {
    /// Takes a line of output into account. True for the line that sums up a harness's tests.
    fn read(&mut self, line: &str) -> bool {
        if let Some(reason) = line.strip_prefix("SKIPPED: ") {
            self.skipped.insert(reason.to_owned());
        }
        let Some(summary) = line.strip_prefix("test result: ") else { return false };
        for part in summary.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let Some(number) = words.next().and_then(|word| word.parse::<u64>().ok()) else {
                continue;
            };
            match words.next() {
                Some("passed") => self.passed += number,
                Some("failed") => self.failed += number,
                Some("ignored") => self.ignored += number,
                _ => {}
            }
        }
        true
    }

    /// Adds the counts of another run.
    pub fn add(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.skipped.extend(other.skipped);
    }

    /// The sum in the form of the test harness. A test that skipped itself counts as ignored.
    pub fn summary(&self, ok: bool) -> String {
        let skipped = (self.skipped.len() as u64).min(self.passed);
        let word = if ok { "ok" } else { "FAILED" };
        let (passed, ignored) = (self.passed - skipped, self.ignored + skipped);
        format!("test result: {word}. {passed} passed; {} failed; {ignored} ignored", self.failed)
    }
}

/// Runs a command that runs tests: shows what it prints as it comes and counts. The summaries of
/// single harnesses are marked as such, so that only the sum at the end is a `test result:`.
///
/// # Errors
/// It cannot be started, or its output not be read.
pub fn tests(command: &mut Command) -> Result<(bool, Counts)> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("{command:?} cannot be run"))?;
    let counts = Mutex::new(Counts::default());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        let errors = scope.spawn(|| follow(stderr, std::io::stderr(), &counts));
        let output = follow(stdout, std::io::stdout(), &counts);
        output.and(errors.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })?;
    let success = child.wait()?.success();
    Ok((success, counts.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())))
}

fn follow(from: Option<impl Read>, mut to: impl Write, counts: &Mutex<Counts>) -> Result<()> {
    let Some(from) = from else { return Ok(()) };
    let mut from = BufReader::new(from);
    let mut bytes = Vec::new();
    while from.read_until(b'\n', &mut bytes)? > 0 {
        let line = String::from_utf8_lossy(&bytes);
        let mut counts = counts.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if counts.read(line.trim_end()) {
            write!(to, "  harness: {}", line.trim_start_matches("test result: "))?;
        } else {
            to.write_all(&bytes)?;
        }
        bytes.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
running 3 tests
test a ... ok
SKIPPED: needs go: apt-get install golang-go (b)
SKIPPED: needs go: apt-get install golang-go (b)
test result: FAILED. 12 passed; 1 failed; 2 ignored; 0 measured; 7 filtered out; finished in 0.1s
test result: ok. 30 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s
";

    #[test]
    fn harnesses_are_summed_and_skips_counted_once() {
        let mut counts = Counts::default();
        let summaries = OUTPUT.lines().filter(|line| counts.read(line)).count();
        assert_eq!((summaries, counts.passed, counts.failed, counts.ignored), (2, 42, 1, 2));
        assert_eq!(counts.skipped.len(), 1);
        assert_eq!(counts.summary(false), "test result: FAILED. 41 passed; 1 failed; 3 ignored");
    }

    #[test]
    fn output_is_passed_on_and_counted() {
        let mut command = Command::new("echo");
        let (good, counts) = tests(command.arg("test result: ok. 42 passed; 0 failed")).unwrap();
        assert_eq!((good, counts.passed), (true, 42));
        let (good, counts) = tests(&mut Command::new("false")).unwrap();
        assert_eq!((good, counts), (false, Counts::default()));
    }

    #[test]
    fn only_the_sum_keeps_its_form() {
        let (counts, mut out) = (Mutex::new(Counts::default()), Vec::new());
        follow(Some(OUTPUT.as_bytes()), &mut out, &counts).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("  harness: ok. 30 passed;"), "{text}");
        assert!(!text.contains("test result"), "{text}");
    }
}
