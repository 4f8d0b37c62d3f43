//! Small programs for tests, other readers of images, and the tools that both need.
//!
//! A test that needs a tool which is missing says so loudly and returns:
//! ```
//! let Some(cc) = testkit::tool("cc") else { return };
//! # let _ = cc;
//! ```

mod asleep;
pub mod cases;
mod host;
mod memory;
pub mod oracles;
pub mod packages;
pub mod pe;
pub mod pf;
mod tools;
mod when_free;
pub mod workspace;

pub use asleep::wait_until_asleep;
pub use memory::brought_in;
pub use tools::{Need, TOOLS, Tool, known};
pub use when_free::WhenFree;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// With this variable set, a missing tool that tests need fails the test.
pub const REQUIRE_TOOLS: &str = "HEADSTART_REQUIRE_TOOLS";
/// Names of tools that may be missing all the same, because they cannot be installed here.
pub const EXCUSED_TOOLS: &str = "HEADSTART_EXCUSED_TOOLS";

/// The path of a tool, or `None` after a loud line on stderr.
///
/// With `HEADSTART_REQUIRE_TOOLS=1`, as `cargo xtask test` sets it once it has installed the
/// tools, a missing one fails the test instead. The large ones ([`Need::Checks`]) and those of
/// `HEADSTART_EXCUSED_TOOLS` are skipped even then.
///
/// # Panics
/// Where the tool is required and missing.
pub fn tool(name: &str) -> Option<PathBuf> {
    let found = find(name);
    if found.is_none() {
        let known = known(name);
        let package = known.map_or(name, |tool| tool.package);
        let reason = format!("needs {name}: apt-get install {package}");
        let large = known.is_some_and(|tool| tool.need == Need::Checks);
        let required = std::env::var_os(REQUIRE_TOOLS).is_some() && !large && !is_excused(name);
        assert!(!required, "{reason}");
        skip(&reason);
    }
    found
}

fn is_excused(name: &str) -> bool {
    let excused = std::env::var(EXCUSED_TOOLS).unwrap_or_default();
    excused.split(' ').any(|excused| excused == name)
}

/// Where Debian keeps the programs of Wine, outside `PATH`.
const ASIDE: &str = "/usr/lib/wine";

/// Where a program is along `PATH`, or aside of it.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from(ASIDE)]);
    folders.map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Says on stderr that the calling test is skipped, past the test harness, which would keep the
/// line of a test that passes to itself. `cargo xtask test` counts these lines.
pub fn skip(reason: &str) {
    let thread = std::thread::current();
    let line = skip_line(reason, thread.name());
    // Nobody is left to tell where stderr is closed.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// The harness runs a test in a thread of its name.
fn skip_line(reason: &str, test: Option<&str>) -> String {
    match test {
        Some(test) if test != "main" => format!("SKIPPED: {reason} ({test})\n"),
        _ => format!("SKIPPED: {reason}\n"),
    }
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
    let path = folder.join(name);
    write(&path, text.as_bytes());
    host::make_executable(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
    path
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap_or_else(|error| panic!("{path:?}: {error}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_test_is_named() {
        assert_eq!(skip_line("needs x", Some("a::b")), "SKIPPED: needs x (a::b)\n");
        assert_eq!(skip_line("needs x", Some("main")), "SKIPPED: needs x\n");
    }

    #[test]
    fn tools_are_found_along_the_path() {
        assert!(find("sh").is_some_and(|path| path.is_absolute()));
        assert_eq!(find("no-such-tool"), None);
    }
}
