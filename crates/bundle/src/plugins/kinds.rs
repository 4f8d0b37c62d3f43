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

/// A group that needs one which needs it.
pub(super) fn cycle(groups: &[Group]) -> Option<&Group> {
    let needs = |from: usize, to: usize| groups.get(from).is_some_and(|it| it.needs.contains(&to));
    let mut all = groups.iter().enumerate();
    let is_in_cycle = |(at, group): &(usize, &Group)| {
        group.needs.iter().any(|&other| other != *at && needs(other, *at))
    };
    all.find(is_in_cycle).map(|(_, group)| group)
}
