//! Running what was rewritten, and asking other tools about it.
#![allow(clippy::unwrap_used, dead_code)] // each test file uses a part of this

use image::elf::Loadable;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use testkit::WhenFree;

pub fn open(path: &Path) -> Loadable {
    Loadable::open(path).unwrap()
}

/// Writes a program that is not there yet.
pub fn written(path: &Path, bytes: &[u8]) {
    assert!(!path.exists(), "{path:?} may be mapped by a test");
    std::fs::write(path, bytes).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// What a program that succeeds says.
pub fn output(program: &Path) -> String {
    let output = Command::new(program).output_when_free();
    assert!(output.status.success(), "{program:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// What readelf finds wrong.
pub fn warnings(file: &Path) -> String {
    let Some(readelf) = testkit::tool("readelf") else { return String::new() };
    let output = Command::new(readelf).arg("-aW").arg(file).output().unwrap();
    assert!(output.status.success(), "{file:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// readelf finds nothing wrong.
pub fn silent(file: &Path) {
    assert_eq!(warnings(file), "", "{file:?}");
}

/// Applies each tool to a copy at `path` and runs what is left.
pub fn after_tools(path: &Path, bytes: &[u8], from: &str, run: impl Fn()) {
    // Long enough that patchelf has to move the string table.
    let rpath = format!("/{}:$ORIGIN", "far/away/".repeat(30));
    let tools: [(&str, &[&str]); 4] = [
        ("strip", &[]),
        ("strip", &["-g"]),
        ("llvm-strip-19", &[]),
        ("patchelf", &["--set-rpath", &rpath]),
    ];
    for (name, words) in tools {
        let Some(tool) = testkit::tool(name) else { continue };
        std::fs::remove_file(path).unwrap();
        written(path, bytes);
        let done = Command::new(tool).args(words).arg(path).output().unwrap();
        assert!(done.status.success() && done.stderr.is_empty(), "{from}, {name}: {done:?}");
        run();
    }
}
