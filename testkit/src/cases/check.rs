//! Whether a built case is what it says.

use super::{Built, Case, Evidence, Toolchain, run};
use std::path::Path;
use std::process::Command;

impl Case {
    /// What is wrong with it as it was built, in words for people: the program fails, complains,
    /// prints something else every time, lacks an essential line, or readelf does not find what
    /// makes the case what it is.
    ///
    /// # Panics
    /// Where the program or `readelf` cannot be started.
    pub fn fault(&self, built: &Built, toolchain: Toolchain, readelf: &Path) -> Option<String> {
        let outcome = run(&built.program, built);
        let told = || format!("{}\n{}{}", outcome.status, outcome.stdout, outcome.stderr);
        if !outcome.status.success() || !outcome.stderr.is_empty() {
            return Some(told());
        }
        if let Some(missing) = self.missing_in(&outcome.stdout) {
            return Some(format!("no line {missing:?}: {}", told()));
        }
        let again = run(&built.program, built);
        if again != outcome {
            return Some(format!("not the same every time: {}\n{}", told(), again.stdout));
        }
        let evidence = self.shown_by_readelf().iter().filter(|shown| shown.is_of(toolchain));
        evidence.copied().find_map(|shown| unseen(shown, built, readelf))
    }
}

fn unseen(shown: Evidence, built: &Built, readelf: &Path) -> Option<String> {
    let mut command = Command::new(readelf);
    command.args(shown.option.split_whitespace()).arg(built.folder.join(shown.file));
    let output = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    let text = String::from_utf8_lossy(&output.stdout);
    let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let missing = !squeezed.contains(shown.text);
    missing.then(|| format!("no {:?} in {command:?}:\n{text}", shown.text))
}
