//! Which files of a variant stand for which of the original's.

use crate::Built;
use loader::{Graph, Module};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Changed copies and their originals: those that the builder names, and libraries of its folder
/// that have the name of exactly one of the original's.
pub(super) fn find(
    built: &Built,
    folder: &Path,
    original: &Graph,
    variant: &Graph,
) -> Vec<(PathBuf, PathBuf)> {
    let mut copies: Vec<(PathBuf, PathBuf)> =
        built.stands_for.iter().map(|(copy, original)| (file(copy), file(original))).collect();
    for module in variant.modules.iter().skip(1) {
        let path = file(&module.path);
        if !path.starts_with(folder) || copies.iter().any(|(copy, _)| *copy == path) {
            continue;
        }
        let same = |other: &&Module| name(other) == name(module);
        let mut others = original.modules.iter().skip(1).filter(same);
        if let (Some(other), None) = (others.next(), others.next()) {
            copies.push((path, file(&other.path)));
        }
    }
    copies
}

/// What a path stands for; the program is the original's too.
pub(super) fn originals(
    copies: Vec<(PathBuf, PathBuf)>,
    (run, program): (&Path, &Path),
) -> impl Fn(&Path) -> PathBuf {
    let program = (file(run), program.to_owned());
    let known: HashMap<_, _> = copies.into_iter().chain([program]).collect();
    move |path| {
        let path = file(path);
        known.get(&path).cloned().unwrap_or(path)
    }
}

/// The file itself, links followed.
pub(super) fn file(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// DT_SONAME, or the file's name where it has none.
fn name(module: &Module) -> Option<String> {
    let file = || Some(module.path.file_name()?.to_string_lossy().into_owned());
    module.image.soname.clone().or_else(file)
}
