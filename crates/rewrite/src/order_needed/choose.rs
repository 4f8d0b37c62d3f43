//! A good order: modules that answer many look-ups come early, whatever has to stay before what.
//!
//! A look-up asks modules in order until one answers, so an order costs the sum, over modules, of
//! the look-ups that one answers times its place. This is the scheduling of jobs of equal length
//! by weight under precedence; the best order takes again and again the set of jobs, closed under
//! precedence, of the highest average weight (J. B. Sidney, Operations Research 23, 1975).

use super::precedence::Precedence;
use model::ModuleId;

/// Rounds in which modules are moved one by one; few orders change after the third.
const ROUNDS: usize = 12;

/// Probes of the look-ups that modules answer, in this order.
pub fn probes(order: &[ModuleId], hits: &[u64]) -> u64 {
    let hits = order.iter().map(|module| hits[module.index()]);
    hits.zip(1..).map(|(hits, place)| hits * place).sum()
}

/// An order of `modules`, a subset of those of `precedence`, ascending. It never costs more than
/// `modules` as they are.
pub fn order(modules: &[ModuleId], hits: &[u64], precedence: &Precedence) -> Vec<ModuleId> {
    let mut order = greedy(modules, hits, precedence);
    improve(&mut order, hits, precedence);
    if probes(&order, hits) < probes(modules, hits) { order } else { modules.to_vec() }
}

/// A module with what is still required before it.
#[derive(Clone, Copy)]
struct Candidate {
    hits: u64,
    modules: u64,
}

impl Candidate {
    /// Whether its look-ups a module are more than those of another.
    fn beats(self, other: Candidate) -> bool {
        u128::from(self.hits) * u128::from(other.modules)
            > u128::from(other.hits) * u128::from(self.modules)
    }
}

/// Takes the module which, with all that it still requires, has the most look-ups a module.
fn greedy(modules: &[ModuleId], hits: &[u64], precedence: &Precedence) -> Vec<ModuleId> {
    let hits = |module: ModuleId| hits[module.index()];
    let mut waits = vec![false; precedence.modules().count()];
    modules.iter().for_each(|module| waits[module.index()] = true);
    let required = |module: ModuleId, waits: &[bool]| -> Vec<ModuleId> {
        precedence.before(module).filter(|first| waits[first.index()]).chain([module]).collect()
    };
    let mut candidates: Vec<Candidate> = precedence
        .modules()
        .map(|module| {
            let set = required(module, &waits);
            let hits = set.iter().map(|&module| hits(module)).sum();
            Candidate { hits, modules: set.len() as u64 }
        })
        .collect();
    let mut order = Vec::with_capacity(modules.len());
    loop {
        let waiting = modules.iter().copied().filter(|module| waits[module.index()]);
        let best = waiting.reduce(|best, other| {
            match candidates[other.index()].beats(candidates[best.index()]) {
                true => other,
                false => best,
            }
        });
        let Some(best) = best else { return order };
        for module in required(best, &waits) {
            order.push(module);
            waits[module.index()] = false;
            for behind in precedence.modules().filter(|&other| precedence.holds(module, other)) {
                let candidate = &mut candidates[behind.index()];
                candidate.hits -= hits(module);
                candidate.modules -= 1;
            }
        }
    }
}

/// Moves single modules to where they cost least, as long as that helps.
fn improve(order: &mut [ModuleId], hits: &[u64], precedence: &Precedence) {
    for _ in 0..ROUNDS {
        let before = probes(order, hits);
        for at in 0..order.len() {
            let to = best_place(order, at, hits, precedence);
            if to < at {
                order[to..=at].rotate_right(1);
            } else {
                order[at..=to].rotate_left(1);
            }
        }
        if probes(order, hits) == before {
            return;
        }
    }
}

/// Where the module at a place is best moved to.
fn best_place(order: &[ModuleId], at: usize, hits: &[u64], precedence: &Precedence) -> usize {
    let weight = |module: ModuleId| i128::from(hits[module.index()]);
    let module = order[at];
    let (mut best, mut most) = (at, 0);
    let mut gain = 0;
    for to in (0..at).rev() {
        if precedence.holds(order[to], module) {
            break;
        }
        gain += weight(module) - weight(order[to]);
        if gain > most {
            (best, most) = (to, gain);
        }
    }
    gain = 0;
    for (to, &other) in order.iter().enumerate().skip(at + 1) {
        if precedence.holds(module, other) {
            break;
        }
        gain += weight(other) - weight(module);
        if gain > most {
            (best, most) = (to, gain);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(modules: impl IntoIterator<Item = u32>) -> Vec<ModuleId> {
        modules.into_iter().map(ModuleId).collect()
    }

    fn precedence(count: usize, pairs: &[(u32, u32)]) -> Precedence {
        let mut precedence = Precedence::new(count);
        for &(first, second) in pairs {
            precedence.keep(ModuleId(first), ModuleId(second));
        }
        precedence.close();
        precedence
    }

    /// The cheapest of all orders that keep the pairs.
    fn best(rest: &[ModuleId], done: &mut Vec<ModuleId>, hits: &[u64], pairs: &Precedence) -> u64 {
        if rest.is_empty() {
            return probes(done, hits);
        }
        let mut least = u64::MAX;
        for &module in rest {
            if rest.iter().any(|&first| pairs.holds(first, module)) {
                continue;
            }
            let others: Vec<ModuleId> = rest.iter().copied().filter(|&o| o != module).collect();
            done.push(module);
            least = least.min(best(&others, done, hits, pairs));
            done.pop();
        }
        least
    }

    #[test]
    fn a_module_is_pulled_forward_with_what_it_requires() {
        let pairs = precedence(6, &[(2, 5)]);
        let hits = [0, 3, 0, 4, 5, 100];
        assert_eq!(order(&ids([1, 2, 3, 4, 5]), &hits, &pairs), ids([2, 5, 4, 3, 1]));
        assert_eq!(order(&ids([1, 3, 4]), &hits, &pairs), ids([4, 3, 1]));
    }

    #[test]
    fn an_order_keeps_all_pairs_and_is_close_to_the_best() {
        // Knuth's MMIX; the upper bits are the good ones.
        let mut state = 11_u64;
        let mut dice = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
            (state >> 33) % below
        };
        let (mut found, mut least) = (0, 0);
        for _ in 0..300 {
            let hits: Vec<u64> = (0..7).map(|_| dice(4) * dice(50)).collect();
            let mut pairs = Vec::new();
            for second in 1..7 {
                pairs.extend((0..second).filter(|_| dice(4) == 0).map(|first| (first, second)));
            }
            let pairs = precedence(7, &pairs);
            let modules = ids(0..7);
            let order = order(&modules, &hits, &pairs);
            assert!(pairs.kept_by(&order), "{order:?}");
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, modules);
            found += probes(&order, &hits);
            least += best(&modules, &mut Vec::new(), &hits, &pairs);
        }
        assert!(found >= least && found * 100 <= least * 102, "{found} {least}");
    }
}
