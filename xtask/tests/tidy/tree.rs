//! The files of the workspace, read once.

use crate::masked::{Masked, mask};
use std::path::Path;
use std::sync::OnceLock;
use testkit::workspace::root;

/// Folders that hold no text of the project.
const SKIPPED: [&str; 4] = ["target", "corpus", "artifacts", "coverage"];
const TEXT: [&str; 6] = ["rs", "md", "toml", "c", "py", "json"];

/// A text file.
pub struct File {
    /// From the root of the workspace, with `/`.
    pub path: String,
    pub text: String,
}

/// A file of Rust.
pub struct Source {
    pub path: String,
    /// Its code and its comments, line by line.
    pub masked: Masked,
    /// For each line, whether it is part of a test.
    pub is_test: Vec<bool>,
}

impl Source {
    /// Whether the whole file is tests, or is compiled for tests only.
    pub fn is_test_file(&self) -> bool {
        is_test_path(&self.path)
    }

    /// Numbers and code of the lines that are part of the product.
    pub fn product(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.masked.code.iter().zip(&self.is_test).enumerate();
        lines.filter(|(_, (_, is_test))| !**is_test).map(|(at, (line, _))| (at + 1, line.as_str()))
    }
}

/// The whole workspace.
pub struct Tree {
    pub files: Vec<File>,
    pub sources: Vec<Source>,
}

/// Reads it the first time.
pub fn tree() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| {
        let mut files = Vec::new();
        walk(&root(), "", &mut files);
        files.sort_by(|one, two| one.path.cmp(&two.path));
        let rust = files.iter().filter(|file| file.path.ends_with(".rs"));
        let sources = rust.map(source).collect();
        Tree { files, sources }
    })
}

fn walk(folder: &Path, prefix: &str, files: &mut Vec<File>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let (path, at) = (format!("{prefix}{name}"), entry.path());
        let kind = entry.file_type().unwrap_or_else(|error| panic!("{path}: {error}"));
        if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            walk(&at, &format!("{path}/"), files);
        } else if kind.is_file() && TEXT.iter().any(|end| name.ends_with(&format!(".{end}"))) {
            let text = std::fs::read_to_string(&at).unwrap_or_else(|e| panic!("{path}: {e}"));
            files.push(File { path, text });
        }
    }
}

fn source(file: &File) -> Source {
    let masked = mask(&file.text);
    let is_test = match is_test_path(&file.path) {
        true => vec![true; masked.code.len()],
        false => lines_for_tests(&masked.code),
    };
    Source { path: file.path.clone(), masked, is_test }
}

fn is_test_path(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs") || path.starts_with("testkit/")
}

/// Items below `#[cfg(test)]` end at a line of the same indentation, as rustfmt writes them.
fn lines_for_tests(code: &[String]) -> Vec<bool> {
    let mut is_test = vec![false; code.len()];
    for start in (0..code.len()).filter(|&at| code[at].trim().starts_with("#[cfg(test)]")) {
        let indent = indentation(&code[start]);
        let item = (start + 1..code.len()).find(|&at| !code[at].trim().starts_with("#["));
        let Some(item) = item else { continue };
        let ends = |line: &str| line.ends_with(';') || line.ends_with('}');
        let end = (item..code.len())
            .find(|&at| indentation(&code[at]) == indent && ends(code[at].trim_end()))
            .unwrap_or(code.len() - 1);
        is_test[start..=end].fill(true);
    }
    is_test
}

/// Spaces at the beginning of a line.
pub fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[test]
fn the_items_below_cfg_test_are_tests() {
    let code =
        "fn a() {\n}\n#[cfg(test)]\nuse b;\n#[cfg(test)]\nmod tests {\n    fn c() {}\n}\nfn d() {}";
    let lines: Vec<String> = code.lines().map(str::to_owned).collect();
    let expected = [false, false, true, true, true, true, true, true, false];
    assert_eq!(lines_for_tests(&lines), expected);
}
