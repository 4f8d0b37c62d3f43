//! A new base for a bundle at fixed addresses.
//!
//! The section `.headstart.moving` tells which words hold addresses of the bundle. Besides those,
//! headers, the dynamic table, symbols and relocations have addresses.

use crate::error::BundleError;
use crate::make::{self, BundleOptions, RUN};
use crate::plan::bases;
use crate::plan::layout::page_start;
use crate::read_ahead::PagesAhead;
use crate::toolchain;
use crate::warm;
use crate::write::manifest::{self, PENDING};
use crate::write::ownership::Owned;
use crate::write::patch::{Patch, Patched};
use crate::write::product;
use crate::write::publish;
use crate::write::spare;
use crate::write::workplace::Workplace;
use image::elf::Loadable;
use model::BundleVa;
use model::bundle::BundleManifest;
use std::path::Path;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rerandomized {
    /// Lowest address before.
    pub from: BundleVa,
    /// Lowest address now.
    pub to: BundleVa,
    /// Addresses that were changed, those of headers and tables aside; none where the bundle was
    /// made again.
    pub words: Option<usize>,
}

/// Gives the bundle in `folder` a new base, chosen by chance. It is there all the time, with the
/// old base or the new one.
///
/// # Errors
/// There is no bundle at fixed addresses, or a file cannot be read or written.
pub fn rerandomize(folder: &Path) -> Result<Rerandomized, BundleError> {
    rerandomized(folder).map_err(|error| match error {
        BundleError::Write { path, source } => BundleError::NotMoved { path, source },
        error => error,
    })
}

fn rerandomized(folder: &Path) -> Result<Rerandomized, BundleError> {
    let folder = &manifest::own_folder(folder);
    let workplace = Workplace::enter(folder);
    // That there is no bundle at all comes before what else is wrong with the folder.
    let owned = Owned::of(folder, None);
    let owned = owned.map_err(|error| manifest::read(folder).err().unwrap_or(error))?;
    let manifest = owned.manifest.clone().map_or_else(|| manifest::read(folder), Ok)?;
    if !manifest.fixed {
        return Err(BundleError::NotFixed(folder.clone()));
    }
    let run = folder.join(RUN);
    let live = Loadable::open(&run)?;
    let from = low(&live);
    let program = Loadable::open(&manifest.path());
    if program.is_ok_and(|program| program.fixed) {
        // The program itself cannot move, and what is around it would be at other distances.
        let path = manifest.path();
        let read_ahead = manifest.read_ahead.as_ref().and_then(|said| PagesAhead::kept(&run, said));
        let populate = manifest.populate.clone();
        let options = BundleOptions { read_ahead, populate, ..manifest::options(&manifest) };
        make::make_at((&workplace, &owned), &path, folder, &options)?;
        let libraries = Loadable::open(&run)?;
        return Ok(Rerandomized { from, to: low(&libraries), words: None });
    }
    let (to, words) = moved(folder, &owned, &manifest)?;
    Ok(Rerandomized { from, to, words: Some(words) })
}

/// Gives the spare another base, and puts it in the place of `run`.
fn moved(
    folder: &Path,
    owned: &Owned,
    manifest: &BundleManifest,
) -> Result<(BundleVa, usize), BundleError> {
    let run = folder.join(RUN);
    let io = |error| BundleError::write(&folder.join(spare::SPARE), error);
    let live = manifest.product.as_ref().ok_or_else(|| BundleError::NotFixed(folder.to_owned()))?;
    publish::settle(owned, folder)?;
    let (draft, base) = spare::take(folder, &run, (manifest, live))?;
    let path = draft.path();
    let image = Loadable::open(&path)?;
    let from = low(&image);
    let to = bases::other(from, &image);
    let Patched { words, written } =
        Patch::new(&image, from, to).apply(draft.file()).map_err(io)?;
    let changed = || product::changed(&path, &base, &written).map_err(io);
    let product = publish::synced_meanwhile(draft.file(), &run, changed)??;
    let next =
        BundleManifest { product: Some(product), spare: Some(live.clone()), ..manifest.clone() };
    publish::write_manifest(&next, folder, PENDING)?;
    owned.still().inspect_err(|_| publish::withdraw_manifest(folder))?;
    let swapped = draft.replace_and_keep(&folder.join(spare::SPARE));
    swapped.map_err(|error| BundleError::write(&run, error.into()))?;
    let manifest = publish::finish(folder, next)?;
    toolchain::name_again(folder, &manifest);
    warm::after_writing(&run);
    Ok((to, words))
}

/// Lowest address of a bundle.
fn low(image: &Loadable) -> BundleVa {
    let loaded = image.segments().iter().filter(|segment| segment.loads());
    BundleVa(loaded.map(|segment| segment.address.0).min().map_or(0, page_start))
}
