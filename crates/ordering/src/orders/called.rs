//! What runs called, numbered densely: the view that all algorithms work on.

use crate::{CalledFunctions, PlacedFunction};
use model::FunctionId;

/// One run, with the functions that can be moved only.
pub(super) struct Run {
    /// How much it counts, from 0 to 1 for the one that counts most; 1 for all if none counts.
    pub weight: f64,
    /// Items in order of first call, each once.
    pub items: Vec<usize>,
    /// How often each was called, parallel to `items`; 1 where nobody counted.
    pub counts: Vec<u64>,
}

/// The functions that runs called and that can be moved. They are numbered (*items*) in order of
/// first call: those of the run that counts most, then what the next run adds, and so on.
pub(super) struct Called {
    /// The function that an item is.
    pub functions: Vec<FunctionId>,
    /// Sizes of the items.
    pub bytes: Vec<u32>,
    /// Alignments of the items, powers of two.
    pub alignment: Vec<u32>,
    /// The runs, those that count most first.
    pub runs: Vec<Run>,
}

impl Called {
    /// Numbers what runs called.
    pub fn new(functions: &[PlacedFunction], runs: &[CalledFunctions]) -> Called {
        let heaviest = runs.iter().map(weight).fold(0.0, f64::max);
        let mut by_weight: Vec<&CalledFunctions> = runs.iter().collect();
        by_weight.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
        let mut called = Called {
            functions: Vec::new(),
            bytes: Vec::new(),
            alignment: Vec::new(),
            runs: Vec::with_capacity(runs.len()),
        };
        let mut numbered = vec![None; functions.len()];
        for run in by_weight {
            let weight = if heaviest > 0.0 { weight(run) / heaviest } else { 1.0 };
            called.add(functions, run, weight, &mut numbered);
        }
        called
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.functions.len()
    }

    fn add(
        &mut self,
        functions: &[PlacedFunction],
        run: &CalledFunctions,
        weight: f64,
        numbered: &mut [Option<usize>],
    ) {
        let (mut items, mut counts) = (Vec::new(), Vec::new());
        let mut seen = vec![false; functions.len()];
        for (at, id) in run.first_calls.iter().enumerate() {
            let Some(function) = functions.get(id.index()).filter(|it| it.is_free()) else {
                continue;
            };
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            let item = *numbered[id.index()].get_or_insert_with(|| self.number(*id, function));
            items.push(item);
            counts.push(run.counts.get(at).copied().unwrap_or(1));
        }
        self.runs.push(Run { weight, items, counts });
    }

    fn number(&mut self, id: FunctionId, function: &PlacedFunction) -> usize {
        self.functions.push(id);
        self.bytes.push(function.bytes);
        self.alignment.push(function.alignment.max(1).checked_next_power_of_two().unwrap_or(1));
        self.functions.len() - 1
    }
}

/// Its weight, or zero where that is no number or below zero.
fn weight(run: &CalledFunctions) -> f64 {
    if run.weight.is_finite() { run.weight.max(0.0) } else { 0.0 }
}
