//! What modules of one group have in common, so that no two groups need each other: of files that do, the loader does
//! not know which to initialize first.

use super::choose::Group;
use loader::Graph;
use model::ModuleId;
use std::collections::BTreeMap;

/// What modules of one group have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    /// The plug-ins that need them.
    pub(super) users: Vec<ModuleId>,
    /// The module, where it is a plug-in itself.
    pub(super) root: Option<ModuleId>,
    /// They may stay loaded for ever; and they have thread-local storage for which there is little room.
    pub(super) apart: [bool; 2],
    /// As [`layers`] says.
    pub(super) layer: usize,
    /// As [`divide`] says, for one plug-in after the other.
    pub(super) runs: Vec<usize>,
}

/// How often libraries with little room for their storage and others alternate on the way to a module, at most. What
/// a library needs has the same layer or a higher one, and where the kinds differ, it has a higher one. All else that
/// makes kinds differ grows on that way by itself: who uses a module, and whether it may stay loaded.
pub(super) fn layers(graph: &Graph, kinds: &mut BTreeMap<ModuleId, Kind>) {
    // Libraries that need each other would have no end.
    for _ in 0..kinds.len() {
        let mut higher: BTreeMap<ModuleId, usize> = BTreeMap::new();
        for (id, kind) in kinds.iter().filter(|(_, kind)| kind.root.is_none()) {
            for needed in &graph[*id].dependencies {
                let Some(other) = kinds.get(needed) else { continue };
                let is_same = other.root.is_none() && other.users == kind.users;
                let layer = kind.layer + usize::from(other.apart[1] != kind.apart[1]);
                if is_same && other.apart[0] == kind.apart[0] && layer > other.layer {
                    let highest = higher.entry(*needed).or_default();
                    *highest = layer.max(*highest);
                }
            }
        }
        if higher.is_empty() {
            return;
        }
        for (id, layer) in higher {
            if let Some(kind) = kinds.get_mut(&id) {
                kind.layer = layer;
            }
        }
    }
}

/// Modules of one kind are of different kinds if in this order modules of another kind are between them.
pub(super) fn divide(order: &[ModuleId], kinds: &mut BTreeMap<ModuleId, Kind>) {
    let merged: Vec<ModuleId> = order.iter().copied().filter(|id| kinds.contains_key(id)).collect();
    let mut run = 0;
    let mut runs: BTreeMap<ModuleId, usize> = BTreeMap::new();
    for (at, id) in merged.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| merged.get(before));
        run += usize::from(before.is_some_and(|before| kinds.get(before) != kinds.get(id)));
        runs.insert(*id, run);
    }
    for (id, kind) in kinds {
        kind.runs.push(runs.get(id).copied().unwrap_or_default());
    }
}

/// A group that needs one which needs it.
pub(super) fn cycle(groups: &[Group]) -> Option<&Group> {
    let needs = |from: usize, to: usize| groups.get(from).is_some_and(|it| it.needs.contains(&to));
    let mut all = groups.iter().enumerate();
    let is_in_cycle = |(at, group): &(usize, &Group)| {
        group.needs.iter().any(|&other| other != *at && needs(other, *at))
    };
    all.find(is_in_cycle).map(|(_, group)| group)
}
