//! From traces to an order of one image's functions, and what it would change.

use crate::orders::{Algorithm, order};
use crate::predict::{
    DistanceRise, Forecaster, LayoutForecast, ReadAhead, ReadAheadKind, TextPlacement,
    distance_rise,
};
use crate::subject::Subject;
use crate::trace::runs::{MatchedRuns, runs};
use model::{FunctionId, FunctionTrace};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// An order of an image's functions, and what it would change.
#[derive(Clone, Debug)]
pub struct FunctionOrderPlan {
    /// What the traces say of the image.
    pub matched: MatchedRuns,
    /// The functions that come first, in order.
    pub order: Vec<FunctionId>,
    /// What the runs do now.
    pub now: LayoutForecast,
    /// What they would do in that order.
    pub ordered: LayoutForecast,
    /// For each run whether its seek distance grows, and why.
    pub rises: Vec<Option<DistanceRise>>,
}

/// Orders the functions of `subject` for the launches in `traces`.
pub fn plan(
    subject: &Subject,
    traces: &[FunctionTrace],
    algorithm: Algorithm,
) -> FunctionOrderPlan {
    let matched = subject.with_names(|image| runs(traces, image));
    let order = order(algorithm, &subject.functions, &matched.runs);
    let order = as_linked(subject, &order);
    let forecaster = forecaster(subject);
    let present = TextPlacement::present(&subject.functions);
    let reordered = TextPlacement::reordered(&subject.functions, &order);
    let now = forecaster.layout(&present, &matched.runs);
    let ordered = forecaster.layout(&reordered, &matched.runs);
    let each = now.runs.iter().zip(&ordered.runs);
    let rises = each.map(|(before, after)| distance_rise(before, after, &order)).collect();
    FunctionOrderPlan { matched, order, now, ordered, rises }
}

/// The order that linkers make of this one: of a name that several functions have all are moved.
fn as_linked(subject: &Subject, order: &[FunctionId]) -> Vec<FunctionId> {
    let mut listed: FxHashMap<&str, Vec<FunctionId>> = FxHashMap::default();
    for function in order {
        let names = subject.names[function.index()].iter();
        listed.extend(names.map(|name| (name.as_str(), Vec::new())));
    }
    for (index, names) in subject.names.iter().enumerate() {
        for name in names {
            if let Some(functions) = listed.get_mut(name.as_str()) {
                functions.push(FunctionId::at(index));
            }
        }
    }
    let mut seen = vec![false; subject.functions.len()];
    let names = order.iter().flat_map(|function| &subject.names[function.index()]);
    let functions = names.flat_map(|name| listed.get(name.as_str()).into_iter().flatten());
    let first = functions.filter(|id| !std::mem::replace(&mut seen[id.index()], true));
    let free = first.filter(|id| subject.functions[id.index()].is_free());
    free.copied().collect()
}

/// Predictions for this image on a kernel of today.
pub fn forecaster(subject: &Subject) -> Forecaster<'_> {
    Forecaster {
        functions: &subject.functions,
        mapping: subject.mapping,
        read_ahead: ReadAhead::linux(ReadAheadKind::Forward),
    }
}

/// What runs would do that an order does not know: each run in an order that is made of the
/// others. Empty where there is only one. It takes as long as so many orders.
pub fn held_out(subject: &Subject, matched: &MatchedRuns, algorithm: Algorithm) -> LayoutForecast {
    let all = &matched.runs;
    if all.len() < 2 {
        return LayoutForecast { runs: Vec::new() };
    }
    let forecaster = forecaster(subject);
    let without = |left_out: usize| {
        let others = all.iter().enumerate().filter(|(index, _)| *index != left_out);
        let others: Vec<_> = others.map(|(_, run)| run.clone()).collect();
        let order = as_linked(subject, &order(algorithm, &subject.functions, &others));
        let placement = TextPlacement::reordered(&subject.functions, &order);
        forecaster.run(&placement, &all[left_out])
    };
    LayoutForecast { runs: (0..all.len()).into_par_iter().map(without).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predict::{ImagePage, PAGE_BYTES, TextMapping};
    use crate::trace::pairing::TraceMatch;
    use crate::{CalledFunctions, Movability, PlacedFunction};
    use model::{FileOffset, Rva};

    /// Functions of a page each, of these names.
    fn subject(names: &[&str]) -> Subject {
        let page = PAGE_BYTES as u32;
        let function = |at: usize| PlacedFunction {
            rva: Rva(at as u32 * page),
            bytes: page,
            alignment: 16,
            movability: Movability::Free,
            moves_with_previous: false,
            bytes_behind: 0,
        };
        Subject {
            path: "p".to_owned(),
            build_id: None,
            soname: None,
            module: None,
            functions: (0..names.len()).map(function).collect(),
            names: names.iter().map(|name| vec![(*name).to_owned()]).collect(),
            mapping: TextMapping {
                first: ImagePage(0),
                pages: names.len() as u32,
                offset: FileOffset(0),
                file_bytes: names.len() as u64 * PAGE_BYTES,
            },
            has_sections: false,
            has_alignments: false,
            usual_alignment: 16,
        }
    }

    /// Without that, the called functions of a held-out launch would be side by side.
    #[test]
    fn all_functions_of_a_listed_name_move_for_held_out_launches_too() {
        let mut names = vec!["helper"; 40];
        (names[0], names[39]) = ("first", "last");
        let run = |calls: [usize; 3]| CalledFunctions {
            weight: 1.0,
            first_calls: calls.map(FunctionId::at).to_vec(),
            counts: Vec::new(),
        };
        let matched = MatchedRuns {
            runs: vec![run([0, 20, 39]), run([0, 20, 39])],
            traces: vec![TraceMatch::default(); 2],
            ..MatchedRuns::default()
        };
        let subject = subject(&names);
        let held_out = held_out(&subject, &matched, Algorithm::FirstCall);
        let order = as_linked(&subject, &[0, 20, 39].map(FunctionId::at));
        assert_eq!(order.len(), 40);
        let placement = TextPlacement::reordered(&subject.functions, &order);
        let linked = forecaster(&subject).run(&placement, &matched.runs[0]);
        assert_eq!(held_out.runs[0], linked);
        let alone = TextPlacement::reordered(&subject.functions, &[0, 20, 39].map(FunctionId::at));
        let alone = forecaster(&subject).run(&alone, &matched.runs[0]);
        assert_ne!(alone, linked);
    }
}
