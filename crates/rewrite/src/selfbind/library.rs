//! A library by itself: what no program and no other library can change.

use super::convert::ReferenceTarget;
use image::elf::Loadable;
use image::elf::loadable::{Relocation, SymbolBinding, SymbolKind, Visibility};
use loader::lookup::{Purpose, SymbolQuery, find};
use model::simulation::RelocationWork;

/// What a reference is bound to, whatever program the library is loaded by: its own definition
/// where it asks itself first (DT_SYMBOLIC) or where the definition is protected. A protected
/// function's address may be that of a program's stub for it, so only calls count there.
pub fn reference_target(image: &Loadable, relocation: &Relocation) -> ReferenceTarget {
    let Some(index) = relocation.symbol else { return ReferenceTarget::Elsewhere };
    let Some(symbol) = image.symbol(index) else { return ReferenceTarget::Elsewhere };
    if !symbol.defined && !image.symbolic {
        return ReferenceTarget::Elsewhere;
    }
    if symbol.binding == SymbolBinding::Local || symbol.visibility == Visibility::Hidden {
        return ReferenceTarget::OwnSymbol(index);
    }
    let purpose = Purpose::of(relocation.class);
    if image.symbolic {
        let version = image.symbol_version(index);
        let version = version.and_then(|(index, _)| image.version(index));
        let version = version.filter(|version| version.hash != 0);
        let query = SymbolQuery::new(symbol.name, version, purpose);
        let found = find(image, &query, &mut RelocationWork::default());
        return found.map_or(ReferenceTarget::Elsewhere, ReferenceTarget::OwnSymbol);
    }
    let data = symbol.kind == SymbolKind::Object;
    let own = symbol.visibility == Visibility::Protected && (data || purpose == Purpose::Call);
    if own { ReferenceTarget::OwnSymbol(index) } else { ReferenceTarget::Elsewhere }
}
