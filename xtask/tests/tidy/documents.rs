//! First lines of sources, lines of documents, and paths in all files.

use crate::Violation;
use crate::tree::{File, Tree};
use std::path::Path;

/// The width of documents.
const WIDTH: usize = 120;

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

/// Paths below a folder that only this machine has.
pub fn paths_below(folder: &Path, files: &[File]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for file in files {
        for (at, _) in file.text.lines().enumerate().filter(|(_, line)| names(line, folder)) {
            violations.push(Violation::new(&file.path, at + 1, folder.display().to_string()));
        }
    }
    violations
}

/// Whether a path begins with this folder; a folder of that name may be deeper in another.
fn names(line: &str, folder: &Path) -> bool {
    let folder = format!("{}/", folder.display());
    line.match_indices(&folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.)}>*".contains(c))
    })
}

#[test]
fn only_paths_that_begin_there_count() {
    let folder = Path::new("/tree");
    assert!(names("cd /tree/x", folder) && names("'/tree/ann/x'", folder));
    assert!(!names("crates/tree/x", folder) && !names("/trees/x", folder));
}
