//! Names of the command line, which only the command uses.

use crate::Violation;
use crate::tree::{Source, Tree};
use std::collections::BTreeSet;

/// Where the options and verbs are declared, and used.
const COMMAND: &str = "crates/headstart/";
const VERBS: &str = "crates/headstart/src/verbs.rs";
/// Words that are no options of the command line, though they look like them.
const OTHERS: [(&str, &str); 4] = [
    // What build-ids are made from.
    ("crates/bundle/src/write/content.rs", "headstart bundle"),
    // Names of variants.
    ("crates/optimize/src/registry.rs", "--fixed"),
    ("crates/optimize/src/registry.rs", "--prefetch"),
    // An option of ps.
    ("crates/os/src/linux/checks/load.rs", "--sort"),
];

/// Texts of the libraries that name an option or a verb of the command line.
pub fn named_in_libraries(tree: &Tree) -> Vec<Violation> {
    let options: BTreeSet<String> =
        tree.sources.iter().filter(is_command).flat_map(options).collect();
    let verbs: Vec<String> =
        tree.sources.iter().filter(|s| s.path == VERBS).flat_map(verbs).collect();
    let is_library =
        |source: &&Source| source.path.starts_with("crates/") && !source.path.starts_with(COMMAND);
    let mut violations = Vec::new();
    for source in tree.sources.iter().filter(is_library) {
        let lines = source.masked.texts.iter().enumerate();
        for (at, text) in lines.filter(|(at, _)| !source.is_test[*at]) {
            let typed = verbs.iter().filter(|verb| has_words(text, verb)).cloned();
            let given = words_after(text, "--").filter(|word| options.contains(*word));
            let found: Vec<String> = typed.chain(given.map(|word| format!("--{word}"))).collect();
            let found = found.into_iter();
            let found = found.filter(|it| !OTHERS.contains(&(source.path.as_str(), it.as_str())));
            violations.extend(found.map(|it| Violation::new(&source.path, at + 1, it)));
        }
    }
    violations
}

fn is_command(source: &&Source) -> bool {
    source.path.starts_with(COMMAND) && !source.is_test_file()
}

/// Options that clap makes of the fields of a file: `#[arg(long …)]`, then the field.
fn options(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_long = false;
    for (_, code) in source.product() {
        let code = code.trim();
        let words: Vec<&str> = code.split([' ', ',', '(', ')', ']']).collect();
        is_long |= code.starts_with("#[arg(") && words.contains(&"long");
        let field = code.strip_prefix("pub ").unwrap_or(code).split_once(": ");
        if let (true, false, Some((name, _))) = (is_long, code.starts_with('#'), field) {
            found.push(name.trim_start_matches('_').replace('_', "-"));
            is_long = false;
        }
    }
    found
}

/// `headstart measure`, `headstart pe rebase`: what the table of verbs lists.
fn verbs(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for (at, code) in source.masked.code.iter().enumerate() {
        if code.contains("verb!(") {
            // It may stand on the next line.
            let name = source.masked.texts[at..].iter().find_map(|text| text.split('"').nth(1));
            let name = name.unwrap_or_default();
            found.extend(["", "elf ", "pe "].map(|group| format!("headstart {group}{name}")));
        }
    }
    found
}

/// Whether the text has these words, and not as the beginning of longer ones.
fn has_words(text: &str, words: &str) -> bool {
    text.match_indices(words).any(|(at, _)| {
        let after = text[at + words.len()..].chars().next();
        !after.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '/'))
    })
}

/// The words that `start` stands in front of, where that begins a word itself.
fn words_after<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    let begins = |at: &usize| {
        let before = text[..*at].chars().next_back();
        !before.is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    let at = text.match_indices(start).map(|(at, _)| at).filter(begins);
    at.map(move |at| {
        let rest = &text[at + start.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        &rest[..end.unwrap_or(rest.len())]
    })
}

#[test]
fn options_and_verbs_are_found_as_words() {
    assert!(has_words("use headstart verify.", "headstart verify"));
    assert!(!has_words("headstart verify-x", "headstart verify"));
    let found: Vec<&str> =
        words_after("a --out DIR, -Wl,--hash-style and (--cold)", "--").collect();
    assert_eq!(found, ["out", "hash-style", "cold"]);
}
