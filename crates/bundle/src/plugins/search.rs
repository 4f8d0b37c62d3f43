//! In which order the groups of a plug-in are searched: modules of different groups may alternate in the plug-in's own
//! order.

use super::choose::{Chosen, Root};
use model::ModuleId;

/// The group of the first module has to be searched before that of the second one.
pub(crate) type Before = (ModuleId, ModuleId);

/// Of so many pairs the order of one plug-in may consist, at most.
const MOST_PAIRS: usize = 200;

/// How the order of a plug-in's groups follows.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Order {
    /// The group with the module that the plug-in searches first comes first, but for what is known to matter.
    ByFirst(Vec<Before>),
    /// What more plug-ins need, and so is more basic, comes first.
    ByUsers,
    /// The plug-in's own: groups are divided where modules of others stand between theirs.
    Own,
}

impl Chosen {
    /// A plug-in cannot be opened like this: it is tried in another way, or stays as it is. `wanted`: what else would
    /// have to come first, where nothing but the order is wrong.
    pub(crate) fn retry(&mut self, root: ModuleId, reason: &str, wanted: &[Before]) {
        let Some(at) = self.roots.iter().position(|known| known.id == root) else { return };
        let next = match &self.roots[at].order {
            Order::ByFirst(known) => {
                let new = wanted.iter().filter(|pair| !known.contains(pair)).copied();
                let all: Vec<Before> = known.iter().copied().chain(new).collect();
                let groups = self.by_first(&self.roots[at]);
                let is_possible = all.len() > known.len()
                    && all.len() <= MOST_PAIRS
                    && self.sorted(&groups, &all).is_some();
                Some(if is_possible { Order::ByFirst(all) } else { Order::ByUsers })
            }
            Order::ByUsers => Some(Order::Own),
            Order::Own => None,
        };
        match next {
            Some(next) => self.roots[at].order = next,
            None => self.refuse(root, reason),
        }
    }

    /// The other groups that are loaded with a plug-in, in the order in which they are searched.
    pub(crate) fn searched(&self, root: &Root) -> Vec<usize> {
        let mut groups = self.by_first(root);
        match &root.order {
            Order::ByFirst(known) => return self.sorted(&groups, known).unwrap_or(groups),
            Order::ByUsers => {
                let users = |group: &usize| {
                    let first = self.groups[*group].members.first();
                    let uses =
                        |root: &&Root| first.is_some_and(|first| root.closure.contains(first));
                    self.roots.iter().filter(uses).count()
                };
                groups.sort_by_key(|group| std::cmp::Reverse(users(group)));
            }
            Order::Own => {}
        }
        groups
    }

    /// The plug-ins in whose own order groups are searched.
    pub(super) fn in_own_order(&self) -> impl Iterator<Item = &Root> {
        self.roots.iter().filter(|root| root.order == Order::Own)
    }

    /// The other groups that are loaded with a plug-in, by their first modules.
    fn by_first(&self, root: &Root) -> Vec<usize> {
        let mut groups = Vec::new();
        for group in root.closure.iter().skip(1).filter_map(|&module| self.group_of(module)) {
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        groups
    }

    /// These groups in an order in which every pair is right, and which else changes little; none if there is no such
    /// order.
    fn sorted(&self, groups: &[usize], pairs: &[Before]) -> Option<Vec<usize>> {
        let group = |module| self.group_of(module);
        let pairs: Vec<(usize, usize)> = pairs
            .iter()
            .filter_map(|&(first, then)| Some((group(first)?, group(then)?)))
            .filter(|(first, then)| first != then)
            .collect();
        sorted(groups, &pairs)
    }
}

fn sorted(groups: &[usize], pairs: &[(usize, usize)]) -> Option<Vec<usize>> {
    let mut left = groups.to_vec();
    let mut done = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let waits = |group: usize| {
            pairs.iter().any(|&(first, then)| then == group && left.contains(&first))
        };
        let next = left.iter().position(|&group| !waits(group))?;
        done.push(left.remove(next));
    }
    Some(done)
}

#[cfg(test)]
mod tests {
    use super::sorted;

    #[test]
    fn groups_keep_their_order_but_for_what_has_to_come_first() {
        let groups = [4, 1, 3, 2];
        assert_eq!(sorted(&groups, &[]), Some(vec![4, 1, 3, 2]));
        assert_eq!(sorted(&groups, &[(3, 4)]), Some(vec![1, 3, 4, 2]));
        assert_eq!(sorted(&groups, &[(2, 1), (3, 4), (2, 3)]), Some(vec![2, 1, 3, 4]));
        // A group that is not loaded with the plug-in is not waited for.
        assert_eq!(sorted(&groups, &[(9, 4)]), Some(vec![4, 1, 3, 2]));
    }

    #[test]
    fn there_is_no_order_in_which_each_comes_before_the_other() {
        assert_eq!(sorted(&[1, 2, 3], &[(1, 2), (2, 3), (3, 1)]), None);
    }
}
