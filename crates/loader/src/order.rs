//! The order in which initializers run: glibc's `_dl_sort_maps_dfs` (elf/dl-sort-maps.c, the
//! default since 2.35), and its reverse, in which `_dl_init` goes through it.

use crate::graph::Graph;

/// Indices of the modules in the order in which they are initialized; the program is the last.
/// Modules without initializers are there too.
pub fn of_initialization(graph: &Graph) -> Vec<usize> {
    let count = graph.modules.len();
    let mut walk = Walk { graph, visited: vec![false; count], after: Vec::with_capacity(count) };
    for index in (0..count).rev() {
        walk.visit(index);
    }
    // Each comes after what it needs; the program is the last whatever needs it.
    let mut order = walk.after;
    order.retain(|&index| index != 0);
    order.push(0);
    let first =
        |index: &usize| graph.modules.get(*index).is_some_and(|m| m.image.first_initialized);
    // Of several that ask to be the first, the loader keeps the one that it loaded last.
    if let Some(at) = order.iter().position(first) {
        let index = order.remove(at);
        order.insert(0, index);
    }
    order
}

struct Walk<'a> {
    graph: &'a Graph,
    visited: Vec<bool>,
    after: Vec<usize>,
}

impl Walk<'_> {
    /// Depth first, what is needed before who needs it; without recursion, as chains of needs
    /// can be long. The program's own needs are not followed: it is sorted with its list alone.
    fn visit(&mut self, start: usize) {
        let mut stack = vec![(start, 0)];
        if std::mem::replace(&mut self.visited[start], true) {
            return;
        }
        while let Some((index, at)) = stack.pop() {
            let needs = match self.graph.modules.get(index) {
                Some(module) if index != 0 => module.needs.as_slice(),
                _ => &[],
            };
            let Some(&need) = needs.get(at) else {
                self.after.push(index);
                continue;
            };
            stack.push((index, at + 1));
            if need != 0 && !std::mem::replace(&mut self.visited[need], true) {
                stack.push((need, 0));
            }
        }
    }
}
