//! Small programs built by the machine's own tools, for tests.
//!
//! A test that needs a tool which is missing says so loudly and returns:
//! ```
//! let Some(cc) = testkit::tool("cc") else { return };
//! # let _ = cc;
//! ```

use std::path::{Path, PathBuf};
use std::process::Command;

/// The path of a tool, or `None` after a loud line on stderr. With `HEADSTART_REQUIRE_TOOLS=1`
/// (as in `cargo xtask test`, which installs the tools) a missing tool fails the test instead.
pub fn tool(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|p| p.is_file());
    if found.is_none() {
        let required = std::env::var_os("HEADSTART_REQUIRE_TOOLS").is_some();
        assert!(!required, "{name} is required here and not installed");
        eprintln!("SKIPPED: {name} is not installed (cargo xtask test installs it)");
    }
    found
}

/// Compiles C `source` to `folder/output` with `compiler` and `flags` and gives its path.
///
/// # Panics
/// With the compiler's messages where it fails: the test cannot mean anything then.
pub fn compile(
    compiler: &Path,
    folder: &Path,
    output: &str,
    source: &str,
    flags: &[&str],
) -> PathBuf {
    let input = folder.join(format!("{output}.c"));
    write(&input, source.as_bytes());
    let target = folder.join(output);
    let mut command = Command::new(compiler);
    command.arg("-o").arg(&target).arg(&input).args(flags).current_dir(folder);
    let result = command.output().unwrap_or_else(|error| panic!("{compiler:?}: {error}"));
    let messages = String::from_utf8_lossy(&result.stderr);
    assert!(result.status.success(), "{command:?} failed:\n{messages}");
    target
}

/// Writes an executable script.
///
/// # Panics
/// Where the folder cannot be written.
pub fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    write(&path, text.as_bytes());
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&path, mode).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    path
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{path:?}: {error}"));
}
