//! What relocating a module leaves at each address, so that a converted image can be held
//! against its original.

use super::convert::ReferenceTarget;
use crate::same_launch::{self, LaunchChanged, SimulatedLaunch};
use image::elf::Loadable;
use image::elf::loadable::{Class, Relocation, SymbolKind};
use image::elf::spec;
use loader::lookup::Purpose;
use model::{ModuleId, SymbolIndex, SymbolRef, Va};
use std::collections::HashMap;

/// What is at an address after relocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// The load address and this.
    Own(u64),
    /// This, wherever the image is loaded.
    Constant(u64),
    /// What this kind of relocation makes of a symbol of a module and an addend.
    Symbol { kind: u32, definition: Option<SymbolRef>, addend: i64 },
}

/// What every reference of a module is bound to, by symbol and purpose.
pub struct Bindings(HashMap<(SymbolIndex, Purpose), Option<SymbolRef>>);

impl Bindings {
    /// Of a module, everything bound at start.
    pub fn of(launch: &SimulatedLaunch, module: ModuleId) -> Bindings {
        let bindings = launch.bound[module.index()].bindings.iter();
        Bindings(bindings.map(|bound| ((bound.from.symbol, bound.purpose), bound.to)).collect())
    }

    /// The definition; outer `None` where it is not looked up at all.
    fn get(&self, relocation: &Relocation) -> Option<Option<SymbolRef>> {
        self.0.get(&(relocation.symbol?, Purpose::of(relocation.class))).copied()
    }

    /// The same in the words of a conversion of the module, whose image this is.
    pub fn bound(
        &self,
        image: &Loadable,
        module: ModuleId,
        relocation: &Relocation,
    ) -> ReferenceTarget {
        match self.get(relocation) {
            Some(Some(to)) if to.module == module => ReferenceTarget::OwnSymbol(to.symbol),
            Some(None) => ReferenceTarget::Nothing,
            Some(_) => ReferenceTarget::Elsewhere,
            None => {
                let defined = |&index: &_| image.symbol(index).is_some_and(|one| one.defined);
                relocation
                    .symbol
                    .filter(defined)
                    .map_or(ReferenceTarget::Elsewhere, ReferenceTarget::OwnSymbol)
            }
        }
    }
}

/// A module of `after` ends up with the same words as its original in `before`.
///
/// # Errors
/// The first address at which something else would be.
pub fn same(
    before: &SimulatedLaunch,
    after: &SimulatedLaunch,
    module: ModuleId,
    pairs: &[ModuleId],
) -> Result<(), LaunchChanged> {
    let original = pairs[module.index()];
    let (old, new) = (&before.graph[original].image, &after.graph[module].image);
    let own: Vec<ModuleId> = before.graph.numbered().map(|(id, _)| id).collect();
    let was = Relocating { image: old, launch: before, module: original, originals: &own };
    let is = Relocating { image: new, launch: after, module, originals: pairs };
    let (was, is) = (was.effects(), is.effects());
    let mut is = is.into_iter().peekable();
    for (offset, effect) in was {
        let found = is.next_if(|(at, _)| *at == offset).map(|(_, found)| found);
        let found = found.or_else(|| new.word(offset).map(Effect::Constant));
        if found != Some(effect) {
            return Err(differs(before, original, offset));
        }
    }
    match is.next() {
        Some((offset, _)) => Err(differs(before, original, offset)),
        None => Ok(()),
    }
}

fn differs(before: &SimulatedLaunch, module: ModuleId, offset: Va) -> LaunchChanged {
    let image = &before.graph[module].image;
    let symbol = image.relocations().find(|relocation| relocation.offset == offset);
    let symbol = symbol.and_then(|found| found.symbol);
    let name = symbol.map_or(String::new(), |symbol| same_launch::symbol_name(image, symbol));
    let path = before.graph[module].path.display();
    LaunchChanged(format!("address {offset:#x} of {path} ({name}) would get a different value"))
}

struct Relocating<'a> {
    image: &'a Loadable,
    launch: &'a SimulatedLaunch,
    module: ModuleId,
    /// By module: what it is called in the effects.
    originals: &'a [ModuleId],
}

impl Relocating<'_> {
    /// What relocation writes, by address; of several relocations to one address all, in order.
    fn effects(&self) -> Vec<(Va, Effect)> {
        let image = self.image;
        let bindings = Bindings::of(self.launch, self.module);
        let packed = image.packed_addresses();
        let packed = packed.map(|at| (at, Effect::Own(image.word(at).unwrap_or(0))));
        let others = image.relocations().filter(|relocation| relocation.class != Class::None);
        let others = others.map(|one| (one.offset, self.effect(&bindings, &one)));
        let mut effects: Vec<(Va, Effect)> = packed.chain(others).collect();
        effects.sort_by_key(|(offset, _)| *offset);
        effects
    }

    fn effect(&self, bindings: &Bindings, relocation: &Relocation) -> Effect {
        let addend = match relocation.kind {
            spec::R_X86_64_RELATIVE => return Effect::Own(relocation.addend as u64),
            spec::R_X86_64_64 => Some(relocation.addend),
            // The loader adds nothing to these.
            spec::R_X86_64_GLOB_DAT | spec::R_X86_64_JUMP_SLOT => Some(0),
            _ => None,
        };
        let bound = bindings.bound(self.image, self.module, relocation);
        match (bound, addend) {
            (ReferenceTarget::Nothing, Some(addend)) => return Effect::Constant(addend as u64),
            (ReferenceTarget::OwnSymbol(symbol), Some(addend)) => {
                if let Some(value) = own_address(self.image, symbol) {
                    return Effect::Own(value.wrapping_add(addend as u64));
                }
            }
            _ => {}
        }
        let definition = match bound {
            ReferenceTarget::OwnSymbol(symbol) => Some(SymbolRef { module: self.module, symbol }),
            _ => bindings.get(relocation).flatten(),
        };
        let numbered = |at: SymbolRef| SymbolRef {
            module: self.originals[at.module.index()],
            symbol: at.symbol,
        };
        let (kind, addend) = (relocation.kind, relocation.addend);
        Effect::Symbol { kind, definition: definition.map(numbered), addend }
    }
}

/// The value of a symbol that moves with its image and is what it seems.
fn own_address(image: &Loadable, symbol: SymbolIndex) -> Option<u64> {
    let symbol = image.symbol(symbol)?;
    let plain = !matches!(symbol.kind, SymbolKind::IndirectFunction | SymbolKind::Tls);
    (plain && symbol.defined && !symbol.absolute).then_some(symbol.value.0)
}
