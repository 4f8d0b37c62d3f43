//! How a launch ends and what it writes, against the original's.

use super::output_pattern::Pattern;
use super::{Flaw, wrong};
use crate::VariantReason;
use crate::launches::{Observed, StreamOutput};
use model::{Command, Ending};
use os::LaunchError;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// What launches of the original do.
pub(crate) struct Expected {
    ending: Ending,
    streams: [Stream; 2],
    /// The user's own test decides besides.
    tested: bool,
}

/// stdout or stderr.
struct Stream {
    name: &'static str,
    /// What the first launch wrote.
    written: StreamOutput,
    /// What all launches have in common; `None` where they differ in more than numbers.
    pattern: Option<Pattern>,
    of: fn(&Observed) -> &StreamOutput,
}

impl Stream {
    fn new(name: &'static str, of: fn(&Observed) -> &StreamOutput, first: &Observed) -> Stream {
        let written = of(first).clone();
        Stream { name, pattern: Some(Pattern::new(&written.bytes)), written, of }
    }

    /// Learns from another launch of the original.
    fn learn(&mut self, observed: &Observed) {
        let written = (self.of)(observed);
        if *written == self.written {
            return;
        }
        let whole = written.is_whole() && self.written.is_whole();
        let pattern = self.pattern.take().filter(|_| whole);
        self.pattern = pattern.and_then(|pattern| pattern.and(&written.bytes));
    }

    /// Whether the variant wrote something else; never where nothing can be compared.
    fn differs(&self, observed: &Observed, names: &Names) -> bool {
        let Some(pattern) = &self.pattern else { return false };
        !names.same(&self.written, pattern, (self.of)(observed))
    }
}

/// What the original and the variant are called. A program may tell its own name, as in an error.
pub(crate) struct Names {
    /// The path that it is called by, and its last part: of the variant, of the original.
    pairs: [(OsString, OsString); 2],
}

impl Names {
    pub(crate) fn new(original: &Command, variant: &Command) -> Names {
        let name = |command: &Command| command.argv.first().cloned().unwrap_or_default();
        let base = |name: &OsStr| Path::new(name).file_name().unwrap_or_default().to_owned();
        let (original, variant) = (name(original), name(variant));
        let bases = (base(&variant), base(&original));
        Names { pairs: [(variant, original), bases] }
    }

    /// Whether the variant wrote the same, but for its name and numbers that always differ.
    fn same(&self, original: &StreamOutput, pattern: &Pattern, variant: &StreamOutput) -> bool {
        if original == variant {
            return true;
        }
        if !variant.is_whole() || !original.is_whole() {
            return false;
        }
        let mut bytes = variant.bytes.clone();
        pattern.matches(&bytes)
            || self.pairs.iter().any(|(own, others)| {
                bytes = replaced(&bytes, own.as_bytes(), others.as_bytes());
                pattern.matches(&bytes)
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
    /// From two launches of the original. `tested`: whether the user has a test besides.
    pub(crate) fn new(observed: &[Observed; 2], tested: bool) -> Expected {
        let [first, second] = observed;
        let mut streams = [
            Stream::new("stdout", |o| &o.stdout, first),
            Stream::new("stderr", |o| &o.stderr, first),
        ];
        streams.iter_mut().for_each(|stream| stream.learn(second));
        Expected { ending: first.ending, streams, tested }
    }

    /// The streams that are not compared.
    pub(crate) fn uncompared(&self) -> Vec<&'static str> {
        let unsteady = self.streams.iter().filter(|stream| stream.pattern.is_none());
        unsteady.map(|stream| stream.name).collect()
    }

    /// Why no variant can be shown to do what the original does.
    pub(crate) fn cannot_compare(&self) -> Option<VariantReason> {
        let stream = *self.uncompared().first().filter(|_| !self.tested)?;
        Some(VariantReason::Incomparable { stream })
    }

    /// Whether `observed` is what the original does. Where the output differs the original is
    /// launched once `again`: what it writes may have changed with the time.
    pub(crate) fn compare(
        &mut self,
        observed: &Observed,
        names: &Names,
        again: &mut dyn FnMut() -> Result<Observed, LaunchError>,
    ) -> Result<(), Flaw> {
        if let Some(line) = observed.loader_failure() {
            return Err(wrong(format!("the loader cannot start it: {line}")));
        }
        if observed.ending != self.ending {
            return Err(wrong(format!(
                "it {}, but the original {}{}",
                observed.ending.words(),
                self.ending.words(),
                observed.last_lines()
            )));
        }
        if self.streams.iter().any(|stream| stream.differs(observed, names)) {
            let original = again()?;
            if original.ending != self.ending {
                let (now, before) = (original.ending.words(), self.ending.words());
                let found = format!("the unmodified program {before} once and {now} the next time");
                return Err(Flaw::Unknown(found.into()));
            }
            self.streams.iter_mut().for_each(|stream| stream.learn(&original));
        }
        if let Some(stream) = self.streams.iter().find(|stream| stream.differs(observed, names)) {
            return Err(difference(stream, (stream.of)(observed)));
        }
        self.cannot_compare().map_or(Ok(()), |reason| Err(Flaw::Unknown(reason)))
    }
}

/// The first line that differs, in words.
fn difference(stream: &Stream, found: &StreamOutput) -> Flaw {
    let lines = |written: &StreamOutput| -> Vec<String> {
        String::from_utf8_lossy(&written.bytes).lines().map(str::to_owned).collect()
    };
    let (wanted, found) = (lines(&stream.written), lines(found));
    let at = wanted.iter().zip(&found).take_while(|(wanted, found)| wanted == found).count();
    let line = |lines: &[String]| match lines.get(at) {
        Some(line) => format!("'{}'", line.chars().take(80).collect::<String>()),
        None => "nothing".to_owned(),
    };
    wrong(format!(
        "it writes something different to {}: {} instead of {} in line {}",
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
        let written = |text: &str| StreamOutput { bytes: text.into(), length: text.len() as u64 };
        let (stdout, stderr) = (written(stdout), written(stderr));
        Observed { ending: Ending::Code(code), stdout, stderr, total_us: 1.0 }
    }

    fn names() -> Names {
        let command = |name: &str| Command {
            argv: vec![name.into()],
            program: name.into(),
            directory: None,
            environment: Vec::new(),
        };
        Names::new(&command("bin/p"), &command("/tmp/v/run"))
    }

    fn reason(result: Result<(), Flaw>) -> String {
        match result {
            Err(Flaw::Wrong(reason)) => reason.to_string(),
            other => panic!("{other:?}"),
        }
    }

    fn unknown(result: Result<(), Flaw>) -> String {
        match result {
            Err(Flaw::Unknown(reason)) => reason.to_string(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_same_output_and_status_pass_and_others_do_not() {
        let original = || observed(0, "one\ntwo\n", "bin/p: p: prune\n");
        let mut expected = Expected::new(&[original(), original()], false);
        let mut again = || Ok(original());
        let mut compare = |observed: Observed| expected.compare(&observed, &names(), &mut again);
        compare(original()).unwrap();
        compare(observed(0, "one\ntwo\n", "/tmp/v/run: run: prune\n")).unwrap();
        let said = reason(compare(observed(0, "one\nto\n", "bin/p: p: prune\n")));
        assert_eq!(
            said,
            "it writes something different to stdout: 'to' instead of 'two' in line 2"
        );
        let said = reason(compare(observed(0, "one\ntwo\n", "")));
        assert!(said.contains("stderr: nothing instead of 'bin/p"), "{said}");
        let said = reason(compare(observed(1, "one\ntwo\n", "no\n")));
        assert!(
            said.starts_with("it ended with exit code 1, but the original ended with"),
            "{said}"
        );
        assert!(said.ends_with("it wrote:\n  | no"), "{said}");
        assert!(expected.uncompared().is_empty() && expected.cannot_compare().is_none());
    }

    #[test]
    fn numbers_that_differ_by_themselves_are_not_compared() {
        let mut pids = Expected::new(&[observed(0, "a 1", "x"), observed(0, "a 2", "x")], false);
        let mut none = || panic!("no launch is needed");
        pids.compare(&observed(0, "a 3", "x"), &names(), &mut none).unwrap();
        let mut same = || Ok(observed(0, "a 4", "x"));
        let said = reason(pids.compare(&observed(0, "b 3", "x"), &names(), &mut same));
        assert!(said.contains("'b 3' instead of"), "{said}");
        // Two launches within a second of each other tell the same time, the third does not.
        let mut time = Expected::new(&[observed(0, "1 s", "x"), observed(0, "1 s", "x")], false);
        let mut later = || Ok(observed(0, "2 s", "x"));
        time.compare(&observed(0, "2 s", "x"), &names(), &mut later).unwrap();
        let said = reason(time.compare(&observed(0, "3 s", "y"), &names(), &mut later));
        assert!(said.contains("stderr"), "{said}");
        assert!(time.uncompared().is_empty(), "{:?}", time.uncompared());
    }

    /// Words that differ: nothing tells a right variant from a wrong one, but the user's test.
    #[test]
    fn output_that_cannot_be_compared_lets_nothing_pass() {
        let launches = || [observed(1, "", "heads"), observed(1, "", "tails")];
        let mut again = || Ok(observed(1, "", "heads"));
        let mut expected = Expected::new(&launches(), false);
        assert_eq!(
            expected.cannot_compare(),
            Some(VariantReason::Incomparable { stream: "stderr" })
        );
        let failed = observed(1, "", "cannot open my file");
        let said = unknown(expected.compare(&failed, &names(), &mut again));
        assert!(said.contains("stderr"), "{said}");
        assert_eq!(expected.uncompared(), ["stderr"]);
        // Only now and then: the two launches before were alike by chance.
        let twice = [observed(0, "heads", ""), observed(0, "heads", "")];
        let mut other = || Ok(observed(0, "tails", ""));
        let mut rarely = Expected::new(&twice, false);
        unknown(rarely.compare(&observed(0, "edge", ""), &names(), &mut other));
        unknown(rarely.compare(&observed(0, "heads", ""), &names(), &mut other));
        let mut tested = Expected::new(&launches(), true);
        tested.compare(&observed(1, "", "edge"), &names(), &mut again).unwrap();
        let said = reason(tested.compare(&observed(1, "more", "edge"), &names(), &mut again));
        assert!(said.contains("stdout"), "{said}");
        assert_eq!((tested.uncompared(), tested.cannot_compare()), (vec!["stderr"], None));
    }

    #[test]
    fn what_the_loader_cannot_start_never_passes() {
        let text = "p: error while loading shared libraries: libx.so: cannot open\n";
        let mut expected = Expected::new(&[observed(127, "", text), observed(127, "", text)], true);
        let mut again = || Ok(observed(127, "", text));
        let said = reason(expected.compare(&observed(127, "", text), &names(), &mut again));
        assert!(said.contains("libx.so: cannot open"), "{said}");
        // A shell that does not find a command ends with 127 too.
        let shell = || observed(127, "", "sh: 1: nothing: not found\n");
        let mut expected = Expected::new(&[shell(), shell()], false);
        expected.compare(&shell(), &names(), &mut again).unwrap();
    }

    #[test]
    fn names_are_replaced_as_words() {
        let text =
            |text: &str| String::from_utf8(replaced(text.as_bytes(), b"run", b"prog")).unwrap();
        assert_eq!(text("run: prune runs run_x 'run' run"), "prog: prune runs run_x 'prog' prog");
        assert_eq!(replaced(b"abc", b"", b"x"), b"abc");
    }
}
