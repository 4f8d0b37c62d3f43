//! How a launch ends and what it writes, against the original's.

use super::{Flaw, wrong};
use crate::error::ended;
use crate::launches::{Observed, Written};
use model::{Command, Ending};
use os::LaunchError;
use std::path::Path;

/// What launches of the original do.
pub(super) struct Expected {
    ending: Ending,
    streams: [Stream; 2],
}

/// stdout or stderr.
struct Stream {
    name: &'static str,
    written: Written,
    /// The original writes the same every time.
    steady: bool,
    of: fn(&Observed) -> &Written,
}

/// What the original and the variant are called. A program may tell its own name, as in an error.
pub(super) struct Names {
    /// The path that it is called by, and its last part: of the variant, of the original.
    pairs: [(String, String); 2],
}

impl Names {
    pub(super) fn new(original: &Command, variant: &Command) -> Names {
        let name = |command: &Command| command.argv.first().cloned().unwrap_or_default();
        let base = |name: &str| {
            let base = Path::new(name).file_name();
            base.map_or(String::new(), |base| base.to_string_lossy().into_owned())
        };
        let (original, variant) = (name(original), name(variant));
        let bases = (base(&variant), base(&original));
        Names { pairs: [(variant, original), bases] }
    }

    /// Whether the variant wrote the same, but for its name.
    fn same(&self, original: &Written, variant: &Written) -> bool {
        if original == variant {
            return true;
        }
        let mut bytes = variant.bytes.clone();
        self.pairs.iter().any(|(own, others)| {
            bytes = replaced(&bytes, own.as_bytes(), others.as_bytes());
            variant.is_whole() && original.is_whole() && bytes == original.bytes
        })
    }
}

/// The text with a name replaced wherever it stands as a word or path of its own.
fn replaced(text: &[u8], name: &[u8], by: &[u8]) -> Vec<u8> {
    let part = |byte: Option<&u8>| byte.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    let mut done = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(&first) = rest.first() {
        match rest.strip_prefix(name) {
            Some(after) if !name.is_empty() && !part(done.last()) && !part(after.first()) => {
                done.extend_from_slice(by);
                rest = after;
            }
            _ => {
                done.push(first);
                rest = &rest[1..];
            }
        }
    }
    done
}

impl Expected {
    /// From two launches of the original.
    pub(super) fn new(observed: &[Observed; 2]) -> Expected {
        let [first, second] = observed;
        let stream = |name, of: fn(&Observed) -> &Written| Stream {
            name,
            written: of(first).clone(),
            steady: of(first) == of(second),
            of,
        };
        let streams = [stream("stdout", |o| &o.stdout), stream("stderr", |o| &o.stderr)];
        Expected { ending: first.ending, streams }
    }

    /// What is not compared.
    pub(super) fn notes(&self) -> Vec<String> {
        let unsteady = self.streams.iter().filter(|stream| !stream.steady);
        let note = |stream: &Stream| {
            format!(
                "What the unmodified program writes to {} differs from launch to launch: it was \
                 not compared, the exit status was; --check CMD tests more.",
                stream.name
            )
        };
        unsteady.map(note).collect()
    }

    /// Whether `observed` is what the original does. Where the output differs the original is
    /// launched once `again`: what it writes may have changed with the time.
    pub(super) fn compare(
        &mut self,
        observed: &Observed,
        names: &Names,
        again: &mut dyn FnMut() -> Result<Observed, LaunchError>,
    ) -> Result<(), Flaw> {
        if observed.ending != self.ending {
            return Err(wrong(format!(
                "it {}, the original {}{}",
                ended(observed.ending),
                ended(self.ending),
                observed.last_lines()
            )));
        }
        let differs =
            |stream: &Stream| stream.steady && !names.same(&stream.written, (stream.of)(observed));
        if !self.streams.iter().any(differs) {
            return Ok(());
        }
        let original = again()?;
        for stream in &mut self.streams {
            stream.steady &= *(stream.of)(&original) == stream.written;
        }
        match self.streams.iter().find(|stream| differs(stream)) {
            Some(stream) => Err(difference(stream, (stream.of)(observed))),
            None => Ok(()),
        }
    }
}

/// The first line that differs, in words.
fn difference(stream: &Stream, found: &Written) -> Flaw {
    let lines = |written: &Written| -> Vec<String> {
        String::from_utf8_lossy(&written.bytes).lines().map(str::to_owned).collect()
    };
    let (wanted, found) = (lines(&stream.written), lines(found));
    let at = wanted.iter().zip(&found).take_while(|(wanted, found)| wanted == found).count();
    let line = |lines: &[String]| match lines.get(at) {
        Some(line) => format!("'{}'", line.chars().take(80).collect::<String>()),
        None => "nothing".to_owned(),
    };
    wrong(format!(
        "it writes something else to {}: {} instead of {} in line {}",
        stream.name,
        line(&found),
        line(&wanted),
        at + 1
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(code: i32, stdout: &str, stderr: &str) -> Observed {
        let written = |text: &str| Written { bytes: text.into(), length: text.len() as u64 };
        let (stdout, stderr) = (written(stdout), written(stderr));
        Observed { ending: Ending::Code(code), stdout, stderr, total_us: 1.0 }
    }

    fn names() -> Names {
        let command = |name: &str| Command {
            argv: vec![name.to_owned()],
            program: name.into(),
            directory: None,
            environment: Vec::new(),
        };
        Names::new(&command("bin/p"), &command("/tmp/v/run"))
    }

    fn reason(result: Result<(), Flaw>) -> String {
        match result {
            Err(Flaw::Wrong(reason)) => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_same_output_and_status_pass_and_others_do_not() {
        let original = || observed(0, "one\ntwo\n", "bin/p: p: prune\n");
        let mut expected = Expected::new(&[original(), original()]);
        let mut again = || Ok(original());
        let mut compare = |observed: Observed| expected.compare(&observed, &names(), &mut again);
        compare(original()).unwrap();
        compare(observed(0, "one\ntwo\n", "/tmp/v/run: run: prune\n")).unwrap();
        let said = reason(compare(observed(0, "one\nto\n", "bin/p: p: prune\n")));
        assert_eq!(said, "it writes something else to stdout: 'to' instead of 'two' in line 2");
        let said = reason(compare(observed(0, "one\ntwo\n", "")));
        assert!(said.contains("stderr: nothing instead of 'bin/p"), "{said}");
        let said = reason(compare(observed(1, "one\ntwo\n", "no\n")));
        assert!(said.starts_with("it ended with exit code 1, the original ended with"), "{said}");
        assert!(said.ends_with("it wrote:\n  | no"), "{said}");
        assert!(expected.notes().is_empty());
    }

    #[test]
    fn what_differs_by_itself_is_not_compared() {
        let mut pids = Expected::new(&[observed(0, "a 1", "x"), observed(0, "a 2", "x")]);
        let mut none = || panic!("no launch is needed");
        pids.compare(&observed(0, "a 3", "x"), &names(), &mut none).unwrap();
        assert_eq!(pids.notes().len(), 1);
        // Two launches within a second of each other tell the same time, the third does not.
        let mut time = Expected::new(&[observed(0, "1 s", "x"), observed(0, "1 s", "x")]);
        let mut later = || Ok(observed(0, "2 s", "x"));
        time.compare(&observed(0, "2 s", "x"), &names(), &mut later).unwrap();
        assert!(time.notes()[0].contains("stdout"));
        let said = reason(time.compare(&observed(0, "3 s", "y"), &names(), &mut later));
        assert!(said.contains("stderr"), "{said}");
    }

    #[test]
    fn names_are_replaced_as_words() {
        let text =
            |text: &str| String::from_utf8(replaced(text.as_bytes(), b"run", b"prog")).unwrap();
        assert_eq!(text("run: prune runs run_x 'run' run"), "prog: prune runs run_x 'prog' prog");
        assert_eq!(replaced(b"abc", b"", b"x"), b"abc");
    }
}
