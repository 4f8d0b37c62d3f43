//! How long files and functions are.

use crate::Violation;
use crate::tree::{Source, Tree, indentation};

/// A file is read in one sitting. The longest of the house when this was first checked had 344.
const FILE_LINES: usize = 350;
/// Tests of one verb stand together, though each is read by itself.
const TEST_FILE_LINES: usize = 620;
/// A function fits on a screen. The longest of the house when this was first checked had 68.
const FUNCTION_LINES: usize = 70;
/// A test of a whole way through the program may tell a longer story.
const TEST_FUNCTION_LINES: usize = 80;

/// Files with more lines than that.
pub fn long_files(tree: &Tree) -> Vec<Violation> {
    let long = tree.sources.iter().filter(|source| {
        let most = if source.is_test_file() { TEST_FILE_LINES } else { FILE_LINES };
        source.masked.code.len() > most
    });
    long.map(|source| Violation::new(&source.path, 1, "the file is too long")).collect()
}

/// Functions with more lines than that.
pub fn long_functions(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for source in &tree.sources {
        for function in functions(source) {
            let is_test = source.is_test[function.start];
            let most = if is_test { TEST_FUNCTION_LINES } else { FUNCTION_LINES };
            if function.end + 1 - function.start > most {
                let found = format!("{} is too long", function.name);
                violations.push(Violation::new(&source.path, function.start + 1, found));
            }
        }
    }
    violations
}

/// A function with a body; lines are counted from 0.
pub struct Function<'a> {
    pub name: &'a str,
    pub start: usize,
    pub end: usize,
}

/// Functions end at a brace of the same indentation, as rustfmt writes them.
pub fn functions(source: &Source) -> impl Iterator<Item = Function<'_>> {
    let code = &source.masked.code;
    code.iter().enumerate().filter_map(move |(start, line)| {
        let words = line.trim_start();
        let (before, after) = words.split_once("fn ")?;
        let is_item = before.split_whitespace().all(|word| {
            word.starts_with("pub")
                || ["const", "unsafe", "extern", "\"\"", "\"", "in"].contains(&word)
        });
        let name = after.split(['(', '<']).next().filter(|_| is_item)?;
        let closes = |at: &usize| {
            let line = &code[*at];
            let ends = line.trim_end().ends_with(['}', ';']);
            indentation(line) == indentation(&code[start]) && ends
        };
        let end = (start..code.len()).find(closes)?;
        Some(Function { name, start, end })
    })
}
