//! Which modules a program is to ask for itself, in which order.

use super::finding::{self, Asking};
use super::precedence::Precedence;
use super::{choose, constructors, exports};
use loader::{Graph, Relocated};

/// A path instead of names is worth it where it saves this share of the probes: the library is
/// then no longer searched for, in LD_LIBRARY_PATH either.
const WORTH_A_PATH: f64 = 0.05;

/// What a program is to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Modules in the order in which the loader will load them; the program is the first.
    pub order: Vec<usize>,
    /// How many of them, after the program, it asks for itself.
    pub asked: usize,
    /// Those of them that it asks for by path.
    pub by_path: Vec<usize>,
    /// Probes that depend on the order, as planned.
    pub probes: u64,
    /// Pairs of modules that had to stay in order.
    pub pairs: usize,
}

/// The best plan found, and the probes of the order as it is; none where no order is better.
///
/// `relocated`: what the loader binds at start. With `strict`, constructors keep their order.
pub fn best(graph: &Graph, relocated: &[Relocated], strict: bool) -> Option<Plan> {
    let mut precedence = exports::in_common(graph);
    if strict {
        constructors::keep(graph, &mut precedence);
    }
    precedence.close();
    let asking = finding::of_all(graph);
    let hits = hits(graph, relocated);
    let planning = Planning { graph, precedence, hits, asking };
    let (names, paths) = (planning.plan(false), planning.plan(true));
    let now: Vec<usize> = (0..graph.modules.len()).collect();
    let now = choose::probes(&now, &planning.hits);
    let saved = |plan: &Plan| now.saturating_sub(plan.probes) as f64;
    let best = match (names, paths) {
        (Some(names), Some(paths)) => {
            let worth = saved(&paths) - saved(&names) > WORTH_A_PATH * now as f64;
            Some(if worth { paths } else { names })
        }
        (names, paths) => names.or(paths),
    };
    best.filter(|plan| plan.probes < now)
}

/// Look-ups of the scope that each module answers.
fn hits(graph: &Graph, relocated: &[Relocated]) -> Vec<u64> {
    let mut hits = vec![0; graph.modules.len()];
    for binding in relocated.iter().flat_map(|module| &module.bindings) {
        let Some((to, _)) = binding.to else { continue };
        // One that asks itself first does not ask the scope.
        let own = to == binding.from && graph.modules[to].image.symbolic;
        if let Some(hits) = hits.get_mut(to).filter(|_| !own) {
            *hits += 1;
        }
    }
    hits
}

struct Planning<'a> {
    graph: &'a Graph,
    precedence: Precedence,
    hits: Vec<u64>,
    asking: Vec<Asking>,
}

impl Planning<'_> {
    /// A plan in which modules that the program's search does not find are asked for by path, or
    /// where that can be avoided are left to the libraries that need them.
    fn plan(&self, paths: bool) -> Option<Plan> {
        let (listed, by_path) = self.listed(paths)?;
        let chosen = choose::order(&listed, &self.hits, &self.precedence);
        let order = breadth_first(self.graph, &chosen);
        let all = order.len() == self.graph.modules.len();
        if !all || !self.precedence.kept_by(&order) {
            return None;
        }
        let probes = choose::probes(&order, &self.hits);
        let pairs = self.precedence.pairs();
        Some(Plan { order, asked: chosen.len(), by_path, probes, pairs })
    }

    /// Modules to ask for, ascending, and those of them to be asked for by path. What is not
    /// listed comes after what is, so it must not be required before it.
    fn listed(&self, paths: bool) -> Option<(Vec<usize>, Vec<usize>)> {
        let count = self.graph.modules.len();
        let by_name = |&module: &usize| matches!(self.asking[module], Asking::Named(_));
        let mut listed: Vec<bool> = (0..count).map(|module| by_name(&module)).collect();
        let mut by_path = Vec::new();
        for module in (1..count).rev() {
            let required = (module..count)
                .any(|later| listed[later] && self.precedence.holds(module, later));
            if listed[module] || !(paths || required) {
                continue;
            }
            match &self.asking[module] {
                Asking::ByPath(_) => {
                    listed[module] = true;
                    by_path.push(module);
                }
                // It cannot be asked for, and others that can be have to come after it.
                _ if required => return None,
                _ => {}
            }
        }
        by_path.reverse();
        Some(((1..count).filter(|&module| listed[module]).collect(), by_path))
    }
}

/// The order in which the loader loads a program's modules where the program asks for these.
fn breadth_first(graph: &Graph, asked: &[usize]) -> Vec<usize> {
    let mut seen = vec![false; graph.modules.len()];
    let mut order = vec![0];
    seen[0] = true;
    let mut next = 0;
    while let Some(&module) = order.get(next) {
        let needs = if next == 0 { asked } else { graph.modules[module].needs.as_slice() };
        let new = needs.iter().filter(|&&need| !std::mem::replace(&mut seen[need], true));
        order.extend(new);
        next += 1;
    }
    order
}
