//! What the references of merged plug-ins are bound to.

use super::choose::{Chosen, Root};
use crate::choose::members;
use loader::{Relocated, bindings_in};
use model::{ModuleId, SymbolRef};
use rustc_hash::{FxHashMap, FxHashSet};

impl Chosen {
    /// What every reference is bound to; or the plug-in for which one that others need is bound to nothing, or is
    /// bound only there.
    pub(super) fn bind(&mut self) -> Result<(), ModuleId> {
        let mut relocated: Vec<Option<Relocated>> =
            self.graph().modules.iter().map(|_| None).collect();
        let mut left = FxHashSet::default();
        for root in &self.roots {
            for (module, found) in self.bound(root) {
                match &mut relocated[module.index()] {
                    Some(known) => {
                        let both = known.bindings.iter().zip(&found.bindings);
                        for (one, _) in both.filter(|(one, other)| one != other) {
                            left.insert(one.from);
                        }
                        let mut both = known.bindings.iter().zip(&found.bindings);
                        if both.any(|(one, other)| one.to.is_none() != other.to.is_none()) {
                            return Err(root.id);
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
