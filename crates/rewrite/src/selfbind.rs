//! An image's references to its own symbols, without a look-up.
//!
//! A library cannot know whether a program binds a reference to the library's own symbol: another
//! definition may come first. For a program and all its libraries it is known, as the loader is
//! simulated. So the program gets private copies of its libraries, in which what each binds to
//! itself is RELATIVE, and asks for them in the best order. libc and the loader stay outside.

// Programs need more of it than libraries.
#[cfg_attr(not(target_os = "linux"), allow(dead_code))]
mod convert;
#[cfg(target_os = "linux")]
mod folder;
mod library;
#[cfg(target_os = "linux")]
mod program;
#[cfg(target_os = "linux")]
mod same_words;
#[cfg(target_os = "linux")]
mod without_copy;

pub use convert::ConvertedRelocations;
#[cfg(target_os = "linux")]
pub use folder::{MANIFEST, SCHEMA};
#[cfg(target_os = "linux")]
pub use program::{LibraryChoice, PrivateCopies, program};
#[cfg(target_os = "linux")]
pub use without_copy::OutsideReason;

use crate::{Declined, Rewritten, origin, relr};
use image::elf::Loadable;
use image::elf::edit::Edit;
use std::path::Path;

/// Makes those references of a library RELATIVE that no program can bind elsewhere. `origin`: what
/// $ORIGIN stands for where the file is now, if the result goes to another folder.
///
/// # Errors
/// It cannot be rewritten, or has no such reference.
pub fn library<'a>(
    image: &'a Loadable,
    origin: Option<&Path>,
) -> Result<Rewritten<'a, ConvertedRelocations>, Declined> {
    Declined::other_machine(image)?;
    if relr::relocates_itself(image) {
        let reason = "it is a static program that relocates itself: no loader binds its symbols";
        return Err(Declined(reason.to_owned()));
    }
    let mut edit = Edit::of(image)?;
    origin::settle_for(&mut edit, image, origin)?;
    let counts =
        convert::own_symbols(&mut edit, image, |one| library::reference_target(image, one))?;
    if counts.symbolic == 0 {
        return Err(Declined("it has no references to symbols that a loader binds".to_owned()));
    }
    if counts.relative == 0 {
        return Err(Declined(format!(
            "each of its {} references to symbols could be bound to another library's definition, \
             or waits for its first call; give a program that uses it instead",
            counts.symbolic
        )));
    }
    Ok(Rewritten { edited: edit.finish()?.edited, counts, notes: Vec::new() })
}
