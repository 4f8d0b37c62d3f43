//! What the references of merged plug-ins are bound to.

use super::choose::{Chosen, Root};
use crate::choose::members;
use image::elf::loadable::SymbolBinding;
use loader::{Relocated, bindings_in};
use model::{ModuleId, SymbolRef};
use rustc_hash::{FxHashMap, FxHashSet};

impl Chosen {
    /// What every reference is bound to; or the plug-in that stays as it is, and why.
    pub(super) fn bind(&mut self) -> Result<(), (ModuleId, String)> {
        let mut relocated: Vec<Option<Relocated>> =
            self.graph().modules.iter().map(|_| None).collect();
        let mut left = FxHashSet::default();
        for root in &self.roots {
            let bound = self.bound(root);
            if let Some(reason) = self.divided(&bound) {
                return Err((root.id, reason));
            }
            for (module, found) in bound {
                match &mut relocated[module.index()] {
                    Some(known) => {
                        let both = known.bindings.iter().zip(&found.bindings);
                        for (one, _) in both.filter(|(one, other)| one != other) {
                            left.insert(one.from);
                        }
                        let mut both = known.bindings.iter().zip(&found.bindings);
                        if both.any(|(one, other)| one.to.is_none() != other.to.is_none()) {
                            let reason = "a reference of a library that it needs is defined only if another plug-in is opened first";
                            return Err((root.id, reason.to_owned()));
                        }
                    }
                    slot => *slot = Some(found),
                }
            }
        }
        self.relocated = relocated.into_iter().map(Option::unwrap_or_default).collect();
        self.left = left;
        Ok(())
    }

    /// Libraries that would be bound to different definitions of a symbol that exists once in a process: -Bsymbolic,
    /// versions. Which of these all of them get depends on the order of relocation, which is another one in merged
    /// files.
    fn divided(&self, bound: &[(ModuleId, Relocated)]) -> Option<String> {
        let mut known: FxHashMap<&[u8], SymbolRef> = FxHashMap::default();
        let definitions = bound.iter().flat_map(|(_, relocated)| &relocated.bindings);
        let definitions = definitions.filter_map(|binding| {
            let to = binding.to?;
            let symbol = self.graph()[to.module].image.symbol(to.symbol)?;
            (symbol.binding == SymbolBinding::Unique).then_some((symbol.name, to))
        });
        for (name, definition) in definitions {
            let first = *known.entry(name).or_insert(definition);
            if first != definition {
                let name = String::from_utf8_lossy(name);
                let [one, other] =
                    [first, definition].map(|at| self.graph()[at.module].path.display());
                return Some(format!(
                    "{name}, which exists once in a process (STB_GNU_UNIQUE), is that of {one} or that of {other}, \
                     depending on which is relocated first"
                ));
            }
        }
        None
    }

    /// Names for what modules of other groups are bound to. Without them another module, of a group that is searched
    /// before, could be in the way: modules of different groups alternate in the order of a plug-in.
    pub(super) fn named(&self) -> FxHashMap<SymbolRef, Vec<u8>> {
        let graph = self.graph();
        let groups: FxHashMap<ModuleId, usize> = self
            .groups
            .iter()
            .enumerate()
            .flat_map(|(at, group)| group.members.iter().map(move |&id| (id, at)))
            .collect();
        let bindings = self.relocated.iter().flat_map(|relocated| &relocated.bindings);
        let crossing = bindings.filter_map(|binding| {
            let to = binding.to?;
            let (from, group) = (groups.get(&binding.from.module)?, groups.get(&to.module)?);
            (from != group).then_some(to)
        });
        let name = |to: SymbolRef| {
            let module = &graph[to.module];
            let symbol = module.image.symbol(to.symbol)?;
            let file = members::file_name(&module.path);
            let own = format!("__headstart_{file}_{}_", to.symbol.0);
            Some((to, [own.as_bytes(), symbol.name].concat()))
        };
        crossing.filter_map(name).collect()
    }

    /// What the references of all that is merged are bound to where this plug-in is opened first.
    pub(crate) fn bound(&self, root: &Root) -> Vec<(ModuleId, Relocated)> {
        let program = (0..self.of_program).map(ModuleId::at);
        let opened = root.closure.iter().copied().filter(|id| !self.is_of_program(*id));
        let scope: Vec<ModuleId> = program.chain(opened).collect();
        let merged: Vec<ModuleId> =
            scope.iter().copied().filter(|id| self.is_merged(*id)).collect();
        let found = bindings_in(self.graph(), &merged, &scope, true);
        merged.into_iter().zip(found).collect()
    }
}
