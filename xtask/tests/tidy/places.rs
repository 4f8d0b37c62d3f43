//! What may be used in some crates only.

use crate::Violation;
use crate::tree::{Source, Tree};

/// A rule on where something may stand.
pub struct Rule {
    pub name: &'static str,
    /// Parts of code that it is about.
    patterns: &'static [&'static str],
    /// Beginnings of the paths where they may stand.
    allowed: &'static [&'static str],
    /// Whether they may stand in tests.
    in_tests: bool,
    pub mend: &'static str,
}

pub const OBJECT: Rule = Rule {
    name: "object",
    patterns: &["object::"],
    allowed: &["crates/image/"],
    in_tests: false,
    mend: "Let `image` give what is needed: formats are read and written there only.",
};

pub const UNSAFE: Rule = Rule {
    name: "unsafe",
    patterns: &["unsafe "],
    // The system calls; mappings of files, and what Windows has no library for; code that runs before
    // any program.
    allowed: &[
        "crates/os/",
        "crates/files/src/mapped.rs",
        "crates/files/src/unix/",
        "crates/files/src/windows/",
        "crates/startup/",
        "crates/ahead/src/code/",
    ],
    in_tests: false,
    mend: "Use rustix or std, or move the system call to `os`.",
};

pub const PROCESSES: Rule = Rule {
    name: "processes",
    patterns: &["process::Command", "process::{Command", "std::process::Stdio"],
    // Build scripts ask the linker for what it can do, and compile.
    allowed: &[
        "crates/os/",
        "crates/headstart/build.rs",
        "crates/ahead/build.rs",
        "benchmarks/",
        "xtask/",
    ],
    in_tests: true,
    mend: "Programs are started by `os::launcher` and by tests.",
};

pub const PRINTING: Rule = Rule {
    name: "printing",
    patterns: &["print!(", "println!(", "dbg!(", "stdout().lock(", "stderr().lock("],
    // A build script talks to Cargo.
    allowed: &[
        "crates/headstart/",
        "crates/ahead/build.rs",
        "crates/stats/examples/",
        "benchmarks/",
        "xtask/",
    ],
    in_tests: true,
    mend: "Return the text, or tell the caller by an event: only the command prints.",
};

pub const OPERATING_SYSTEM: Rule = Rule {
    name: "operating-system",
    patterns: &[
        "target_os",
        "cfg(unix)",
        "cfg(windows)",
        "cfg(not(windows))",
        "cfg!(windows)",
        "cfg!(unix)",
    ],
    // Where the versions of a host are chosen: of system calls, of facts of files, of names, of the
    // shells' quoting; and which commands and parts of crates a host has.
    allowed: &[
        "crates/os/",
        "crates/startup/",
        "crates/files/src/lib.rs",
        "crates/model/src/text.rs",
        "crates/model/src/quoting.rs",
        "crates/explain/src/lib.rs",
        "crates/explain/src/launched.rs",
        "crates/explain/src/pe/mod.rs",
        "crates/lab/src/",
        "crates/ordering/src/lib.rs",
        "crates/prefetch/src/lib.rs",
        "crates/rewrite/src/lib.rs",
        "crates/rewrite/src/already.rs",
        "crates/rewrite/src/selfbind.rs",
        "crates/headstart/src/",
    ],
    in_tests: true,
    mend: "Put both versions into `os` or `files`, in files of the same name.",
};

/// Where something is used that belongs elsewhere.
pub fn elsewhere(rule: &Rule, tree: &Tree) -> Vec<Violation> {
    let others = |source: &&Source| {
        let is_here = rule.allowed.iter().any(|start| source.path.starts_with(start));
        !is_here && !source.path.starts_with("xtask/tests/tidy/")
    };
    let mut violations = Vec::new();
    for source in tree.sources.iter().filter(others) {
        for (at, code) in source.masked.code.iter().enumerate() {
            if rule.in_tests && source.is_test[at] {
                continue;
            }
            if let Some(pattern) = rule.patterns.iter().find(|pattern| has_word(code, pattern)) {
                violations.push(Violation::new(&source.path, at + 1, pattern.trim_end()));
            }
        }
    }
    violations
}

/// Whether it stands there as a word of its own, not as the end of another.
fn has_word(code: &str, pattern: &str) -> bool {
    code.match_indices(pattern).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn the_end_of_another_word_does_not_count() {
    assert!(has_word("use object::elf;", "object::") && !has_word("my_object::elf", "object::"));
    assert!(!has_word("unsafe_code", "unsafe "));
}
