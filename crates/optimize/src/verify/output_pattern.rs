//! What is always the same in what a program writes: process ids, addresses and times differ from
//! launch to launch, and the words around them do not.

/// What several launches wrote, without the numbers that differ among them.
pub(super) struct Pattern {
    parts: Vec<Part>,
}

#[derive(Clone, PartialEq)]
enum Part {
    /// These very bytes.
    Same(Vec<u8>),
    /// A word with a digit in it, another one each time.
    Number,
}

impl Pattern {
    /// Of one launch.
    pub(super) fn new(written: &[u8]) -> Pattern {
        Pattern { parts: words(written).map(|word| Part::Same(word.to_vec())).collect() }
    }

    /// What it has in common with another launch of the same program; `None` where they differ in
    /// more than numbers.
    pub(super) fn and(&self, written: &[u8]) -> Option<Pattern> {
        let mut words = words(written);
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let word = words.next()?;
            parts.push(match part {
                Part::Same(same) if same == word => part.clone(),
                Part::Same(same) if is_number(same) && is_number(word) => Part::Number,
                Part::Number if is_number(word) => Part::Number,
                _ => return None,
            });
        }
        words.next().is_none().then_some(Pattern { parts })
    }

    /// Whether this is what the program writes.
    pub(super) fn matches(&self, written: &[u8]) -> bool {
        let mut words = words(written);
        let same = self.parts.iter().all(|part| match (part, words.next()) {
            (Part::Same(same), Some(word)) => same == word,
            (Part::Number, Some(word)) => is_number(word),
            (_, None) => false,
        });
        same && words.next().is_none()
    }
}

/// Words of letters and digits, and what is between them, one after the other.
fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.chunk_by(|a, b| a.is_ascii_alphanumeric() == b.is_ascii_alphanumeric())
}

fn is_number(word: &[u8]) -> bool {
    word.iter().all(u8::is_ascii_alphanumeric) && word.iter().any(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_differ_by_themselves_may_differ() {
        let pattern = Pattern::new(b"p[123]: 0x7ffd12 at 10:15:59\n");
        let pattern = pattern.and(b"p[7]: 0x7ffc99 at 10:16:00\n").unwrap();
        assert!(pattern.matches(b"p[88]: 0x7fab at 10:17:01\n"));
        // The hour was the same both times, and so is the rest.
        assert!(!pattern.matches(b"p[88]: 0x7fab at 11:17:01\n"));
        assert!(!pattern.matches(b"q[88]: 0x7fab at 10:17:01\n"));
        assert!(!pattern.matches(b"p[88]: 0x7fab at 10:17:01"));
        assert!(!pattern.matches(b"p[]: 0x7fab at 10:17:01\n"));
        assert!(!pattern.matches(b""));
    }

    #[test]
    fn other_words_or_more_of_them_are_no_pattern() {
        assert!(Pattern::new(b"yes 1").and(b"no 1").is_none());
        assert!(Pattern::new(b"a 1").and(b"a 1 2").is_none());
        assert!(Pattern::new(b"a 1 2").and(b"a 1").is_none());
        assert!(Pattern::new(b"x1").and(b"xy").is_none());
        assert!(Pattern::new(b"").and(b"").unwrap().matches(b""));
    }
}
