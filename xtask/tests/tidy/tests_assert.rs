//! Tests that assert nothing.

use crate::Violation;
use crate::sizes::functions;
use crate::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};

/// What fails a test by itself.
const ASSERTS: &[&str] = &[
    "assert",
    "panic!(",
    "unwrap_err(",
    "expect_err(",
    "should_panic",
    "unreachable!(",
    ".unwrap();",
];

/// Tests of what must only not panic.
const MUST_NOT_PANIC: [&str; 1] = ["other_bytes_are_no_section_or_some_addresses"];

/// Tests that neither assert nor call another function of tests that does, by its name.
pub fn without_assertion(tree: &Tree) -> Vec<Violation> {
    let mut bodies: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut asserting: BTreeSet<&str> = BTreeSet::new();
    let mut tests = Vec::new();
    for source in &tree.sources {
        let code = &source.masked.code;
        for function in functions(source).filter(|function| source.is_test[function.start]) {
            let body = &code[function.start..=function.end];
            let attributes = code[..function.start].iter().rev();
            let attributes = attributes.take_while(|line| line.trim_start().starts_with("#["));
            let attributes: Vec<&String> = attributes.collect();
            let asserts = |line: &String| ASSERTS.iter().any(|part| line.contains(part));
            let itself = body.iter().any(asserts) || attributes.iter().any(|line| asserts(line));
            let calls = body.iter().flat_map(|line| called(line));
            if attributes.iter().any(|line| line.trim() == "#[test]") {
                if !itself && !MUST_NOT_PANIC.contains(&function.name) {
                    let place = Violation::new(&source.path, function.start + 1, function.name);
                    tests.push((place, calls.skip(1).collect::<Vec<&str>>()));
                }
                continue;
            }
            if itself {
                asserting.insert(function.name);
            }
            bodies.entry(function.name).or_default().extend(calls);
        }
    }
    while let Some(more) = more(&bodies, &asserting) {
        asserting.extend(more);
    }
    let silent = tests
        .into_iter()
        .filter(|(_, calls)| !calls.iter().any(|called| asserting.contains(called)));
    silent.map(|(place, _)| place).collect()
}

/// Functions that call an asserting one and are not known as such yet.
fn more<'a>(
    bodies: &BTreeMap<&'a str, BTreeSet<&str>>,
    asserting: &BTreeSet<&str>,
) -> Option<Vec<&'a str>> {
    let new = bodies.iter().filter(|(name, calls)| {
        !asserting.contains(*name) && calls.iter().any(|called| asserting.contains(called))
    });
    let new: Vec<&str> = new.map(|(name, _)| *name).collect();
    (!new.is_empty()).then_some(new)
}

/// Words before a parenthesis.
fn called(line: &str) -> impl Iterator<Item = &str> {
    line.match_indices('(')
        .filter_map(|(at, _)| line[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next())
}
