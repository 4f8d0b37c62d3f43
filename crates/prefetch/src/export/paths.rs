//! The recorded files below a root.

use super::ExportProblem;
use model::Recording;
use std::collections::BTreeSet;
use std::path::Path;

/// Paths without the root, in order of first touch, each once; and the recorded paths of others.
pub(super) fn below(
    recording: &Recording,
    root: &Path,
) -> Result<(Vec<String>, Vec<String>), ExportProblem> {
    if !root.is_absolute() {
        return Err(ExportProblem::RelativeRoot(model::text::text(root)));
    }
    let (mut paths, mut left_out, mut seen) = (Vec::new(), Vec::new(), BTreeSet::new());
    for file in &recording.files {
        let path = model::text::name(&file.path);
        match Path::new(&path).strip_prefix(root) {
            Ok(rest) if rest.file_name().is_some() => {
                let rest = model::text::text(rest);
                if seen.insert(rest.clone()) {
                    paths.push(rest);
                }
            }
            _ => left_out.push(file.path.clone()),
        }
    }
    if paths.is_empty() {
        let (root, files) = (model::text::text(root), recording.files.len());
        return Err(ExportProblem::NothingBelow { root, files });
    }
    Ok((paths, left_out))
}

/// A line for each path.
pub(super) fn lines(before: &str, paths: &[String]) -> String {
    paths.iter().map(|path| format!("{before}{path}\n")).collect()
}
