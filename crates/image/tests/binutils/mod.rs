//! Programs of binutils, the oracles.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a program prints; it must succeed.
pub fn run(program: &Path, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program:?} {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Another program of the package that readelf is from.
pub fn binutils(name: &str) -> Option<PathBuf> {
    Some(testkit::tool("readelf")?.with_file_name(name))
}
