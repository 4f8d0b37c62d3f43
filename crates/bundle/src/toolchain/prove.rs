//! Whether a compiler finds its own files as a bundle: where it asks for its place in a way that a bundle cannot
//! answer, it would look for headers and libraries elsewhere.

use super::find::{self, whole_answer};
use super::tool::Tool;
use crate::error::BundleError;
use crate::start::chosen;
use model::bundle::BundleManifest;
use model::toolchain::Toolchain;
use startup::STALE_VARIABLE;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// What shows where it looks.
fn questions(toolchain: Toolchain) -> &'static [&'static [&'static str]] {
    match toolchain {
        Toolchain::Clang => &[&["-print-resource-dir"], &["-print-search-dirs"]],
        Toolchain::Gcc => &[&["-print-search-dirs"], &["-print-prog-name=cc1"]],
        Toolchain::Rustc => &[&["--print", "sysroot"]],
    }
}

/// Makes sure that this is such a compiler, and not a program that starts one: a script, or a cache, which goes by
/// the name by which it is started. By the path of its own file a compiler answers, too.
///
/// # Errors
/// It is none.
pub(super) fn is_compiler(
    toolchain: Toolchain,
    tool: &Tool,
    path: &[PathBuf],
) -> Result<(), BundleError> {
    let file = tool.program.canonicalize();
    let file = file.map_err(|error| BundleError::io(&tool.program, error))?;
    let (question, begins) = match toolchain {
        Toolchain::Clang => ("-print-resource-dir", "/"),
        Toolchain::Gcc => ("-print-prog-name=cc1", "/"),
        Toolchain::Rustc => ("-vV", "rustc "),
    };
    let answer = find::answer(&file, &[question], path)?;
    if answer.is_some_and(|answer| answer.as_bytes().starts_with(begins.as_bytes())) {
        return Ok(());
    }
    let word = toolchain.word();
    let reason = format!(
        "it is no {word}: {} does not answer {question} as {word} does; name the path of the compiler \
         itself",
        file.display()
    );
    Err(BundleError::declined(&tool.program, reason))
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
