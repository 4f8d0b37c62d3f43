//! Launches under Wine that fail by chance, and are made again.

use crate::LabError;

/// Launches that failed for no reason of their own: Wine 8.0 ends with exit code 1 and without a
/// word once in some thousands of launches of whatever program.
pub struct ChanceFailures {
    by_chance: bool,
    /// Launches that had been made before the latest one.
    at: Option<usize>,
    count: usize,
}

/// More than one launch in so many is no chance.
const RARE: usize = 100;

impl ChanceFailures {
    /// None yet; `by_chance` says whether there may be any.
    pub fn new(by_chance: bool) -> ChanceFailures {
        ChanceFailures { by_chance, at: None, count: 0 }
    }

    /// Whether to go on after `error`, with the launch that failed: not where that fails again,
    /// nor where it happens often.
    pub fn go_on(&mut self, error: &LabError, made: usize) -> bool {
        let by_chance = self.by_chance && matches!(error, LabError::Failed { .. });
        let again = self.at.replace(made) == Some(made);
        self.count += 1;
        by_chance && !again && self.count <= 1 + made / RARE
    }

    /// What a reader should know.
    pub fn note(&self) -> Option<String> {
        let launches = model::figures::plural(self.count as u64, "launch", "launches");
        let count = if self.count == 1 { "does not count" } else { "do not count" };
        (self.count > 0).then(|| {
            format!("{launches} failed by Wine's fault, did not when made again, and {count}.")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Ending;

    fn failed() -> LabError {
        let (command, output) = ("x".to_owned(), String::new());
        LabError::Failed { command, ending: Ending::Code(1), output }
    }

    #[test]
    fn rare_failures_of_wine_do_not_end_the_launches() {
        let none = || ChanceFailures::new(true);
        let mut failures = none();
        assert_eq!(failures.note(), None);
        assert!(failures.go_on(&failed(), 50));
        let note = "1 launch failed by Wine's fault, did not when made again, and does not count.";
        assert_eq!(failures.note().as_deref(), Some(note));
        assert!(!failures.go_on(&failed(), 50), "the same launch fails again");
        let mut often = none();
        assert!(often.go_on(&failed(), 10) && !often.go_on(&failed(), 20));
        let mut rare = none();
        assert!(rare.go_on(&failed(), 10) && rare.go_on(&failed(), 110));
        assert!(!none().go_on(&LabError::Cold(String::new()), 10));
        assert!(!ChanceFailures::new(false).go_on(&failed(), 10));
    }
}
