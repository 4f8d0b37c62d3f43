//! Relative relocations packed in place: 24 bytes each become a bit.
//!
//! glibc reads the packed table (DT_RELR) since version 2.36; an image that has one must ask for
//! the version GLIBC_ABI_DT_RELR of libc.so.6, so that an older loader refuses it with a reason
//! instead of running it without its relocations.

use crate::{Declined, Rewritten, origin};
use image::elf::Loadable;
use image::elf::edit::Edit;
use image::elf::loadable::Relocation;
use image::elf::spec;
use model::Va;
use std::path::Path;

/// What every image with DT_RELR has to ask for.
const VERSION: &[u8] = b"GLIBC_ABI_DT_RELR";
const LIBRARY: &str = "libc.so.6";

/// What was packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedRelocations {
    /// Relocations packed.
    pub packed: u64,
    /// Relocations of DT_RELA before.
    pub relocations_before: u64,
    /// Those that are left there.
    pub relocations_after: u64,
    /// Bytes of the packed table.
    pub table_bytes: u64,
    /// Whether the file has one segment more.
    pub new_segment: bool,
}

/// Packs the relative relocations of an image. `origin`: what $ORIGIN stands for where the file is
/// now, if the result goes to another folder.
///
/// # Errors
/// The image is of a kind that cannot have packed relocations, has them already, or has nothing
/// to pack.
pub fn pack<'a>(
    image: &'a Loadable,
    origin: Option<&Path>,
) -> Result<Rewritten<'a, PackedRelocations>, Declined> {
    applies(image)?;
    let mut edit = Edit::of(image)?;
    origin::settle_for(&mut edit, image, origin)?;
    let Split { packed, kept } = split(image)?;
    for word in &packed {
        edit.write_word(word.address, word.value)?;
    }
    let addresses: Vec<Va> = packed.iter().map(|word| word.address).collect();
    edit.replace_relocations(&kept)?;
    edit.add_version_need(LIBRARY.as_bytes(), VERSION)?;
    edit.set_packed(&addresses);
    let table_bytes = edit.value(spec::DT_RELRSZ).unwrap_or(0);
    let finished = edit.finish()?;
    let counts = PackedRelocations {
        packed: addresses.len() as u64,
        relocations_before: (addresses.len() + kept.len()) as u64,
        relocations_after: kept.len() as u64,
        table_bytes,
        new_segment: finished.new_segment,
    };
    Ok(Rewritten { edited: finished.edited, counts, notes: Vec::new() })
}

/// Whether no loader relocates it: a static position-independent program.
pub(crate) fn relocates_itself(image: &Loadable) -> bool {
    image.program && image.interpreter.is_none() && image.segment(spec::PT_DYNAMIC).is_some()
}

fn applies(image: &Loadable) -> Result<(), Declined> {
    let declined = |reason: &str| Err(Declined(reason.to_owned()));
    Declined::other_machine(image)?;
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

/// A word that a packed relocation adds the load address to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PackedWord {
    address: Va,
    value: u64,
}

/// The relocations of an image.
struct Split {
    /// Those that can be packed, by ascending address.
    packed: Vec<PackedWord>,
    /// Those of DT_RELA that are left, relative ones first.
    kept: Vec<Relocation>,
}

fn split(image: &Loadable) -> Result<Split, Declined> {
    let writable: Vec<_> = image
        .segments()
        .iter()
        .filter(|segment| segment.loads() && segment.flags & spec::PF_W != 0)
        .collect();
    let fits = |relocation: &Relocation| {
        let address = relocation.offset;
        relocation.kind == spec::R_X86_64_RELATIVE
            && address.0.is_multiple_of(8)
            && writable.iter().any(|segment| {
                let within = address.since(segment.address);
                let end = within.and_then(|within| within.checked_add(8));
                end.is_some_and(|end| end <= segment.file_size)
            })
    };
    let (mut packed, mut kept, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for relocation in image.relocations() {
        if relocation.lazy {
            others.push(relocation.offset);
        } else if fits(&relocation) {
            packed.push(PackedWord { address: relocation.offset, value: relocation.addend as u64 });
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
    let twice = packed.windows(2).find(|pair| pair[0].address == pair[1].address);
    let twice = twice.map(|pair| pair[0].address);
    let found = |address: &&Va| packed.binary_search_by_key(*address, |word| word.address).is_ok();
    if let Some(address) = twice.or_else(|| others.iter().find(found).copied()) {
        return Err(Declined(format!(
            "two relocations write to address {address:#x}, in an order that packing would change"
        )));
    }
    kept.sort_by_key(|relocation| relocation.kind != spec::R_X86_64_RELATIVE);
    Ok(Split { packed, kept })
}
