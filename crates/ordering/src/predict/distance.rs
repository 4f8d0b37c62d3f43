//! Why an order increases the seek distance, said before anything is linked.
//!
//! OpenOffice's fwkmi.dll (2009) was read with 65 reads instead of 70 after it had been ordered, but
//! with 28.9 MB between them instead of 21.7, and took longer. Its linker could not move static
//! functions: execution went back and forth between the ordered functions at the front and those
//! that had stayed where they were.

use super::{ImagePage, RunForecast};
use model::FunctionId;
use rustc_hash::{FxHashMap, FxHashSet};

/// A function outside the ordered ones, and the way to it and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarFunction {
    /// The function.
    pub function: FunctionId,
    /// Bytes from the read before to its own, and from there back to ordered functions.
    pub distance: u64,
}

/// How an order increases the seek distance of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistanceRise {
    /// The sum of distances before.
    pub before: u64,
    /// The sum of distances after.
    pub after: u64,
    /// Successive reads of which one is for an ordered function, and the other for one that is not.
    pub crossings: u64,
    /// Their part of `after`.
    pub crossing_distance: u64,
    /// The part of successive reads that are both for functions outside the order.
    pub outside_distance: u64,
    /// The functions to which these ways lead, the farthest first: the ones to move, if the
    /// linker can be made to.
    pub far: Vec<FarFunction>,
}

/// Whether an order increases the seek distance of a run, and why.
///
/// `before` and `after` are the same run in the present layout and in the one with the order.
pub fn distance_rise(
    before: &RunForecast,
    after: &RunForecast,
    order: &[FunctionId],
) -> Option<DistanceRise> {
    let distance = before.replay.distance();
    (after.replay.distance() > distance).then(|| explain(distance, after, order))
}

fn explain(before: u64, after: &RunForecast, order: &[FunctionId]) -> DistanceRise {
    let ordered: FxHashSet<FunctionId> = order.iter().copied().collect();
    let touched = after.touched.pages.iter().zip(&after.touched.by);
    let by: FxHashMap<ImagePage, FunctionId> = touched.map(|(page, by)| (*page, *by)).collect();
    let mut rise = DistanceRise {
        before,
        after: after.replay.distance(),
        crossings: 0,
        crossing_distance: 0,
        outside_distance: 0,
        far: Vec::new(),
    };
    let mut far: FxHashMap<FunctionId, u64> = FxHashMap::default();
    for pair in after.replay.reads.windows(2) {
        let [Some(from), Some(to)] = [by.get(&pair[0].cause), by.get(&pair[1].cause)] else {
            continue;
        };
        let distance = pair[1].distance;
        let outside = match (ordered.contains(from), ordered.contains(to)) {
            (true, true) => continue,
            (false, true) => from,
            (_, false) => to,
        };
        if ordered.contains(from) || ordered.contains(to) {
            rise.crossings += 1;
            rise.crossing_distance += distance;
        } else {
            rise.outside_distance += distance;
        }
        *far.entry(*outside).or_default() += distance;
    }
    rise.far =
        far.into_iter().map(|(function, distance)| FarFunction { function, distance }).collect();
    rise.far.sort_by_key(|far| (std::cmp::Reverse(far.distance), far.function));
    rise
}
