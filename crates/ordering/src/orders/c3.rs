//! Call-chain clustering, C3: Ottoni and Maher, *Optimizing Function Placement for Large-Scale
//! Data-Center Applications*, CGO 2017 (the algorithm of `hfsort`).
//!
//! Every function begins as a cluster of its own. From the most called function on, the cluster of
//! each is appended to that of its most frequent caller, unless the result were larger than a page.
//! The clusters follow each other by density: calls per byte.
//!
//! The call graph is not recorded. It is approximated: the function that a run called for the first
//! time just before counts as the caller. That is right as long as execution descends, and a
//! function nearby otherwise.

use super::call_count::weighted_counts;
use super::called::Called;
use rustc_hash::FxHashMap;

/// What a cluster may grow to: a page, beyond which nearness does not save another one.
const MOST_BYTES: u64 = 4096;

pub(super) fn order(called: &Called) -> Vec<usize> {
    let counts = weighted_counts(called);
    let callers = likeliest_callers(called);
    let mut clusters = Clusters::new(called);
    let mut hottest: Vec<usize> = (0..called.len()).collect();
    hottest.sort_by(|a, b| counts[*b].total_cmp(&counts[*a]));
    for item in hottest {
        if let Some(caller) = callers[item] {
            clusters.append(caller, item);
        }
    }
    clusters.by_density(&counts)
}

/// The item that was most often called first just before each.
fn likeliest_callers(called: &Called) -> Vec<Option<usize>> {
    let mut weights: FxHashMap<(usize, usize), f64> = FxHashMap::default();
    for run in &called.runs {
        for pair in run.items.windows(2) {
            *weights.entry((pair[1], pair[0])).or_default() += run.weight;
        }
    }
    let mut pairs: Vec<((usize, usize), f64)> = weights.into_iter().collect();
    pairs.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut callers = vec![None; called.len()];
    for ((callee, caller), _) in pairs {
        callers[callee].get_or_insert(caller);
    }
    callers
}

struct Clusters {
    /// The cluster that an item is in.
    of: Vec<usize>,
    items: Vec<Vec<usize>>,
    bytes: Vec<u64>,
}

impl Clusters {
    fn new(called: &Called) -> Clusters {
        Clusters {
            of: (0..called.len()).collect(),
            items: (0..called.len()).map(|item| vec![item]).collect(),
            bytes: called.bytes.iter().map(|bytes| u64::from(*bytes)).collect(),
        }
    }

    /// Appends the cluster of an item to that of its caller, if they fit into a page.
    fn append(&mut self, caller: usize, item: usize) {
        let (into, from) = (self.of[caller], self.of[item]);
        if into == from || self.bytes[into] + self.bytes[from] > MOST_BYTES {
            return;
        }
        let moved = std::mem::take(&mut self.items[from]);
        for item in &moved {
            self.of[*item] = into;
        }
        self.items[into].extend(moved);
        self.bytes[into] += std::mem::take(&mut self.bytes[from]);
    }

    fn by_density(self, counts: &[f64]) -> Vec<usize> {
        let density = |at: &usize| {
            let calls: f64 = self.items[*at].iter().map(|item| counts[*item]).sum();
            calls / self.bytes[*at].max(1) as f64
        };
        let filled = (0..self.items.len()).filter(|at| !self.items[*at].is_empty());
        let mut sorted: Vec<(f64, usize)> = filled.map(|at| (density(&at), at)).collect();
        sorted.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        sorted.into_iter().flat_map(|(_, at)| self.items[at].iter().copied()).collect()
    }
}
