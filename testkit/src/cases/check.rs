//! Whether a built case is what it says.

use super::{Built, Case, Evidence, Toolchain, run};
use std::path::{Path, PathBuf};
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
        let mut images = built.libraries.iter().chain(&built.plugins).chain([&built.program]);
        let relocates_text = |image: &&PathBuf| read(readelf, "-dW", image).contains("TEXTREL");
        if let Some(image) = images.find(relocates_text) {
            return Some(format!("{image:?} has text relocations, which no case is about"));
        }
        let evidence = self.shown_by_readelf().iter().filter(|shown| shown.is_of(toolchain));
        evidence.copied().find_map(|shown| unseen(shown, built, readelf))
    }
}

fn unseen(shown: Evidence, built: &Built, readelf: &Path) -> Option<String> {
    let text = read(readelf, shown.option, &built.folder.join(shown.file));
    let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let missing = !squeezed.contains(shown.text);
    missing.then(|| format!("no {:?} in {} {}:\n{text}", shown.text, shown.option, shown.file))
}

fn read(readelf: &Path, option: &str, file: &Path) -> String {
    let mut command = Command::new(readelf);
    command.args(option.split_whitespace()).arg(file);
    let output = command.output().unwrap_or_else(|why| panic!("{command:?}: {why}"));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
