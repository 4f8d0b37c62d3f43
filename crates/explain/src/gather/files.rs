//! The files behind the paths that launches name.

use crate::inputs::Inputs;
use model::ElfFacts;
use rayon::prelude::*;
use std::path::Path;

/// Finds the real path of every path in the records, and the facts of every image there.
pub(super) fn resolve(inputs: &mut Inputs) {
    for path in inputs.paths() {
        if let Ok(real) = std::fs::canonicalize(&path) {
            inputs.real_paths.insert(path, real.to_string_lossy().into_owned());
        }
    }
    let mut files: Vec<&String> = inputs.real_paths.values().collect();
    files.sort();
    files.dedup();
    inputs.facts = files.par_iter().map(|path| (path.to_string(), facts(path))).collect();
}

fn facts(path: &str) -> Result<ElfFacts, String> {
    image::elf::facts(Path::new(path)).map_err(|error| error.to_string())
}
