//! Relocations of an image to its own symbols, made RELATIVE (System V ABI, AMD64: B + A).

use image::elf::Loadable;
use image::elf::edit::{Edit, EditError};
use image::elf::loadable::{Class, Relocation, SymbolBinding, SymbolKind};
use image::elf::records::Rela;
use image::elf::spec;
use model::{SymbolIndex, Va};
use std::collections::HashSet;
use std::iter::Sum;

/// What a reference is bound to, as far as it is known for every launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceTarget {
    /// To this symbol of its own image.
    OwnSymbol(SymbolIndex),
    /// To nothing: it is weak, and its value is 0.
    Nothing,
    /// To another image, or it is not known.
    Elsewhere,
}

/// What was converted, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConvertedRelocations {
    /// Relocations that look a symbol up, before.
    pub symbolic: u64,
    /// Those that became RELATIVE.
    pub relative: u64,
    /// Those to nothing that were left out, their value being in the file.
    pub dropped: u64,
}

impl Sum for ConvertedRelocations {
    fn sum<I: Iterator<Item = ConvertedRelocations>>(all: I) -> ConvertedRelocations {
        all.fold(ConvertedRelocations::default(), |sum, one| ConvertedRelocations {
            symbolic: sum.symbolic + one.symbolic,
            relative: sum.relative + one.relative,
            dropped: sum.dropped + one.dropped,
        })
    }
}

/// Converts what `bound` says to be the image's own. Relocations of the procedure linkage are
/// converted where the loader binds them at start (`now`); those that wait are left alone.
///
/// # Errors
/// The tables cannot be rewritten.
pub fn own_symbols(
    edit: &mut Edit<'_>,
    image: &Loadable,
    bound: impl Fn(&Relocation) -> ReferenceTarget,
) -> Result<ConvertedRelocations, EditError> {
    let mut converted = ConvertedRelocations::default();
    let several = several_times(image);
    let (mut relative, mut others) = (Vec::new(), Vec::new());
    let mut linkage = 0;
    let mut linkage_changes = Vec::new();
    let mut words = Vec::new();
    for relocation in image.relocations() {
        let place = linkage;
        linkage += u64::from(relocation.lazy);
        let symbolic =
            !matches!(relocation.class, Class::None | Class::Relative | Class::Irelative);
        converted.symbolic += u64::from(symbolic);
        let waits = relocation.lazy && !image.bind_now;
        let apart = waits || several.contains(&relocation.offset);
        let outcome = if apart { ReferenceTarget::Elsewhere } else { bound(&relocation) };
        let new = match outcome {
            ReferenceTarget::OwnSymbol(symbol) => as_relative(image, &relocation, symbol),
            ReferenceTarget::Nothing if !relocation.lazy => {
                if let Some(word) = constant(edit, &relocation) {
                    converted.dropped += 1;
                    words.push(word);
                    continue;
                }
                None
            }
            _ => None,
        };
        converted.relative += u64::from(new.is_some());
        match (relocation.lazy, new) {
            (true, Some(new)) => linkage_changes.push((place, new)),
            (true, None) => {}
            (false, Some(new)) => relative.push(new),
            (false, None) if relocation.class == Class::Relative => relative.push(relocation),
            (false, None) => others.push(relocation),
        }
    }
    if relative.len() + others.len() > 0 && converted.relative + converted.dropped > 0 {
        relative.sort_by_key(|relocation| relocation.offset);
        relative.append(&mut others);
        edit.replace_relocations(&relative)?;
    }
    for (address, word) in words {
        edit.write_word(address, word)?;
    }
    write_linkage(edit, &linkage_changes)?;
    Ok(converted)
}

/// Addresses that more than one relocation writes to: the last one counts, so they stay in order.
fn several_times(image: &Loadable) -> HashSet<Va> {
    let mut offsets: Vec<Va> = image.relocations().map(|relocation| relocation.offset).collect();
    offsets.sort_unstable();
    let pairs = offsets.windows(2).filter(|pair| pair[0] == pair[1]);
    pairs.map(|pair| pair[0]).collect()
}

/// The relocation with the symbol's address in it, where that is all that the loader would write.
fn as_relative(
    image: &Loadable,
    relocation: &Relocation,
    symbol: SymbolIndex,
) -> Option<Relocation> {
    let symbol = image.symbol(symbol)?;
    let chosen = symbol.kind == SymbolKind::IndirectFunction;
    let once = symbol.binding == SymbolBinding::Unique;
    let moves = symbol.defined && !symbol.absolute && symbol.kind != SymbolKind::Tls;
    if chosen || once || !moves {
        return None;
    }
    let addend = match relocation.kind {
        spec::R_X86_64_64 => relocation.addend,
        // The loader adds nothing to these.
        spec::R_X86_64_GLOB_DAT | spec::R_X86_64_JUMP_SLOT => 0,
        _ => return None,
    };
    let addend = (symbol.value.0 as i64).wrapping_add(addend);
    let kind = spec::R_X86_64_RELATIVE;
    Some(Relocation { kind, class: Class::Relative, symbol: None, addend, ..*relocation })
}

/// The word that the loader would write for a reference to nothing, where the file has room.
fn constant(edit: &Edit<'_>, relocation: &Relocation) -> Option<(Va, u64)> {
    let word = match relocation.kind {
        spec::R_X86_64_64 => relocation.addend as u64,
        spec::R_X86_64_GLOB_DAT => 0,
        _ => return None,
    };
    edit.word(relocation.offset).map(|_| (relocation.offset, word))
}

/// Entries of the procedure linkage keep their places: code knows them by number.
fn write_linkage(edit: &mut Edit<'_>, changes: &[(u64, Relocation)]) -> Result<(), EditError> {
    let Some(table) = edit.address(spec::DT_JMPREL) else { return Ok(()) };
    for (place, new) in changes {
        let at = table.saturating_add(place * Rela::SIZE as u64);
        edit.write(at, &Rela::of_relocation(new).bytes())?;
    }
    Ok(())
}
