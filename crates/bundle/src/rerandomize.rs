//! A new base for a bundle at fixed addresses.
//!
//! The section `.headstart.moving` tells which words hold addresses of the bundle. Besides those,
//! headers, the dynamic table, symbols and relocations have addresses.
//!
//! A spare of the bundle is kept beside it: it gets the new base and takes the bundle's place by
//! a rename, and what was the bundle is the next spare. So only pages with addresses are written.

use crate::error::BundleError;
use crate::make::{self, Options, RUN};
use crate::manifest;
use crate::patch::Patch;
use crate::workplace::Workplace;
use image::Loadable;
use os::copy::copy_range;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::Path;

/// The file that gets the next base.
const SPARE: &str = ".spare";
/// A spare while it is written to.
const PARTIAL: &str = ".spare-partial";
/// The bundle while another takes its place.
const FORMER: &str = ".spare-former";

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
    if !manifest.fixed {
        return Err(BundleError::NotFixed(folder.clone()));
    }
    let workplace = Workplace::enter(folder);
    let run = folder.join(RUN);
    let live = Loadable::open(&run)?;
    let from = low(&live);
    let program = Loadable::open(Path::new(&manifest.program));
    if program.is_ok_and(|program| program.fixed) {
        // The program itself cannot move, and what is around it would be at other distances.
        let options = Options { fixed: true, outside: manifest.outside };
        make::make_at(&workplace, Path::new(&manifest.program), folder, &options)?;
        let libraries = Loadable::open(&run)?;
        return Ok(Rerandomized { from, to: low(&libraries), words: None });
    }
    let partial = folder.join(PARTIAL);
    let io = |error| BundleError::io(&partial, error);
    let file = spare(folder, &run, &live).map_err(io)?;
    let image = Loadable::open(&partial)?;
    let to = make::chosen_base(&image);
    let words = Patch::new(&image, low(&image), to).apply(&file).map_err(io)?;
    file.sync_all().map_err(io)?;
    drop(file);
    swap(folder, &run, &partial).map_err(|error| BundleError::io(&run, error))?;
    Ok(Rerandomized { from, to, words: Some(words) })
}

fn low(image: &Loadable) -> u64 {
    let loaded = image.segments().iter().filter(|segment| segment.loads());
    loaded.map(|segment| segment.address).min().map_or(0, crate::layout::page)
}

/// A copy of the bundle that nothing uses, open for writing and under its partial name.
fn spare(folder: &Path, run: &Path, live: &Loadable) -> io::Result<File> {
    let (spare, partial) = (folder.join(SPARE), folder.join(PARTIAL));
    let open = || OpenOptions::new().read(true).write(true).open(&partial);
    let usable = Loadable::open(&spare).is_ok_and(|image| {
        image.build_id == live.build_id && image.bytes().len() == live.bytes().len()
    });
    if usable {
        std::fs::rename(&spare, &partial)?;
        match open() {
            // A process still runs it, from when it was the bundle.
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
            opened => return opened,
        }
    }
    let copy = tempfile::Builder::new().prefix(".headstart-").tempfile_in(folder)?;
    let original = File::open(run)?;
    let data = original.metadata()?;
    copy_range(&original, 0, copy.as_file(), 0, data.len())?;
    copy.as_file().set_permissions(data.permissions())?;
    copy.persist(&partial).map_err(|error| error.error)?;
    open()
}

/// The partial spare becomes the bundle, and the bundle the spare.
fn swap(folder: &Path, run: &Path, partial: &Path) -> io::Result<()> {
    let (former, spare) = (folder.join(FORMER), folder.join(SPARE));
    match std::fs::remove_file(&former) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    std::fs::hard_link(run, &former)?;
    std::fs::rename(partial, run)?;
    std::fs::rename(&former, &spare)?;
    File::open(folder)?.sync_all()
}
