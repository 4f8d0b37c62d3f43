//! A sequence of blocks, and the place in it where one more costs least.

use super::block::Block;
use super::gap::{LARGEST, cost};
use rayon::prelude::*;
use std::ops::Range;

/// Runs that are computed at once.
const LANES: usize = 8;
/// A figure of each of so many runs. Runs that there are not weigh nothing.
type Lanes = [f32; LANES];

/// Blocks in a row. Place `p` is before the block at `p`, or behind the last one.
pub(super) struct Sequence<'a> {
    blocks: &'a [Block],
    /// How much each run counts.
    weights: Vec<Lanes>,
    order: Vec<usize>,
    places: Places,
}

/// What is between the blocks, for each place and run.
struct Places {
    /// Bytes back to the nearest block that the run calls.
    back: Vec<Lanes>,
    /// Bytes forward to the nearest one.
    forward: Vec<Lanes>,
    /// What a block costs that the run calls: one more gap.
    divided: Vec<Lanes>,
}

impl<'a> Sequence<'a> {
    /// An empty sequence, for runs of these weights.
    pub fn new(blocks: &'a [Block], weights: &[f32]) -> Sequence<'a> {
        let weights = lanes(weights);
        let places = Places::of_none(weights.len());
        Sequence { blocks, weights, order: Vec::new(), places }
    }

    /// Inserts a block where it costs least.
    pub fn insert(&mut self, block: usize) {
        let place = self.cheapest(&self.blocks[block]);
        self.order.insert(place, block);
        self.places.divide(place, self.weights.len());
        self.measure(place + 1, place + 1);
    }

    /// Takes a block out and inserts it where it costs least now.
    pub fn insert_again(&mut self, block: usize) {
        if let Some(place) = self.order.iter().position(|other| *other == block) {
            self.order.remove(place);
            self.places.join(place, self.weights.len());
            self.measure(place + 1, place);
        }
        self.insert(block);
    }

    /// The blocks in order, and further ones, each where it costs least among those of the
    /// sequence.
    pub fn with_small(self, small: &[usize]) -> Vec<usize> {
        let mut placed: Vec<(usize, usize)> =
            small.par_iter().map(|block| (self.cheapest(&self.blocks[*block]), *block)).collect();
        placed.sort_unstable();
        let mut order = Vec::with_capacity(self.order.len() + small.len());
        let mut placed = placed.into_iter().peekable();
        for place in 0..=self.order.len() {
            while let Some((_, block)) = placed.next_if(|(other, _)| *other == place) {
                order.push(block);
            }
            order.extend(self.order.get(place));
        }
        order
    }

    /// The place where a block costs least; the first of several.
    fn cheapest(&self, block: &Block) -> usize {
        let calling: Vec<f32> =
            block.is_called.iter().map(|is_called| f32::from(*is_called)).collect();
        let calling = lanes(&calling);
        let mut cheapest = (f32::INFINITY, 0);
        for place in 0..=self.order.len() {
            let cost = self.cost_at(place, block.bytes, &calling);
            if cost < cheapest.0 {
                cheapest = (cost, place);
            }
        }
        cheapest.1
    }

    /// By how much a block at a place makes the gaps of all runs cost more. `calling` is 1 for runs
    /// that call the block, and 0 for those that do not.
    fn cost_at(&self, place: usize, bytes: f32, calling: &[Lanes]) -> f32 {
        let at = place * self.weights.len()..(place + 1) * self.weights.len();
        let gaps = self.places.back[at.clone()].iter().zip(&self.places.forward[at.clone()]);
        let runs = gaps.zip(&self.places.divided[at]).zip(&self.weights).zip(calling);
        let mut sum = Lanes::default();
        for ((((back, forward), divided), weights), calling) in runs {
            for lane in 0..LANES {
                let gap = back[lane] + forward[lane];
                let longer = cost(gap + bytes) - cost(gap);
                let change = longer + calling[lane] * (divided[lane] - longer);
                sum[lane] += weights[lane] * change;
            }
        }
        sum.iter().sum()
    }

    /// Measures the gaps anew where they may have changed: back from the places from `behind` on,
    /// and forward from those below `before`. Where a gap is as it was, so are those beyond.
    fn measure(&mut self, behind: usize, before: usize) {
        let (runs, places) = (self.weights.len(), &mut self.places);
        let (mut first, mut end) = (behind.saturating_sub(1), behind);
        for place in behind..=self.order.len() {
            let (known, rest) = places.back.split_at_mut(place * runs);
            let block = &self.blocks[self.order[place - 1]];
            if !step(&mut rest[..runs], &known[(place - 1) * runs..], block) {
                break;
            }
            end = place + 1;
        }
        for place in (0..before).rev() {
            let (rest, known) = places.forward.split_at_mut((place + 1) * runs);
            if !step(&mut rest[place * runs..], &known[..runs], &self.blocks[self.order[place]]) {
                break;
            }
            first = first.min(place);
        }
        places.cost(first * runs..end * runs);
    }
}

impl Places {
    /// The one place of an empty sequence.
    fn of_none(runs: usize) -> Places {
        let far = vec![[LARGEST; LANES]; runs];
        let mut places = Places { back: far.clone(), forward: far.clone(), divided: far };
        places.cost(0..runs);
        places
    }

    /// Makes two of a place. What was behind it is behind both, and what was before it, before.
    fn divide(&mut self, place: usize, runs: usize) {
        let row = place * runs..(place + 1) * runs;
        for rows in [&mut self.back, &mut self.forward, &mut self.divided] {
            let copy = rows[row.clone()].to_vec();
            rows.splice(row.start..row.start, copy);
        }
    }

    /// Makes one of a place and the next one.
    fn join(&mut self, place: usize, runs: usize) {
        let (first, second) =
            (place * runs..(place + 1) * runs, (place + 1) * runs..(place + 2) * runs);
        self.back.drain(second);
        self.forward.drain(first.clone());
        self.divided.drain(first);
    }

    /// What one more gap costs in these rows.
    fn cost(&mut self, rows: Range<usize>) {
        let gaps = self.back[rows.clone()].iter().zip(&self.forward[rows.clone()]);
        for ((back, forward), divided) in gaps.zip(&mut self.divided[rows]) {
            for lane in 0..LANES {
                let now = cost(back[lane] + forward[lane]);
                divided[lane] = cost(back[lane]) + cost(forward[lane]) - now;
            }
        }
    }
}

/// The gaps on one side of a block, from those on its other side; whether any is new.
fn step(gaps: &mut [Lanes], beyond: &[Lanes], block: &Block) -> bool {
    let runs = gaps.as_flattened_mut().iter_mut().zip(beyond.as_flattened());
    let mut is_new = false;
    for ((gap, beyond), is_called) in runs.zip(&block.is_called) {
        let now = if *is_called { 0.0 } else { (beyond + block.bytes).min(LARGEST) };
        is_new |= now != *gap;
        *gap = now;
    }
    is_new
}

/// Figures of runs in groups, filled up with zeros.
fn lanes(figures: &[f32]) -> Vec<Lanes> {
    let groups = figures.chunks(LANES);
    groups
        .map(|group| std::array::from_fn(|lane| group.get(lane).copied().unwrap_or(0.0)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Bytes from place `at` to the nearest block that `run` calls, block by block.
    fn gap<'a>(mut blocks: impl Iterator<Item = &'a Block>, run: usize) -> f32 {
        let mut bytes = 0.0;
        let found = blocks.any(|block| {
            bytes += if block.is_called[run] { 0.0 } else { block.bytes };
            block.is_called[run]
        });
        if found { LARGEST.min(bytes) } else { LARGEST }
    }

    prop_compose! {
        fn any_blocks()(
            all in prop::collection::vec((1u16..60_000, prop::collection::vec(any::<bool>(), 11)), 1..40)
        ) -> Vec<Block> {
            let block = |(bytes, is_called): (u16, Vec<bool>)| {
                Block { items: Vec::new(), bytes: f32::from(bytes), is_called, weight: 1.0 }
            };
            all.into_iter().map(block).collect()
        }
    }

    proptest! {
        #[test]
        fn gaps_are_those_of_the_blocks_around(
            blocks in any_blocks(),
            again in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let mut sequence = Sequence::new(&blocks, &[1.0; 11]);
            (0..blocks.len()).for_each(|block| sequence.insert(block));
            again.iter().for_each(|block| sequence.insert_again(block.index(blocks.len())));
            let Sequence { order, places, weights, .. } = &sequence;
            prop_assert_eq!(order.len(), blocks.len());
            for place in 0..=order.len() {
                let (before, behind) = order.split_at(place);
                for run in 0..11 {
                    let row = place * weights.len() + run / LANES;
                    let back = gap(before.iter().rev().map(|block| &blocks[*block]), run);
                    let forward = gap(behind.iter().map(|block| &blocks[*block]), run);
                    prop_assert_eq!(places.back[row][run % LANES], back);
                    prop_assert_eq!(places.forward[row][run % LANES], forward);
                    let divided = cost(back) + cost(forward) - cost(back + forward);
                    prop_assert_eq!(places.divided[row][run % LANES], divided);
                }
            }
        }
    }
}
