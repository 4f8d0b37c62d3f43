//! Whether two answers are the same.

use optimize::Observed;
use std::path::Path;

/// To the byte.
pub fn exactly(one: &Observed, two: &Observed) -> bool {
    one.ending == two.ending && one.stdout == two.stdout && one.stderr == two.stderr
}

/// Names of the original and of what was left, which a program may tell.
pub struct Names {
    /// Paths before their last parts.
    names: Vec<String>,
}

/// Stands for each of them.
const NAME: &str = "NAME";

impl Names {
    pub fn new(original: &Path, left: &Path) -> Names {
        let paths = [original, left].map(|path| path.display().to_string());
        let bases = [original, left].map(|path| {
            path.file_name().map_or(String::new(), |base| base.to_string_lossy().into_owned())
        });
        Names { names: paths.into_iter().chain(bases).collect() }
    }

    /// In words how the answers differ, but for the names.
    pub fn difference(&self, before: &Observed, after: &Observed) -> Option<String> {
        if before.ending != after.ending {
            return Some(format!(
                "it ended with {:?} instead of {:?}",
                after.ending, before.ending
            ));
        }
        let streams = [(&before.stdout, &after.stdout), (&before.stderr, &after.stderr)];
        streams.into_iter().find_map(|(before, after)| {
            if before == after {
                return None;
            }
            let (before, after) = (self.without(&before.bytes), self.without(&after.bytes));
            // A longer name breaks lines elsewhere.
            if before.split_whitespace().eq(after.split_whitespace()) {
                return None;
            }
            let lines = before.lines().zip(after.lines()).find(|(before, after)| before != after);
            let (before, after) = lines.unwrap_or(("fewer lines", "more, or the other way about"));
            Some(format!("'{after}' instead of '{before}'"))
        })
    }

    fn without(&self, text: &[u8]) -> String {
        let text = String::from_utf8_lossy(text).into_owned();
        self.names.iter().fold(text, |text, name| text.replace(name, NAME))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ending;
    use optimize::StreamOutput;

    fn observed(code: i32, text: &str) -> Observed {
        let stdout = StreamOutput { bytes: text.into(), length: text.len() as u64 };
        let stderr = StreamOutput::default();
        Observed { ending: Ending::Code(code), stdout, stderr, total_us: 1.0 }
    }

    #[test]
    fn names_may_differ_and_nothing_else() {
        let names = Names::new(Path::new("/usr/bin/sum"), Path::new("/tmp/out/run"));
        let before = observed(0, "usage: sum or /usr/bin/sum\nruns");
        let difference = |code, text| names.difference(&before, &observed(code, text));
        assert_eq!(difference(0, "usage: run or /tmp/out/run\nruns"), None);
        assert_eq!(difference(0, "usage: sum or /usr/bin/sum\nruns"), None);
        let said = difference(0, "usage: run or /usr/bin/run\nruns").unwrap();
        assert_eq!(said, "'usage: NAME or /usr/bin/NAME' instead of 'usage: NAME or NAME'");
        assert_eq!(difference(0, "usage: run or\n  /usr/bin/sum runs"), None);
        assert!(difference(1, "usage: sum or /usr/bin/sum\nruns").unwrap().contains("Code(1)"));
        assert!(difference(0, "usage: sum or /usr/bin/sum").unwrap().contains("lines"));
        assert!(!exactly(&before, &observed(0, "")) && exactly(&before, &before));
    }
}
