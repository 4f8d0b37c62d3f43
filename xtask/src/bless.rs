//! `cargo xtask bless`: writes every golden file anew, to be reviewed.

use anyhow::{Context, Result};
use std::process::Command;
use testkit::workspace::{cargo, root, succeeds};

/// Runs the tests of every crate that has snapshots, writing these instead of comparing. True
/// if all is well.
///
/// # Errors
/// Cargo cannot be run.
pub fn run() -> Result<bool> {
    let crates = with_snapshots()?;
    let mut arguments = vec!["test", "--quiet", "--no-fail-fast"];
    for name in &crates {
        arguments.extend(["--package", name]);
    }
    let good = succeeds(cargo(&arguments).env("INSTA_UPDATE", "always"))?;
    println!("Golden files of {} are as the code makes them now. What changed:", crates.join(", "));
    // Only for the reader: without git the files are written all the same.
    let mut changes = Command::new("git");
    changes.args(["status", "--short", "--", "*.snap"]).current_dir(root());
    if !changes.status().is_ok_and(|status| status.success()) {
        println!("(unknown: git status failed)");
    }
    Ok(good)
}

/// Crates whose tests use insta; a crate's folder has its name.
fn with_snapshots() -> Result<Vec<String>> {
    let folder = root().join("crates");
    let read = |path: &std::path::Path| format!("{} cannot be read", path.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).with_context(|| read(&folder))? {
        let path = entry?.path();
        let manifest = path.join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest).with_context(|| read(&manifest))?;
        if text.lines().any(|line| line.starts_with("insta")) {
            names.extend(path.file_name().map(|name| name.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    #[test]
    fn crates_with_snapshots_are_found() {
        let found = super::with_snapshots().unwrap();
        let has_some = |name: &str| found.iter().any(|found| found == name);
        assert!(has_some("image") && has_some("report") && !has_some("model"), "{found:?}");
    }
}
