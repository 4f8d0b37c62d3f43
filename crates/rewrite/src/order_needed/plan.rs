//! Which modules a program is to ask for itself, in which order.

use super::listing::Listing;
use super::precedence::Precedence;
use super::{choose, common_names, constructors};
use loader::{Graph, Relocated};
use model::ModuleId;

/// A path instead of names is worth it where it saves this share of the probes: the library is
/// then no longer searched for, in LD_LIBRARY_PATH either.
const WORTH_A_PATH: f64 = 0.05;

/// A file that is tried in vain takes as long as so many probes: some 3 µs to 5 ns.
const PROBES_A_MISS: u64 = 600;

/// What a program is to ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrderPlan {
    /// Modules in the order in which the loader will load them; the program is the first.
    pub order: Vec<ModuleId>,
    /// The words of DT_NEEDED by which it asks for those that come after the program; fewer than
    /// these where the last are left to the libraries that need them.
    pub words: Vec<Vec<String>>,
    /// Those that it asks for by path.
    pub by_path: Vec<ModuleId>,
    /// Probes of look-ups in the present order.
    pub probes_now: u64,
    /// And as planned.
    pub probes: u64,
    /// Pairs of modules that had to stay in order because of names that both export.
    pub pairs: usize,
}

/// The best plan found; it is not always better than the present order. None where the program
/// cannot ask for its libraries itself without a change of what is found first.
///
/// `bound`: all that the loader looks up. `hits`: look-ups at start that each module answers.
/// `listings`: how each may be asked for, and `misses`: files that are then tried in vain, and else
/// are not. With `strict`, constructors keep their order.
pub fn best(
    graph: &Graph,
    bound: &[Relocated],
    hits: Vec<u64>,
    listings: Vec<Listing>,
    misses: Vec<u64>,
    strict: bool,
) -> Option<OrderPlan> {
    let mut precedence = common_names::precedence(graph, bound);
    precedence.close();
    let pairs = precedence.pairs();
    if strict {
        constructors::keep(graph, &mut precedence);
        precedence.close();
    }
    let present: Vec<ModuleId> = precedence.modules().collect();
    let probes_now = choose::probes(&present, &hits);
    let planning = Planning { graph, precedence, hits, listings, misses, probes_now, pairs };
    match (planning.plan(false), planning.plan(true)) {
        (Some(names), Some(paths)) => {
            let worth = names.probes.saturating_sub(paths.probes) as f64;
            Some(if worth > WORTH_A_PATH * probes_now as f64 { paths } else { names })
        }
        (names, paths) => names.or(paths),
    }
}

/// Look-ups of the scope that each module answers.
pub fn hits(graph: &Graph, relocated: &[Relocated]) -> Vec<u64> {
    let mut hits = vec![0; graph.modules.len()];
    for binding in relocated.iter().flat_map(|module| &module.bindings) {
        let Some(to) = binding.to.map(|to| to.module) else { continue };
        // One that asks itself first does not ask the scope.
        if to != binding.from.module || !graph[to].image.symbolic {
            hits[to.index()] += 1;
        }
    }
    hits
}

struct Planning<'a> {
    graph: &'a Graph,
    precedence: Precedence,
    hits: Vec<u64>,
    listings: Vec<Listing>,
    misses: Vec<u64>,
    probes_now: u64,
    pairs: usize,
}

impl Planning<'_> {
    /// A plan in which modules that the program's search does not find are asked for by path, or
    /// where that can be avoided are left to the libraries that need them.
    fn plan(&self, paths: bool) -> Option<OrderPlan> {
        let (listed, by_path) = self.listed(paths)?;
        let mut chosen = choose::order(&listed, &self.hits, &self.precedence);
        let mut order = self.order(&chosen)?;
        self.leave_to_others(&mut chosen, &mut order);
        let probes = choose::probes(&order, &self.hits);
        let words = chosen.iter().map(|&module| self.words(module)).collect();
        let (probes_now, pairs) = (self.probes_now, self.pairs);
        Some(OrderPlan { order, words, by_path, probes_now, probes, pairs })
    }

    /// The order of loading where the program asks for these, if that is one that may be.
    fn order(&self, asked: &[ModuleId]) -> Option<Vec<ModuleId>> {
        let order = breadth_first(self.graph, asked);
        let all = order.len() == self.graph.modules.len();
        (all && self.precedence.kept_by(&order)).then_some(order)
    }

    /// Leaves modules that the program would find only after misses to the libraries that need
    /// them, unless their place saves more than the misses cost.
    fn leave_to_others(&self, asked: &mut Vec<ModuleId>, order: &mut Vec<ModuleId>) {
        for at in (0..asked.len()).rev() {
            let module = asked[at];
            let misses = self.misses[module.index()];
            if misses == 0 {
                continue;
            }
            asked.remove(at);
            let most = choose::probes(order, &self.hits) + PROBES_A_MISS * misses;
            let cheaper = |order: &Vec<ModuleId>| choose::probes(order, &self.hits) < most;
            match self.order(asked).filter(cheaper) {
                Some(other) => *order = other,
                None => asked.insert(at, module),
            }
        }
    }

    fn words(&self, module: ModuleId) -> Vec<String> {
        match &self.listings[module.index()] {
            Listing::ByName(words) => words.clone(),
            Listing::ByPath(path) => vec![model::text::text(path)],
            Listing::NotListed => Vec::new(),
        }
    }

    /// Modules to ask for, ascending, and those of them to be asked for by path. What is not
    /// listed comes after what is, so it must not be required before it.
    fn listed(&self, paths: bool) -> Option<(Vec<ModuleId>, Vec<ModuleId>)> {
        let libraries = || (1..self.graph.modules.len()).map(ModuleId::at);
        let by_name = |listing: &Listing| matches!(listing, Listing::ByName(_));
        let mut listed: Vec<bool> = self.listings.iter().map(by_name).collect();
        let mut by_path = Vec::new();
        for module in libraries().rev() {
            let required = libraries()
                .any(|later| listed[later.index()] && self.precedence.holds(module, later));
            if listed[module.index()] || !(paths || required) {
                continue;
            }
            match &self.listings[module.index()] {
                Listing::ByPath(_) => {
                    listed[module.index()] = true;
                    by_path.push(module);
                }
                // It cannot be asked for, and others that can be have to come after it.
                _ if required => return None,
                _ => {}
            }
        }
        by_path.reverse();
        Some((libraries().filter(|module| listed[module.index()]).collect(), by_path))
    }
}

/// The order in which the loader loads a program's modules where the program asks for these.
fn breadth_first(graph: &Graph, asked: &[ModuleId]) -> Vec<ModuleId> {
    let mut seen = vec![false; graph.modules.len()];
    let mut order = vec![ModuleId::PROGRAM];
    seen[ModuleId::PROGRAM.index()] = true;
    let mut next = 0;
    while let Some(&module) = order.get(next) {
        let needed = match module {
            ModuleId::PROGRAM => asked,
            _ => &graph[module].dependencies,
        };
        let is_new = |need: &&ModuleId| !std::mem::replace(&mut seen[need.index()], true);
        order.extend(needed.iter().filter(is_new));
        next += 1;
    }
    order
}
