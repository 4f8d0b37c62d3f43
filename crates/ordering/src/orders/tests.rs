//! Every algorithm makes a permutation, and each does what it says.
#![allow(clippy::unwrap_used)]

use crate::function::functions;
use crate::{Algorithm, CalledFunctions, Movability, PlacedFunction, order};
use model::FunctionId;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn run(weight: f64, calls: &[u32]) -> CalledFunctions {
    let first_calls = calls.iter().map(|call| FunctionId(*call)).collect();
    CalledFunctions { weight, first_calls, counts: Vec::new() }
}

fn numbers(order: Vec<FunctionId>) -> Vec<u32> {
    order.into_iter().map(|id| id.0).collect()
}

#[test]
fn the_first_calls_of_the_run_that_counts_most_come_first() {
    let runs = [run(1.0, &[4, 3, 2]), run(2.0, &[1, 2])];
    assert_eq!(numbers(order(Algorithm::FirstCall, &functions(&[64; 5]), &runs)), [1, 2, 4, 3]);
}

#[test]
fn counts_are_summed_by_weight() {
    let often = CalledFunctions { counts: vec![1, 10, 3], ..run(1.0, &[0, 1, 2]) };
    let runs = [often, run(0.5, &[2]), run(f64::NAN, &[3])];
    let functions = functions(&[64; 4]);
    assert_eq!(numbers(order(Algorithm::CallCount, &functions, &runs)), [1, 2, 0, 3]);
}

#[test]
fn a_function_follows_its_likeliest_caller_within_a_page() {
    let runs = [run(1.0, &[0, 2, 1]), run(1.0, &[0, 2]), run(1.0, &[1, 3])];
    let small = numbers(order(Algorithm::C3, &functions(&[64; 4]), &runs));
    let at = |number: u32| small.iter().position(|other| *other == number);
    assert_eq!(at(2), at(0).map(|at| at + 1));
    // Both do not fit into one page: they stay clusters of their own, the denser one first.
    let large = order(Algorithm::C3, &functions(&[4000, 64, 4000, 64]), &runs[1..2]);
    assert_eq!(numbers(large), [0, 2]);
    let large = order(Algorithm::C3, &functions(&[4000, 64, 200, 64]), &runs[1..2]);
    assert_eq!(numbers(large), [2, 0]);
}

#[test]
fn balanced_partitioning_parts_runs_that_share_nothing() {
    let even: Vec<u32> = (0..64).step_by(2).collect();
    let odd: Vec<u32> = (1..64).step_by(2).collect();
    let runs = [run(1.0, &even), run(1.0, &odd)];
    let made = numbers(order(Algorithm::BalancedPartitioning, &functions(&[64; 64]), &runs));
    // The heads of both, and the tails of both, are near each other; neither pair is mixed.
    let changes = made.windows(2).filter(|pair| pair[0] % 2 != pair[1] % 2).count();
    assert!(changes <= 3, "{made:?}");
}

#[test]
fn functions_of_one_signature_are_side_by_side_in_order_of_first_call() {
    let runs = [run(1.0, &[9, 1, 5, 3]), run(1.0, &[3, 9, 7, 8]), run(1.0, &[6, 9, 3])];
    let made = numbers(order(Algorithm::Signature, &functions(&[64; 10]), &runs));
    for same in [[9, 3], [1, 5], [7, 8]] {
        assert!(made.windows(2).any(|pair| pair == same), "{same:?} in {made:?}");
    }
}

#[test]
fn signatures_of_more_runs_than_a_word_has_bits_are_told_apart() {
    // Functions 0 and 2 are called by the first 69 runs, 1 and 3 by the last one, too.
    let mut runs = vec![run(1.0, &[0, 1, 2, 3]); 69];
    runs.push(run(1.0, &[1, 3]));
    let made = numbers(order(Algorithm::Signature, &functions(&[64; 4]), &runs));
    assert_eq!(made, [1, 3, 0, 2]);
}

#[test]
fn blocks_stand_so_that_each_run_finds_its_own_without_a_gap() {
    // Blocks of two pages, called by all three runs, by two neighbors of them, or by one.
    let sizes = [8192; 6];
    let runs = [run(1.0, &[0, 1, 3]), run(1.0, &[0, 1, 2, 4]), run(1.0, &[0, 2, 5])];
    let made = numbers(order(Algorithm::Signature, &functions(&sizes), &runs));
    let gaps = |run: &CalledFunctions| {
        let called: Vec<bool> =
            made.iter().map(|number| run.first_calls.contains(&FunctionId(*number))).collect();
        called.windows(2).filter(|pair| *pair == [true, false]).count()
    };
    // 3 1 0 2 5 with 4 at one end: only the second run, which calls 4, has a gap.
    assert!(runs.iter().map(gaps).sum::<usize>() <= 4, "{made:?}");
    let by_runs = [0, 1, 2, 3, 4, 5];
    assert_ne!(made, by_runs, "blocks of most runs first leave five gaps");
}

#[test]
fn an_order_of_nothing_is_empty() {
    for algorithm in Algorithm::ALL {
        assert_eq!(order(algorithm, &[], &[]), []);
        assert_eq!(order(algorithm, &functions(&[64]), &[run(1.0, &[])]), []);
        assert_eq!(order(algorithm, &functions(&[64]), &[run(1.0, &[7])]), []);
    }
}

prop_compose! {
    /// Functions of which some cannot be moved, and whose sizes and alignments are anything.
    fn any_functions()(
        all in prop::collection::vec((0u32..20_000, 0u32..70, any::<bool>()), 0..60)
    ) -> Vec<PlacedFunction> {
        let mut functions = functions(&all.iter().map(|(bytes, ..)| *bytes).collect::<Vec<_>>());
        for (function, (_, alignment, movable)) in functions.iter_mut().zip(all) {
            function.alignment = alignment;
            function.movability = if movable { Movability::Free } else { Movability::InLinkOrder };
        }
        functions
    }
}

prop_compose! {
    /// Runs with calls that repeat, and calls of functions that there are not.
    fn any_runs()(
        all in prop::collection::vec((any::<f64>(), prop::collection::vec(0u32..70, 0..80)), 0..12)
    ) -> Vec<CalledFunctions> {
        all.into_iter().map(|(weight, calls)| run(weight, &calls)).collect()
    }
}

proptest! {
    #[test]
    fn an_order_has_each_called_movable_function_once(
        functions in any_functions(),
        runs in any_runs(),
    ) {
        let called = runs.iter().flat_map(|run| &run.first_calls);
        let is_movable = |id: &&FunctionId| functions.get(id.index()).is_some_and(PlacedFunction::is_free);
        let expected: BTreeSet<FunctionId> = called.filter(is_movable).copied().collect();
        for algorithm in Algorithm::ALL {
            let made = order(algorithm, &functions, &runs);
            prop_assert_eq!(made.len(), expected.len());
            prop_assert_eq!(&made.iter().copied().collect::<BTreeSet<_>>(), &expected);
            prop_assert_eq!(order(algorithm, &functions, &runs), made);
        }
    }
}
