//! From traces to an order of one image's functions, and what it would change.

use crate::orders::{Algorithm, order};
use crate::predict::{
    DistanceRise, Forecaster, KernelReadAhead, LayoutForecast, ReadAheadKind, TextPlacement,
    distance_rise,
};
use crate::subject::Subject;
use crate::trace::runs::{MatchedRuns, runs};
use crate::write::Relinker;
use model::{FunctionId, FunctionTrace};
use rayon::prelude::*;

/// An order of an image's functions, and what it would change.
#[derive(Clone, Debug)]
pub struct FunctionOrderPlan {
    /// What the traces say of the image.
    pub matched: MatchedRuns,
    /// The functions that are to come first, in order: those of the order file, and those that it
    /// cannot list.
    pub order: Vec<FunctionId>,
    /// What the runs do now.
    pub now: LayoutForecast,
    /// What they would do as the linker places the functions by that order.
    pub ordered: LayoutForecast,
    /// For each run whether its seek distance grows, and why.
    pub rises: Vec<Option<DistanceRise>>,
}

/// Orders the functions of `subject` for the launches in `traces`, to be linked by `relinker`.
pub fn plan(
    subject: &Subject,
    traces: &[FunctionTrace],
    algorithm: Algorithm,
    relinker: &Relinker<'_>,
) -> FunctionOrderPlan {
    let matched = subject.with_names(|image| runs(traces, image));
    let order = order(algorithm, &subject.functions, &matched.runs);
    let moved = relinker.moved(subject, &order);
    let forecaster = forecaster(subject);
    let present = TextPlacement::present(&subject.functions);
    let reordered = relinker.placement(subject, &moved);
    let now = forecaster.layout(&present, &matched.runs);
    let ordered = forecaster.layout(&reordered, &matched.runs);
    let each = now.runs.iter().zip(&ordered.runs);
    let rises = each.map(|(before, after)| distance_rise(before, after, &moved)).collect();
    FunctionOrderPlan { matched, order, now, ordered, rises }
}

/// Predictions for this image on a kernel of today.
pub fn forecaster(subject: &Subject) -> Forecaster<'_> {
    Forecaster {
        functions: &subject.functions,
        mapping: subject.mapping,
        read_ahead: KernelReadAhead::linux(ReadAheadKind::Forward),
    }
}

/// What runs would do that an order does not know: each run in an order that is made of the
/// others. Empty where there is only one. It takes as long as so many orders.
pub fn held_out(
    subject: &Subject,
    matched: &MatchedRuns,
    algorithm: Algorithm,
    relinker: &Relinker<'_>,
) -> LayoutForecast {
    let all = &matched.runs;
    if all.len() < 2 {
        return LayoutForecast { runs: Vec::new() };
    }
    let forecaster = forecaster(subject);
    let without = |left_out: usize| {
        let others = all.iter().enumerate().filter(|(index, _)| *index != left_out);
        let others: Vec<_> = others.map(|(_, run)| run.clone()).collect();
        let order = order(algorithm, &subject.functions, &others);
        let placement = relinker.placement(subject, &relinker.moved(subject, &order));
        forecaster.run(&placement, &all[left_out])
    };
    LayoutForecast { runs: (0..all.len()).into_par_iter().map(without).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CalledFunctions;
    use crate::maps;
    use crate::write::{InputSections, Linker};

    /// Two functions of the same name, of a page each.
    const MAP: &[u8] = b"             VMA              LMA     Size Align Out     In      Symbol
            1000             1000     2020    16 .text
            1000             1000       10    16         one.o:(.text.a)
            1000             1000       10     1                 a
            1010             1010     1000    16         one.o:(.text.same)
            1010             1010     1000     1                 same
            2010             2010       10    16         one.o:(.text.b)
            2010             2010       10     1                 b
            2020             2020     1000    16         two.o:(.text.same)
            2020             2020     1000     1                 same
";

    #[test]
    fn held_out_launches_are_predicted_with_all_that_moves() {
        let subject = Subject::of_map("image".to_owned(), &maps::read("map", MAP).unwrap());
        let run = |calls: &[usize]| CalledFunctions {
            weight: 1.0,
            first_calls: calls.iter().map(|at| FunctionId::at(*at)).collect(),
            counts: Vec::new(),
        };
        let runs = vec![run(&[0, 1]), run(&[0, 1, 2])];
        let matched = MatchedRuns { runs, ..MatchedRuns::default() };
        let sections = InputSections::usual([]);
        let relinker = Relinker { linker: Linker::Lld, sections: &sections };
        let found = held_out(&subject, &matched, Algorithm::FirstCall, &relinker);
        // The order of the first run puts both functions of the name in front of b.
        assert_eq!(found.means().pages, (2.0 + 3.0) / 2.0);
    }
}
