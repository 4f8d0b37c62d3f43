//! The manifest beside a bundle: every file that it was made of.

use crate::content::Content;
use crate::error::BundleError;
use crate::layout::Layout;
use crate::make::Options;
use crate::members::{self, Place};
use loader::Graph;
use model::bundle::{BUNDLE_SCHEMA, BundleManifest, BundledModule};
use std::path::{Path, PathBuf};

/// Name of the manifest in a bundle's folder.
pub const MANIFEST: &str = "headstart.json";

/// Everything about the files; their contents in the order of the modules.
pub(crate) fn of(
    program: &Path,
    graph: &Graph,
    places: &[Place],
    contents: Vec<Content>,
    layout: &Layout<'_>,
    options: &Options,
) -> BundleManifest {
    let modules = graph.modules.iter().zip(places).zip(contents).enumerate();
    let modules = modules.map(|(index, ((module, place), content))| {
        let outside = match place {
            Place::Merged => None,
            Place::Outside(reason) => Some(reason.clone()),
        };
        let offset = layout.member(index).map(|member| {
            let first = member.parts.first().map_or(0, |part| crate::layout::page(part.address));
            member.moved(first).wrapping_sub(layout.low)
        });
        BundledModule {
            path: module.path.display().to_string(),
            name: (index > 0).then(|| members::name_of(module)),
            build_id: module.image.build_id.clone(),
            bytes: content.bytes,
            sha256: content.sha256,
            offset,
            outside,
        }
    });
    BundleManifest {
        schema: BUNDLE_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        program: program.display().to_string(),
        fixed: options.fixed,
        outside: options.outside.clone(),
        modules: modules.collect(),
    }
}

/// Where `headstart optimize` leaves a variant in its folder.
const OPTIMIZED: &str = "files";

/// The bundle's own folder: `folder`, or the one in it if headstart optimize has made it.
pub(crate) fn own_folder(folder: &Path) -> PathBuf {
    let within = folder.join(OPTIMIZED);
    if within.join(MANIFEST).is_file() { within } else { folder.to_owned() }
}

/// The manifest in a bundle's folder.
///
/// # Errors
/// There is none, or it is not one.
pub fn read(folder: &Path) -> Result<BundleManifest, BundleError> {
    let path = folder.join(MANIFEST);
    let text = std::fs::read_to_string(&path).map_err(|source| BundleError::NotABundle {
        folder: folder.to_owned(),
        found: format!("{}: {source}", path.display()),
    })?;
    serde_json::from_str(&text).map_err(|error| BundleError::NotABundle {
        folder: folder.to_owned(),
        found: format!("{}: {error}", path.display()),
    })
}
