//! C programs for the bars, compiled when they are needed.

use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that only leaves: the launch is all there is.
pub const NOOP: &str = include_str!("../../c/noop.c");
/// A loop of launches with nothing around them.
pub const BARE: &str = include_str!("../../c/bare.c");
/// A counted spin.
pub const SPIN: &str = include_str!("../../c/spin.c");
/// Keeps gcc from adding a segment of notes, where it would.
const NO_NOTES: &str =
    if cfg!(target_arch = "x86_64") { "-fcf-protection=none" } else { "-fno-ident" };
/// Flags that make [`NOOP`] a program of some 400 bytes in one segment, without a C library.
pub const STATIC: [&str; 8] = [
    "-static",
    "-nostdlib",
    "-O2",
    "-s",
    "-fno-asynchronous-unwind-tables",
    NO_NOTES,
    "-Wl,-N",
    "-Wl,--build-id=none",
];

/// Compiles `source` to `folder/name`.
///
/// # Errors
/// There is no compiler, or it fails: its messages then.
pub fn build(folder: &Path, name: &str, source: &str, flags: &[&str]) -> Result<PathBuf> {
    let input = folder.join(format!("{name}.c"));
    std::fs::write(&input, source)
        .with_context(|| format!("{} cannot be written", input.display()))?;
    let program = folder.join(name);
    let mut command = Command::new("cc");
    command.args(flags).arg("-o").arg(&program).arg(&input);
    let output = command.output().context("cc cannot be run: apt-get install gcc libc6-dev")?;
    let messages = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed:\n{messages}");
    Ok(program)
}

/// Launches of the bare loop, without environment variables.
pub struct Bare<'a> {
    /// The built [`BARE`].
    pub program: &'a Path,
    /// CPU it is pinned to.
    pub cpu: u32,
    /// Memory it holds.
    pub mebibytes: u32,
    /// fork instead of vfork.
    pub fork: bool,
}

impl Bare<'_> {
    /// Launches `target` `count` times; microseconds of each.
    ///
    /// # Errors
    /// The loop or the target fails.
    pub fn times_us(&self, count: u32, target: &Path) -> Result<Vec<f64>> {
        let mut command = Command::new(self.program);
        command.env_clear();
        command.args([count, self.cpu, self.mebibytes].map(|number| number.to_string()));
        command.arg(if self.fork { "fork" } else { "vfork" }).arg(target);
        let output = command.output().with_context(|| format!("{command:?} cannot be run"))?;
        let messages = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{command:?} failed: {messages}");
        let text = String::from_utf8_lossy(&output.stdout);
        text.lines().map(|line| Ok(line.parse::<f64>()? / 1000.0)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bare_loop_times_every_launch() {
        if testkit::tool("cc").is_none() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let noop = build(folder.path(), "noop", NOOP, &STATIC).unwrap();
        let program = build(folder.path(), "bare", BARE, &["-O2"]).unwrap();
        let cpu = os::host::quiet_cpu();
        for fork in [false, true] {
            let bare = Bare { program: &program, cpu, mebibytes: 1, fork };
            let times = bare.times_us(7, &noop).unwrap();
            assert!(times.len() == 7 && times.iter().all(|&time| time > 5.0), "{times:?}");
            let error = bare.times_us(1, Path::new("/bin/false")).unwrap_err().to_string();
            assert!(error.contains("/bin/false failed"), "{error}");
        }
        assert!(build(folder.path(), "wrong", "int main(", &[]).is_err());
    }
}
