//! Whether a compiler finds its own files as a bundle: where it asks for its place in a way that a bundle cannot
//! answer, it would look for headers and libraries elsewhere.

use super::find::whole_answer;
use super::tool::Tool;
use crate::error::BundleError;
use crate::start::chosen;
use model::bundle::BundleManifest;
use model::toolchain::Toolchain;
use startup::STALE_VARIABLE;
use std::path::{Path, PathBuf};

/// What shows where it looks.
fn questions(toolchain: Toolchain) -> &'static [&'static [&'static str]] {
    match toolchain {
        Toolchain::Clang => &[&["-print-resource-dir"], &["-print-search-dirs"]],
        Toolchain::Gcc => &[&["-print-search-dirs"], &["-print-prog-name=cc1"]],
        Toolchain::Rustc => &[&["--print", "sysroot"]],
    }
}

/// Asks the program and its bundle.
///
/// # Errors
/// They answer differently.
pub(super) fn same_answers(
    toolchain: Toolchain,
    tool: &Tool,
    (run, manifest): (&Path, &BundleManifest),
    path: &[PathBuf],
) -> Result<(), BundleError> {
    for question in questions(toolchain) {
        let chosen: Vec<_> = chosen(manifest).collect();
        // The bundle, and not the program in its place.
        let never = (STALE_VARIABLE.to_owned(), Some("never".into()));
        let bundled = chosen.iter().cloned().chain([never]).collect();
        let expected = whole_answer(&tool.program, question, path, chosen)?;
        if whole_answer(run, question, path, bundled)? != expected {
            let reason = format!(
                "as a bundle it answers {} differently, so it would not find its own files",
                question.join(" ")
            );
            return Err(BundleError::declined(&tool.program, reason));
        }
    }
    Ok(())
}
