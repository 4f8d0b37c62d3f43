//! A position-independent program put at a fixed address (ET_EXEC): what the loader would have
//! added to every pointer is in the file, and pages that held only such pointers stay clean.
//!
//! It costs address-space layout randomization of the program itself; libraries keep theirs.

use crate::{Declined, Rewritten, origin, relr};
use files::Privilege;
use image::elf::edit::Edit;
use image::elf::loadable::Relocation;
use image::elf::spec;
use image::elf::{Loadable, instrumented};
use model::Va;
use std::path::Path;

/// Bases are chosen between these: above what 32-bit pointers reach, below where kernels put
/// position-independent programs and their libraries.
const LOWEST: u64 = 0x10_0000_0000;
const HIGHEST: u64 = 0x5000_0000_0000;
const PAGE: u64 = 4096;

/// Relocations that stay as they are but for their place: they refer to symbols or to TLS.
const KEPT: [u32; 11] = [
    spec::R_X86_64_NONE,
    spec::R_X86_64_64,
    spec::R_X86_64_COPY,
    spec::R_X86_64_GLOB_DAT,
    spec::R_X86_64_JUMP_SLOT,
    spec::R_X86_64_DTPMOD64,
    spec::R_X86_64_DTPOFF64,
    spec::R_X86_64_TPOFF64,
    spec::R_X86_64_SIZE64,
    spec::R_X86_64_TLSDESC,
    spec::R_X86_64_IRELATIVE,
];

/// What was done to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppliedRelocations {
    /// Address of the program's first byte.
    pub base: u64,
    /// Relocations applied and dropped.
    pub applied: u64,
    /// Relocations left.
    pub left: u64,
}

/// A base for an image out of a random number, which should come from the kernel.
pub fn base(image: &Loadable, random: u64) -> u64 {
    let alignment = image.alignment();
    LOWEST.next_multiple_of(alignment) + random % ((HIGHEST - LOWEST) / alignment) * alignment
}

/// A random number that nobody can guess, as the system's own seed it.
pub fn random() -> u64 {
    rand::random()
}

/// Programs that may do more than their users keep their random addresses.
///
/// # Errors
/// It is such a program.
pub fn refuse_privileged(privilege: Option<Privilege>) -> Result<(), Declined> {
    privilege.map_or(Ok(()), |privilege| {
        let name = privilege.name();
        Err(Declined(format!("it is {name}: it needs the protection of random addresses")))
    })
}

/// Puts a program at a fixed address. `origin`: what $ORIGIN stands for where the file is now, if
/// the result goes to another folder.
///
/// # Errors
/// It is not a position-independent program with a loader, has relocations that cannot be applied
/// in the file, or the base is not one.
pub fn fix<'a>(
    image: &'a Loadable,
    base: u64,
    origin: Option<&Path>,
) -> Result<Rewritten<'a, AppliedRelocations>, Declined> {
    applies(image)?;
    let alignment = image.alignment();
    if !base.is_multiple_of(alignment) || base < PAGE {
        return Err(Declined(format!(
            "base {base:#x} is not a multiple of {alignment:#x}, the alignment of its segments"
        )));
    }
    // Go's linker lets addresses begin higher than 0.
    let loaded = image.segments().iter().filter(|segment| segment.loads());
    let first = loaded.map(|segment| segment.address.0).min().unwrap_or(0) / alignment * alignment;
    let lower = || Declined(format!("base {base:#x} is below its addresses, from {first:#x} on"));
    let distance = base.checked_sub(first).ok_or_else(lower)?;
    let mut edit = Edit::of(image)?;
    origin::settle_for(&mut edit, image, origin)?;
    let mut fixing = Fixing { image, distance, applied: 0, kept: Vec::new() };
    fixing.relative(&mut edit)?;
    fixing.packed(&mut edit)?;
    fixing.linkage(&mut edit)?;
    let notes = notes(&edit);
    if image.dynamic_value(spec::DT_RELASZ).is_some_and(|size| size > 0) {
        edit.replace_relocations(&fixing.kept)?;
    }
    edit.remove_packed()?;
    let flags = edit.value(spec::DT_FLAGS_1).unwrap_or(0);
    if flags & spec::DF_1_PIE != 0 {
        edit.set_value(spec::DT_FLAGS_1, flags & !spec::DF_1_PIE);
    }
    edit.fix_at(distance)?;
    let linkage = image.relocations().filter(|relocation| relocation.lazy).count();
    let left = (fixing.kept.len() + linkage) as u64;
    let counts = AppliedRelocations { base, applied: fixing.applied, left };
    Ok(Rewritten { edited: edit.finish()?.edited, counts, notes })
}

fn applies(image: &Loadable) -> Result<(), Declined> {
    let declined = |reason: &str| Err(Declined(reason.to_owned()));
    Declined::other_machine(image)?;
    if image.fixed {
        return declined("its addresses are already fixed (ET_EXEC)");
    }
    if image.interpreter.is_none() {
        return declined(if relr::relocates_itself(image) {
            "it is a static program that relocates itself; link it with -no-pie"
        } else {
            "it is a library: only programs can have fixed addresses"
        });
    }
    if !image.program && image.soname.is_some() {
        return declined("it is a library: only programs can have fixed addresses");
    }
    let flags = image.dynamic_value(spec::DT_FLAGS).unwrap_or(0);
    if image.dynamic_value(spec::DT_TEXTREL).is_some() || flags & spec::DF_TEXTREL != 0 {
        return declined("its code is relocated (DT_TEXTREL); compile it with -fPIE");
    }
    if let Some(sanitizer) = instrumented(image) {
        return Err(Declined(format!(
            "it is built with {sanitizer}, which keeps most addresses for itself; take a build \
             without it"
        )));
    }
    Ok(())
}

fn notes(edit: &Edit<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if edit.has_section(b".debug_info") || edit.has_section(b".zdebug_info") {
        notes.push("its debug information has the old addresses: debug the original".to_owned());
    } else if edit.has_section(b".gnu_debuglink") {
        notes.push("separate debug information has the old addresses".to_owned());
    }
    notes
}

/// A program whose relocations are being applied.
struct Fixing<'a> {
    image: &'a Loadable,
    /// What is added to every address.
    distance: u64,
    applied: u64,
    /// Of DT_RELA, at their new places.
    kept: Vec<Relocation>,
}

impl Fixing<'_> {
    /// Those of DT_RELA.
    fn relative(&mut self, edit: &mut Edit<'_>) -> Result<(), Declined> {
        for relocation in self.image.relocations().filter(|relocation| !relocation.lazy) {
            if relocation.kind == spec::R_X86_64_RELATIVE {
                let word = self.distance.wrapping_add(relocation.addend as u64);
                edit.write_word(relocation.offset, word).map_err(|_| {
                    Declined(format!(
                        "the relocation at address {:#x} changes bytes that are not in the file",
                        relocation.offset
                    ))
                })?;
                self.applied += 1;
            } else {
                self.kept.push(self.moved(&relocation)?);
            }
        }
        Ok(())
    }

    /// Those of DT_RELR.
    fn packed(&mut self, edit: &mut Edit<'_>) -> Result<(), Declined> {
        for address in self.image.packed_addresses() {
            let outside = || {
                Declined(format!(
                    "the packed relocation at address {address:#x} changes bytes that are not in \
                     the file"
                ))
            };
            let word = edit.word(address).ok_or_else(outside)?;
            edit.write_word(address, word.wrapping_add(self.distance)).map_err(|_| outside())?;
            self.applied += 1;
        }
        Ok(())
    }

    /// Those of DT_JMPREL stay where they are; slots that wait for their first call hold the
    /// address of a stub.
    fn linkage(&mut self, edit: &mut Edit<'_>) -> Result<(), Declined> {
        let table = self.image.dynamic_address(spec::DT_JMPREL).unwrap_or_default();
        let lazy = self.image.relocations().filter(|relocation| relocation.lazy);
        for (index, relocation) in (0_u64..).zip(lazy) {
            let new = self.moved(&relocation)?;
            let at = table.wrapping_add(24 * index);
            edit.write_word(at, new.offset.0)?;
            edit.write_word(at.wrapping_add(16), new.addend as u64)?;
            let stub = edit.word(relocation.offset).filter(|&stub| stub != 0);
            if let Some(stub) = stub.filter(|_| relocation.kind == spec::R_X86_64_JUMP_SLOT) {
                let stub = stub.wrapping_add(self.distance);
                edit.write_word(relocation.offset, stub)?;
            }
        }
        // The first word of the table of the linkage is the address of the dynamic table.
        let dynamic = self.image.segment(spec::PT_DYNAMIC).map(|segment| segment.address);
        if let Some(slots) = self.image.dynamic_address(spec::DT_PLTGOT)
            && edit.word(slots).map(Va) == dynamic
            && let Some(dynamic) = dynamic
        {
            edit.write_word(slots, dynamic.wrapping_add(self.distance).0)?;
        }
        Ok(())
    }

    fn moved(&self, relocation: &Relocation) -> Result<Relocation, Declined> {
        if !KEPT.contains(&relocation.kind) {
            return Err(Declined(format!(
                "it has a relocation of type {} at address {:#x}, which is not supported",
                relocation.kind, relocation.offset
            )));
        }
        // Without a symbol, a word refers to the program's own beginning.
        let own = relocation.kind == spec::R_X86_64_IRELATIVE
            || (relocation.kind == spec::R_X86_64_64 && relocation.symbol.is_none());
        let added = if own { self.distance } else { 0 };
        Ok(Relocation {
            offset: relocation.offset.wrapping_add(self.distance),
            addend: relocation.addend.wrapping_add(added as i64),
            ..*relocation
        })
    }
}
