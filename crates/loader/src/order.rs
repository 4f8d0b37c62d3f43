//! The order in which initializers run: glibc's `_dl_sort_maps_dfs` (elf/dl-sort-maps.c, the
//! default since 2.35), and its reverse, in which `_dl_init` goes through it.

use crate::graph::Graph;
use model::ModuleId;

/// The modules in the order in which they are initialized; the program is the last. Modules
/// without initializers are there too.
pub fn of_initialization(graph: &Graph) -> Vec<ModuleId> {
    let count = graph.modules.len();
    let mut walk = Walk { graph, visited: vec![false; count], after: Vec::with_capacity(count) };
    for index in (0..count).rev() {
        walk.visit(ModuleId::at(index));
    }
    // Each comes after what it needs; the program is the last whatever needs it.
    let mut order = walk.after;
    order.retain(|&module| module != ModuleId::PROGRAM);
    order.push(ModuleId::PROGRAM);
    // Of several that ask to be the first, the loader keeps the one that it loaded last.
    if let Some(at) = order.iter().position(|&module| graph[module].image.first_initialized) {
        let module = order.remove(at);
        order.insert(0, module);
    }
    order
}

/// The modules that opening `root` loads, and those that it needs besides, in the order in which they would be
/// initialized; `root` is the last.
pub fn of_opening(graph: &Graph, root: ModuleId) -> Vec<ModuleId> {
    let count = graph.modules.len();
    let mut walk = Walk { graph, visited: vec![false; count], after: Vec::new() };
    for module in graph.closure(root).into_iter().rev() {
        walk.visit(module);
    }
    let mut order = walk.after;
    order.retain(|&module| module != root);
    order.push(root);
    order
}

struct Walk<'a> {
    graph: &'a Graph,
    visited: Vec<bool>,
    after: Vec<ModuleId>,
}

impl Walk<'_> {
    /// Depth first, what is needed before who needs it; without recursion, as chains of
    /// dependencies can be long. The program's own are not followed: it is sorted with its list
    /// alone.
    fn visit(&mut self, start: ModuleId) {
        let mut stack = vec![(start, 0)];
        if std::mem::replace(&mut self.visited[start.index()], true) {
            return;
        }
        while let Some((module, at)) = stack.pop() {
            let dependencies = match module {
                ModuleId::PROGRAM => &[],
                module => self.graph[module].dependencies.as_slice(),
            };
            let Some(&next) = dependencies.get(at) else {
                self.after.push(module);
                continue;
            };
            stack.push((module, at + 1));
            let visited = &mut self.visited[next.index()];
            if next != ModuleId::PROGRAM && !std::mem::replace(visited, true) {
                stack.push((next, 0));
            }
        }
    }
}
