//! Addresses that nobody would put right: those of loaders' tables that no relocation names.

use super::problem::Problem;
use super::relocator::Relocator;
use image::pe::relocations::BaseRelocation;
use image::pe::{AddressField, Pe, spec};
use model::Rva;
use std::collections::BTreeMap;

/// Finds out whether every address in loaders' tables has a relocation.
pub(super) fn audit(pe: &Pe<'_>, relocator: &Relocator) -> Result<(), Problem> {
    let fields = pe.address_fields()?;
    if fields.is_empty() {
        return Ok(());
    }
    let mut missing: BTreeMap<Rva, AddressField> =
        fields.into_iter().map(|field| (field.rva, field)).collect();
    for block in relocator.blocks() {
        let block = block?;
        // Most pages hold none of them.
        let end = block.page.saturating_add(0x1000);
        if missing.range(block.page..end).next().is_none() {
            continue;
        }
        for found in block.relocations() {
            let BaseRelocation { rva, kind, .. } = found?;
            let bytes = match kind {
                spec::IMAGE_REL_BASED_DIR64 => 8,
                spec::IMAGE_REL_BASED_HIGHLOW => 4,
                _ => continue,
            };
            if missing.get(&rva).is_some_and(|field| field.bytes == bytes) {
                missing.remove(&rva);
            }
        }
    }
    match missing.into_values().next() {
        Some(AddressField { rva, table, field, .. }) => {
            Err(Problem::Uncovered { rva, table, field })
        }
        None => Ok(()),
    }
}
