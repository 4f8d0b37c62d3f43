//! Relative relocations packed in place: 24 bytes each become a bit.
//!
//! glibc reads the packed table (DT_RELR) since version 2.36; an image that has one must ask for
//! the version GLIBC_ABI_DT_RELR of libc.so.6, so that an older loader refuses it with a reason
//! instead of running it without its relocations.

use crate::{Built, Declined, NotBuilt, Optimisation, Program, copy, origin};
use files::Edited;
use image::elf::Loadable;
use image::elf::edit::Edit;
use image::elf::loadable::Relocation;
use image::elf::spec;
use std::path::Path;

/// What every image with DT_RELR has to ask for.
const VERSION: &[u8] = b"GLIBC_ABI_DT_RELR";
const LIBRARY: &str = "libc.so.6";

/// The program's relative relocations packed.
pub struct Relr;

impl Optimisation for Relr {
    fn name(&self) -> &'static str {
        "relr"
    }

    fn keeps_aslr(&self) -> bool {
        true
    }

    fn build(&self, program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
        let image = copy::opened(program)?;
        let packed = pack_for(&image, program.file.parent())?;
        copy::write(program, folder, &packed.edited, Vec::new())
    }
}

/// A packed image, and what was done.
pub struct Packed<'a> {
    /// The new file.
    pub edited: Edited<'a>,
    /// Whether a PT_LOAD segment was added.
    pub new_segment: bool,
    /// Relocations packed.
    pub packed: u64,
    /// Relocations of DT_RELA before, and those left there.
    pub relocations_before: u64,
    /// See `relocations_before`.
    pub relocations_after: u64,
    /// Bytes of the packed table.
    pub table_bytes: u64,
}

/// Packs the relative relocations of an image.
///
/// # Errors
/// The image is of a kind that cannot have packed relocations, has them already, or has nothing
/// to pack.
pub fn pack(image: &Loadable) -> Result<Packed<'_>, Declined> {
    pack_for(image, None)
}

/// The same for a file in another folder. `origin`: what $ORIGIN stands for where it is now.
///
/// # Errors
/// As [`pack`].
pub fn pack_for<'a>(image: &'a Loadable, origin: Option<&Path>) -> Result<Packed<'a>, Declined> {
    applies(image)?;
    let mut edit = Edit::of(image).map_err(|error| Declined(error.to_string()))?;
    origin::settle_for(&mut edit, image, origin)?;
    let (packed, kept) = split(image)?;
    for relocation in &packed {
        edit.write_word(relocation.0, relocation.1).map_err(|error| Declined(error.to_string()))?;
    }
    let addresses: Vec<u64> = packed.iter().map(|relocation| relocation.0).collect();
    let table_bytes = image::elf::edit::relr::encode(&addresses).len() as u64 * 8;
    let counts = (addresses.len() as u64, kept.len() as u64);
    let mut change = || {
        edit.replace_relocations(&kept)?;
        edit.add_version_need(LIBRARY.as_bytes(), VERSION)?;
        edit.set_packed(&addresses);
        Ok(())
    };
    let changed: Result<(), image::elf::edit::EditError> = change();
    let finished = changed.and_then(|()| edit.finish());
    let finished = finished.map_err(|error| Declined(error.to_string()))?;
    Ok(Packed {
        edited: finished.edited,
        new_segment: finished.new_segment,
        packed: counts.0,
        relocations_before: counts.0 + counts.1,
        relocations_after: counts.1,
        table_bytes,
    })
}

/// Whether no loader relocates it: a static position-independent program.
pub(crate) fn relocates_itself(image: &Loadable) -> bool {
    image.program && image.interpreter.is_none() && image.segment(spec::PT_DYNAMIC).is_some()
}

fn applies(image: &Loadable) -> Result<(), Declined> {
    let declined = |reason: &str| Err(Declined(reason.to_owned()));
    if image.machine != "x86_64" {
        let machine = &image.machine;
        return Err(Declined(format!("it is for {machine}; only x86_64 images are supported")));
    }
    if image.segment(spec::PT_DYNAMIC).is_none() {
        return declined("it is static: no loader reads its relocations");
    }
    if image.dynamic_value(spec::DT_RELR).is_some() {
        return declined("its relative relocations are already packed (DT_RELR)");
    }
    if relocates_itself(image) {
        return declined(
            "it is a static program that relocates itself; link it with -z pack-relative-relocs",
        );
    }
    let musl = |name: &String| name.contains("musl");
    if image.interpreter.as_ref().is_some_and(musl) || image.needed.iter().any(musl) {
        return declined(
            "it is for musl, whose loader cannot be required to support packed relocations; link \
             it with -z pack-relative-relocs instead",
        );
    }
    if !image.needed.iter().any(|needed| needed == LIBRARY) {
        return declined(
            "it does not need libc.so.6, through which it could require a loader that reads \
             packed relocations; link it with libc.so.6",
        );
    }
    Ok(())
}

/// Addresses and words of what can be packed, ascending, and the relocations of DT_RELA that are
/// left, relative ones first.
#[allow(clippy::type_complexity)] // named by the line above
fn split(image: &Loadable) -> Result<(Vec<(u64, u64)>, Vec<Relocation>), Declined> {
    let writable: Vec<_> = image
        .segments()
        .iter()
        .filter(|segment| segment.loads() && segment.flags & spec::PF_W != 0)
        .collect();
    let fits = |relocation: &Relocation| {
        let address = relocation.offset;
        relocation.kind == spec::R_X86_64_RELATIVE
            && address.is_multiple_of(8)
            && writable.iter().any(|segment| {
                let within = address.checked_sub(segment.address);
                let end = within.and_then(|within| within.checked_add(8));
                end.is_some_and(|end| end <= segment.file_size)
            })
    };
    let (mut packed, mut kept, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for relocation in image.relocations() {
        if relocation.lazy {
            others.push(relocation.offset);
        } else if fits(&relocation) {
            packed.push((relocation.offset, relocation.addend as u64));
        } else {
            others.push(relocation.offset);
            kept.push(relocation);
        }
    }
    if packed.is_empty() {
        return Err(Declined("it has no relative relocations that could be packed".to_owned()));
    }
    if !packed.is_sorted() {
        packed.sort_unstable();
    }
    let twice = packed.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0);
    let found = |address: &&u64| packed.binary_search_by_key(*address, |word| word.0).is_ok();
    if let Some(address) = twice.or_else(|| others.iter().find(found).copied()) {
        return Err(Declined(format!(
            "two relocations write to address {address:#x}, in an order that packing would change"
        )));
    }
    kept.sort_by_key(|relocation| relocation.kind != spec::R_X86_64_RELATIVE);
    Ok((packed, kept))
}
