//! US spelling of identifiers and comments.

use crate::Violation;
use crate::tree::Tree;
use std::collections::BTreeSet;

/// Parts of words that are spelled otherwise in the US. Those that end in `is` count before `e`,
/// `i` and `a` only: a promise and an optimist are right.
const BRITISH: &[&str] = &[
    "analyse",
    "analysing",
    "behaviour",
    "canonicalis",
    "capitalis",
    "catalogue",
    "centre",
    "characteris",
    "colour",
    "customis",
    "defence",
    "favour",
    "finalis",
    "generalis",
    "honour",
    "initialis",
    "labell",
    "licence",
    "localis",
    "materialis",
    "maximis",
    "minimis",
    "modell",
    "neighbour",
    "normalis",
    "optimis",
    "organis",
    "parallelis",
    "randomis",
    "recognis",
    "serialis",
    "specialis",
    "summaris",
    "synchronis",
];
/// The plural of a noun.
const RIGHT: &[&str] = &["analyses"];
const VOWELS: [char; 3] = ['a', 'e', 'i'];

/// Each British word of each file.
pub fn british_words(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    let others = tree.sources.iter().filter(|one| !one.path.starts_with("xtask/tests/tidy/"));
    for source in others {
        let mut seen = BTreeSet::new();
        for (at, (code, comment)) in
            source.masked.code.iter().zip(&source.masked.comments).enumerate()
        {
            if !has_stem(code) && !has_stem(comment) {
                continue;
            }
            for word in words(code).chain(words(comment)).filter(|word| is_british(word)) {
                if seen.insert(word.to_lowercase()) {
                    violations.push(Violation::new(&source.path, at + 1, word.to_lowercase()));
                }
            }
        }
    }
    violations
}

fn has_stem(line: &str) -> bool {
    let line = line.to_lowercase();
    BRITISH.iter().any(|stem| line.contains(stem))
}

/// Identifiers divided at `_`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 4)
}

fn is_british(word: &str) -> bool {
    let word = word.to_lowercase();
    !RIGHT.contains(&word.as_str())
        && BRITISH.iter().any(|stem| {
            word.match_indices(stem).any(|(at, _)| {
                let next = word[at + stem.len()..].chars().next();
                !stem.ends_with("is") || next.is_some_and(|next| VOWELS.contains(&next))
            })
        })
}

#[test]
fn british_and_us_words_are_told_apart() {
    for word in ["Optimisation", "initialisers", "recognise", "behaviour", "centre"] {
        assert!(is_british(word), "{word}");
    }
    for word in ["optimization", "promise", "precise", "analysis", "centered", "normalized"] {
        assert!(!is_british(word), "{word}");
    }
}
