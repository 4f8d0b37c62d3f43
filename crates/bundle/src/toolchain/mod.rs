//! The programs that a compiler starts for each file, as bundles in one folder for PATH.
//!
//! ```text
//! clang, gcc, rustc (which programs, by which names, who starts whom)
//!        ─► make (a bundle of each, in `bundles/`) ─► links (their names, which are switched at the end)
//! ```
//!
//! - `find`: programs along PATH that are no bundles, the names of a file, what a compiler answers.
//! - `tool`: a program before it is a bundle, and what its bundle is told.
//! - `links`: names in the toolchain's folder, and which of them headstart made.
//! - `prove`: that a compiler finds its own files as a bundle.
//! - `remove`: bundles that are no longer needed.
//! - `verify`: what has become of all of them.

mod clang;
mod find;
mod gcc;
mod links;
mod make;
mod prove;
mod remove;
mod rustc;
mod tool;
mod verify;

pub use make::{MadeToolchain, ToolchainRequest, make_toolchain};
pub use verify::{VerifiedToolchain, verify_toolchain};

use crate::error::BundleError;
use crate::write::manifest::{check_schema, read_json};
use model::bundle::BundleManifest;
use model::toolchain::{TOOLCHAIN_SCHEMA, ToolchainManifest};
use std::path::{Path, PathBuf};

/// Name of a toolchain's manifest in its folder.
pub const TOOLCHAIN: &str = "headstart-toolchain.json";
/// The folder with the bundles.
const BUNDLES: &str = "bundles";

/// Gives the file of a bundle that is a tool its second name, where it had it and is another one now.
pub(crate) fn name_again(bundle: &Path, manifest: &BundleManifest) {
    let entry = manifest.tool.as_ref().map(|tool| PathBuf::from(model::text::name(&tool.entry)));
    let is_ours = |entry: &PathBuf| {
        matches!(links::is_our_entry(bundle, entry, &manifest.path()), Ok(Some(true)))
    };
    if let Some(entry) = entry.filter(is_ours) {
        links::second_name(bundle, &entry);
    }
}

/// Whether there is a toolchain in the folder.
pub fn is_toolchain(folder: &Path) -> bool {
    folder.join(TOOLCHAIN).symlink_metadata().is_ok()
}

/// Whether the folder is that of a toolchain's bundles, or in it.
pub(crate) fn is_for_tools(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    folder.ancestors().take(2).any(|folder| {
        folder.file_name().is_some_and(|name| name == BUNDLES)
            && folder.parent().is_some_and(is_toolchain)
    })
}

/// The folders of a toolchain's bundles, with their names.
///
/// # Errors
/// There is no toolchain.
pub fn toolchain_bundles(folder: &Path) -> Result<Vec<PathBuf>, BundleError> {
    let manifest = read(folder)?;
    Ok(manifest.tools.iter().map(|tool| folder.join(model::text::name(&tool.folder))).collect())
}

/// The manifest of the toolchain in a folder.
///
/// # Errors
/// There is none, or it is not one.
fn read(folder: &Path) -> Result<ToolchainManifest, BundleError> {
    let path = folder.join(TOOLCHAIN);
    let wrong = |found: String| BundleError::NotABundle {
        folder: folder.to_owned(),
        found: format!("{}: {found}", path.display()),
    };
    let value = read_json(&path, &wrong)?;
    check_schema(&value, TOOLCHAIN_SCHEMA).map_err(&wrong)?;
    let manifest: ToolchainManifest = serde_json::from_value(value).map_err(|error| {
        wrong(format!("{error}; use the headstart that wrote it, or make it again in a new folder"))
    })?;
    let is_ours = |folder: &str| {
        let name = folder.strip_prefix(BUNDLES).and_then(|rest| rest.strip_prefix('/'));
        name.is_some_and(|name| !name.contains('/') && !name.starts_with('.') && !name.is_empty())
    };
    match manifest.tools.iter().find(|tool| !is_ours(&tool.folder)) {
        Some(tool) => {
            Err(wrong(format!("it names {:?}, which is no bundle's folder", tool.folder)))
        }
        None => Ok(manifest),
    }
}
