//! What is merged into one file.

use super::choose::{Chosen, Group};
use super::kinds::{self, Kind};
use super::{stays_loaded, thread_local};
use image::elf::Loadable;
use image::elf::loadable::SymbolBinding;
use model::{ModuleId, SymbolIndex};
use std::collections::{BTreeMap, BTreeSet};

impl Chosen {
    /// Groups of which no two need each other. Plug-ins for which there are none are refused.
    pub(super) fn without_cycles(&mut self) -> Vec<Group> {
        loop {
            let groups = self.grouped(false);
            if kinds::cycle(&groups).is_none() {
                return groups;
            }
            let groups = self.grouped(true);
            let reason = "libraries that need each other would be in different files";
            let divided = self.in_own_order().next().map(|root| root.id);
            if let (Some(root), Some(_)) = (divided, kinds::cycle(&groups)) {
                self.refuse(root, reason);
                continue;
            }
            let Some(first) =
                kinds::cycle(&groups).and_then(|group| group.members.first().copied())
            else {
                return groups;
            };
            self.refuse_module(first, reason);
        }
    }

    /// `layered`: groups that would need each other are divided.
    fn grouped(&self, layered: bool) -> Vec<Group> {
        let pinned = self.pinned();
        // Plug-ins are apart from what they need: what is not merged may need that, too.
        let mut groups: BTreeMap<Kind, Vec<ModuleId>> = BTreeMap::new();
        let beside_threads = thread_local::beside_threads(self.graph(), self.of_program);
        let graph = self.graph();
        let mut kinds: BTreeMap<ModuleId, Kind> = BTreeMap::new();
        for (id, _) in graph.numbered().filter(|(id, _)| self.is_merged(*id)) {
            let users = self.roots.iter().filter(|root| root.closure.contains(&id));
            let users: Vec<ModuleId> = users.map(|root| root.id).collect();
            if !users.is_empty() {
                let root = self.roots.iter().any(|root| root.id == id).then_some(id);
                let apart = [pinned.contains(&id), root.is_none() && beside_threads.contains(&id)];
                kinds.insert(id, Kind { users, root, apart, layer: 0, runs: Vec::new() });
            }
        }
        if layered {
            kinds::layers(graph, &mut kinds);
        }
        for root in self.in_own_order() {
            kinds::divide(&root.closure, &mut kinds);
        }
        for (id, kind) in kinds {
            groups.entry(kind).or_default().push(id);
        }
        let mut groups: Vec<Group> = groups
            .into_iter()
            .map(|(Kind { users, .. }, members)| Group {
                members: self.in_order(&users, members),
                needs: Vec::new(),
            })
            .collect();
        let of_module: BTreeMap<ModuleId, usize> = groups
            .iter()
            .enumerate()
            .flat_map(|(at, group)| group.members.iter().map(move |&id| (id, at)))
            .collect();
        for (at, group) in groups.iter_mut().enumerate() {
            let mut needs = vec![at];
            let all = group.members.iter().flat_map(|&member| graph.closure(member));
            for other in all.filter_map(|module| of_module.get(&module).copied()) {
                if !needs.contains(&other) {
                    needs.push(other);
                }
            }
            group.needs = needs;
        }
        groups
    }

    /// As symbols are looked up by the handle of a plug-in.
    fn in_order(&self, users: &[ModuleId], mut members: Vec<ModuleId>) -> Vec<ModuleId> {
        let closure = self.roots.iter().find(|root| users.first() == Some(&root.id));
        let closure = closure.map_or(&[][..], |root| &root.closure);
        members.sort_by_key(|member| closure.iter().position(|it| it == member));
        members
    }

    /// Modules that may stay loaded when nobody has them open any more, and what those need: files that are unloaded
    /// are not to hold them.
    fn pinned(&self) -> BTreeSet<ModuleId> {
        let graph = self.graph();
        let stays = |image: &Loadable| {
            let unique = |(_, symbol): (SymbolIndex, image::elf::loadable::Symbol<'_>)| {
                symbol.defined && symbol.binding == SymbolBinding::Unique
            };
            stays_loaded(image) || image.symbols().any(unique)
        };
        let own = graph.numbered().skip(self.of_program);
        own.filter(|(_, module)| stays(&module.image))
            .flat_map(|(id, _)| graph.closure(id))
            .collect()
    }
}
