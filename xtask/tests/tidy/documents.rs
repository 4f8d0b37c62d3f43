//! First lines of sources, lines of documents, and paths in all files.

use crate::Violation;
use crate::tree::{File, Tree};

/// The width of documents.
const WIDTH: usize = 120;
/// Folders that only some machine has.
const MACHINE: [&str; 4] = ["/home/", "/root/", "/work/", "/Users/"];
/// Users of examples.
const EXAMPLES: [&str; 3] = ["/home/me", "/home/user", "/root/.cache"];

/// Rust files that do not begin with what they are for. Each recipe of `testkit/cases` begins with
/// what its case is.
pub fn sources_without_first_line(tree: &Tree) -> Vec<Violation> {
    let silent = tree.sources.iter().filter(|source| {
        !source.path.ends_with("/recipe.rs")
            && !source
                .masked
                .comments
                .first()
                .is_some_and(|line| line.trim_start().starts_with("//! "))
    });
    silent.map(|source| Violation::new(&source.path, 1, "no //! line")).collect()
}

/// Lines of documents that are too long.
pub fn long_lines(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        for (at, line) in file.text.lines().enumerate() {
            let may_be = line.starts_with('|') || line.contains("](http");
            if line.chars().count() > WIDTH && !may_be {
                let start: String = line.chars().take(40).collect();
                violations.push(Violation::new(&file.path, at + 1, start));
            }
        }
    }
    violations
}

/// Paths of one machine.
pub fn machine_paths(files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files.iter().filter(|file| !file.path.starts_with("xtask/tests/tidy/")) {
        for (at, line) in file.text.lines().enumerate() {
            let found = MACHINE.iter().find(|folder| names(line, folder));
            violations.extend(found.map(|folder| Violation::new(&file.path, at + 1, *folder)));
        }
    }
    violations
}

/// Whether a path begins with this folder; a folder of that name may be deeper in another.
fn names(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let begins = !before.is_some_and(|c| c.is_alphanumeric() || "_-.)}>*".contains(c));
        begins && !EXAMPLES.iter().any(|example| line[at..].starts_with(example))
    })
}

#[test]
fn only_paths_that_begin_there_count() {
    assert!(names("cd /work/x", "/work/") && names("'/home/ann/x'", "/home/"));
    assert!(!names("crates/work/x", "/work/") && !names("/home/me/x", "/home/"));
}
