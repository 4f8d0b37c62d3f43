//! The rules of the house, checked over the whole tree: one test for each rule.
//!
//! A failure names the file and line, what was found, and how to mend it. Places that broke a rule
//! before it was checked are in `present/`, a file for each rule. These lists only get shorter: an
//! entry that no longer breaks its rule fails the test too. After files have been moved,
//! `TIDY_REWRITE=1 cargo test -p xtask --test tidy` writes the lists anew, to be reviewed.

mod command_line;
mod documents;
mod layers;
mod masked;
mod names;
mod places;
mod present;
mod sizes;
mod spelling;
mod tests_assert;
mod tree;

use present::judge;
use testkit::workspace::root;
use tree::tree;

/// One place that breaks a rule.
pub struct Violation {
    /// Path from the root of the workspace.
    pub path: String,
    /// Counted from 1.
    pub line: usize,
    /// What was found there; with the path, it is what the list of present offenders names.
    pub found: String,
}

impl Violation {
    fn new(path: &str, line: usize, found: impl Into<String>) -> Violation {
        Violation { path: path.to_owned(), line, found: found.into() }
    }
}

#[test]
fn crates_depend_only_on_crates_below_them() {
    judge(
        "layers",
        layers::upward_dependencies(&tree().files),
        "ARCHITECTURE.md lists the crates from top to bottom. Move what is shared to a crate that \
         both may use, or pass it as an argument.",
    );
}

#[test]
fn every_package_takes_the_lints_of_the_workspace() {
    judge(
        "lints",
        layers::packages_without_lints(&tree().files),
        "Add `[lints]` with `workspace = true` to the manifest: CI turns missing documentation \
         and the other warnings into errors.",
    );
}

#[test]
fn object_is_named_in_image_only() {
    stays(&places::OBJECT);
}

#[test]
fn unsafe_is_where_it_is_stated() {
    stays(&places::UNSAFE);
}

#[test]
fn processes_are_started_in_os_and_tests() {
    stays(&places::PROCESSES);
}

#[test]
fn libraries_print_nothing() {
    stays(&places::PRINTING);
}

#[test]
fn only_the_command_names_its_options_and_verbs() {
    judge(
        "command-line",
        command_line::named_in_libraries(tree()),
        "Return a fact, such as a variant of an enum, and let `headstart` put it into the words of \
         the command line.",
    );
}

#[test]
fn operating_systems_are_told_apart_in_os() {
    stays(&places::OPERATING_SYSTEM);
}

fn stays(rule: &places::Rule) {
    judge(rule.name, places::elsewhere(rule, tree()), rule.mend);
}

#[test]
fn files_are_short() {
    judge(
        "file-length",
        sizes::long_files(tree()),
        "Divide the file where a second idea begins; tests may have a file of their own.",
    );
}

#[test]
fn functions_are_short() {
    judge(
        "function-length",
        sizes::long_functions(tree()),
        "Give steps of the function names of their own.",
    );
}

#[test]
fn every_file_says_first_what_it_is_for() {
    judge(
        "first-line",
        documents::sources_without_first_line(tree()),
        "Begin the file with a `//!` line: a plain sentence that says what the file is for.",
    );
}

#[test]
fn lines_of_documents_are_short() {
    judge(
        "document-lines",
        documents::long_lines(&tree().files),
        "Wrap the text at 120 characters or before. Tables and links may be longer.",
    );
}

#[test]
fn no_file_names_the_folder_of_this_checkout() {
    judge(
        "machine-paths",
        documents::paths_below(&root(), &tree().files),
        "Build the path from the workspace, a temporary folder, or `/home/me` in examples.",
    );
}

#[test]
fn identifiers_and_comments_have_us_spelling() {
    judge(
        "spelling",
        spelling::british_words(tree()),
        "Write it as in the US. A JSON key that is contract stays by `#[serde(rename = \"…\")]`.",
    );
}

#[test]
fn names_of_public_types_are_unique() {
    judge(
        "type-names",
        names::shared_by_types(tree()),
        "Name each type by what it is; if one name fits both best, add it with a reason to \
         `SHARED` in xtask/tests/tidy/names.rs.",
    );
}

#[test]
fn every_test_asserts_something() {
    judge(
        "assertions",
        tests_assert::without_assertion(tree()),
        "Assert what the test is named for, in it or in a function that it calls.",
    );
}
