//! Signature order: what the same runs call is together.
//!
//! The signature of a function is the set of runs that call it. Functions of one signature are a
//! block, in order of first call. A run touches blocks whole, or not at all, so that inside a block
//! no byte is read in vain; and a run that nobody traced mostly calls what similar runs called.
//!
//! What is left to choose is the order of the blocks. Where a block that a run does not call is
//! between two that it calls, that run touches parts of pages in vain, and has to read again behind
//! the gap. The blocks are put where that costs least over all runs ([`gap`]), by inserting one
//! after the other where it costs least, the largest first, and then trying each again
//! ([`sequence`]). The end with the functions of most runs comes first.
//!
//! The idea to group functions by the runs that call them is headstart's own; the search is the
//! insertion heuristic of the traveling salesman problem.
//!
//! Tried on a compiler of 176,000 functions and 22 launches of it, each left out in turn, and not
//! kept because it was no better: inside a block, functions of one file side by side, the order of
//! balanced partitioning, or the mean time of call; exchanging whole stretches of blocks; further
//! runs made up of what many runs have in common. What remains above the floor is mostly functions
//! that no other run called; they stay in link order. Neighbors of called functions are two to three
//! times as likely to be among them as others, which is too rarely to place them by it: a tenth of
//! all uncalled code has a fifth of them.

mod block;
mod gap;
mod sequence;

use super::called::Called;
use block::Block;
use sequence::Sequence;

/// Steps of the search, each of one place for one block in one run: at most a quarter of a second.
const STEPS: usize = 25_000_000;
/// How often each block is put where it fits best: once to insert it, then to try again.
const ROUNDS: usize = 3;

pub(super) fn order(called: &Called) -> Vec<usize> {
    let blocks = block::blocks(called);
    let weights: Vec<f32> = called.runs.iter().map(|run| run.weight as f32).collect();
    let mut largest: Vec<usize> = (0..blocks.len()).collect();
    largest.sort_by(|a, b| blocks[*b].bytes.total_cmp(&blocks[*a].bytes));
    let (large, small) = largest.split_at(searched(blocks.len(), called.runs.len()));

    let mut sequence = Sequence::new(&blocks, &weights);
    large.iter().for_each(|block| sequence.insert(*block));
    for _ in 1..ROUNDS {
        large.iter().for_each(|block| sequence.insert_again(*block));
    }
    let order = most_called_end_first(&blocks, sequence.with_small(small));
    order.into_iter().flat_map(|block| blocks[block].items.iter().copied()).collect()
}

/// How many of the blocks are searched for a place among each other. The others, which are small,
/// get their places among these, and none among themselves: a search without an end serves nobody
/// where thousands of runs call at random.
fn searched(blocks: usize, runs: usize) -> usize {
    let steps = STEPS / runs.max(1);
    let each_with_all = (steps / ROUNDS).isqrt();
    if blocks <= each_with_all { blocks } else { each_with_all.min(steps / blocks) }
}

/// The sequence, or its reverse if more runs call its last block than its first.
fn most_called_end_first(blocks: &[Block], mut order: Vec<usize>) -> Vec<usize> {
    let weight = |block: Option<&usize>| block.map_or(0.0, |block| blocks[*block].weight);
    if weight(order.last()) > weight(order.first()) {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::{ROUNDS, STEPS, searched};

    #[test]
    fn the_search_takes_so_many_steps_and_no_more() {
        for runs in [1, 20, 1_000, 100_000] {
            for blocks in [0, 1, 394, 5_000, 100_000, 1_000_000] {
                let large = searched(blocks, runs);
                let steps = (large * large * ROUNDS).max(large * (blocks - large)) * runs;
                assert!(large <= blocks && steps <= STEPS, "{runs} {blocks}: {large}");
            }
        }
        assert_eq!(searched(394, 22), 394);
    }
}
