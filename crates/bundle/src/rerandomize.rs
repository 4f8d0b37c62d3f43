//! A new base for a bundle at fixed addresses.
//!
//! The section `.headstart.moving` tells which words hold addresses of the bundle. Besides those,
//! headers, the dynamic table, symbols and relocations have addresses.

use crate::error::BundleError;
use crate::make::{self, Options, RUN};
use crate::manifest;
use crate::patch::Patch;
use crate::spare;
use crate::workplace::Workplace;
use image::elf::Loadable;
use std::path::Path;

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rerandomized {
    /// Lowest address before.
    pub from: u64,
    /// Lowest address now.
    pub to: u64,
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
    let folder = &manifest::own_folder(folder);
    let manifest = manifest::read(folder)?;
    let workplace = Workplace::enter(folder);
    let run = folder.join(RUN);
    let live = Loadable::open(&run)?;
    // The manifest can be of another bundle that did not become whole.
    if !manifest.fixed || !live.fixed {
        return Err(BundleError::NotFixed(folder.clone()));
    }
    let from = low(&live);
    let program = Loadable::open(Path::new(&manifest.program));
    if program.is_ok_and(|program| program.fixed) {
        // The program itself cannot move, and what is around it would be at other distances.
        let options = Options { fixed: true, outside: manifest.outside };
        make::make_at(&workplace, Path::new(&manifest.program), folder, &options)?;
        let libraries = Loadable::open(&run)?;
        return Ok(Rerandomized { from, to: low(&libraries), words: None });
    }
    let partial = folder.join(spare::PARTIAL);
    let io = |error| BundleError::io(&partial, error);
    let file = spare::take(folder, &run, &live).map_err(io)?;
    let image = Loadable::open(&partial)?;
    let to = make::chosen_base(&image);
    let words = Patch::new(&image, low(&image), to).apply(&file).map_err(io)?;
    file.sync_all().map_err(io)?;
    drop(file);
    spare::swap(folder, &run, &partial).map_err(|error| BundleError::io(&run, error))?;
    Ok(Rerandomized { from, to, words: Some(words) })
}

fn low(image: &Loadable) -> u64 {
    let loaded = image.segments().iter().filter(|segment| segment.loads());
    loaded.map(|segment| segment.address).min().map_or(0, crate::layout::page)
}
