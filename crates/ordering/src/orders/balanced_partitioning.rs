//! Balanced partitioning: Hoag, Lee, Mestre, Pupyrev and Zhu, *Optimizing Function Layout for
//! Mobile Applications*, LCTES 2023; what LLVM does for start-up (`--bp-startup-sort=function`,
//! `llvm-profdata order`).
//!
//! The functions that a run called first are a group: the first 2, the first 4, the first 8 and so
//! on. Functions are divided into two halves so that the functions of a group are in one half, as
//! far as possible, by exchanging those that gain most; then each half is divided in the same way.
//! LLVM counts all runs alike, and so does this.

use super::called::Called;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashMap;

/// Parts are divided so often at most.
const DEPTH: u32 = 18;
/// Rounds of exchanges in one division.
const ROUNDS: usize = 40;
/// How often an exchange is left out, so that the search does not end in the first dead end.
const SKIPPED: f64 = 0.1;

/// A function, and the groups that it is in.
struct Node {
    item: usize,
    groups: Vec<u32>,
    is_left: bool,
}

/// How many of a group are in each half, and what moving one would gain.
#[derive(Clone, Copy, Default)]
struct Group {
    left: u32,
    right: u32,
    gain_to_right: f64,
    gain_to_left: f64,
}

pub(super) fn order(called: &Called) -> Vec<usize> {
    let mut nodes = nodes(called);
    divide(&mut nodes, 0, 1);
    nodes.into_iter().map(|node| node.item).collect()
}

/// The functions in order of first call, with their groups.
fn nodes(called: &Called) -> Vec<Node> {
    let longest = called.runs.iter().map(|run| run.items.len()).max().unwrap_or(0);
    let per_run = longest.max(1).ilog2() + 1;
    let mut groups = vec![Vec::new(); called.len()];
    let mut earliest = vec![usize::MAX; called.len()];
    for (run, number) in called.runs.iter().zip(0u32..) {
        for (position, item) in run.items.iter().enumerate() {
            let from = (position + 1).ilog2();
            groups[*item].extend((from..per_run).map(|size| number * per_run + size));
            earliest[*item] = earliest[*item].min(position);
        }
    }
    let nodes = groups.into_iter().enumerate();
    let mut nodes: Vec<Node> =
        nodes.map(|(item, groups)| Node { item, groups, is_left: false }).collect();
    nodes.sort_by_key(|node| (earliest[node.item], node.item));
    nodes
}

/// Orders the nodes by dividing them, and then each half.
fn divide(nodes: &mut [Node], depth: u32, part: u64) {
    if nodes.len() <= 1 || depth >= DEPTH {
        return;
    }
    let half = nodes.len().div_ceil(2);
    for (at, node) in nodes.iter_mut().enumerate() {
        node.is_left = at < half;
    }
    exchange(nodes, part);
    // Stable, so that what is not divided any more stays in order of first call.
    nodes.sort_by_key(|node| !node.is_left);
    let middle = nodes.partition_point(|node| node.is_left);
    let (left, right) = nodes.split_at_mut(middle);
    rayon::join(|| divide(left, depth + 1, 2 * part), || divide(right, depth + 1, 2 * part + 1));
}

/// Exchanges nodes between the halves until that gains no more.
fn exchange(nodes: &mut [Node], part: u64) {
    let (members, mut groups) = telling_groups(nodes);
    let mut random = ChaCha8Rng::seed_from_u64(part);
    for _ in 0..ROUNDS {
        groups.iter_mut().for_each(weigh);
        if exchange_once(nodes, &members, &mut groups, &mut random) == 0 {
            break;
        }
    }
}

/// The groups of each node, numbered anew, without those that tell nothing: of one node, or all.
fn telling_groups(nodes: &[Node]) -> (Vec<Vec<u32>>, Vec<Group>) {
    let mut sizes: FxHashMap<u32, usize> = FxHashMap::default();
    for group in nodes.iter().flat_map(|node| &node.groups) {
        *sizes.entry(*group).or_default() += 1;
    }
    sizes.retain(|_, size| *size > 1 && *size < nodes.len());
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut groups: Vec<Group> = Vec::new();
    let mut members = Vec::with_capacity(nodes.len());
    for node in nodes {
        let telling = node.groups.iter().filter(|group| sizes.contains_key(group));
        let mut own = Vec::with_capacity(node.groups.len());
        for group in telling {
            let number = *numbers.entry(*group).or_insert(groups.len() as u32);
            if number as usize == groups.len() {
                groups.push(Group::default());
            }
            let group = &mut groups[number as usize];
            *(if node.is_left { &mut group.left } else { &mut group.right }) += 1;
            own.push(number);
        }
        members.push(own);
    }
    (members, groups)
}

/// What moving one of the group gains.
fn weigh(group: &mut Group) {
    let (left, right) = (group.left, group.right);
    let now = cost(left, right);
    group.gain_to_right = if left > 0 { now - cost(left - 1, right + 1) } else { 0.0 };
    group.gain_to_left = if right > 0 { now - cost(left + 1, right - 1) } else { 0.0 };
}

/// The cost of a group in two halves: it is lowest where all are in one.
fn cost(left: u32, right: u32) -> f64 {
    let part = |count: u32| f64::from(count) * f64::from(count + 1).log2();
    -(part(left) + part(right))
}

/// Exchanges the nodes of each half that gain most, in pairs; says how many moved.
fn exchange_once(
    nodes: &mut [Node],
    members: &[Vec<u32>],
    groups: &mut [Group],
    random: &mut ChaCha8Rng,
) -> usize {
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for (at, node) in nodes.iter().enumerate() {
        let groups = members[at].iter().map(|group| &groups[*group as usize]);
        if node.is_left {
            left.push((groups.map(|group| group.gain_to_right).sum::<f64>(), at));
        } else {
            right.push((groups.map(|group| group.gain_to_left).sum::<f64>(), at));
        }
    }
    let [best_left, best_right] = [&left, &right].map(|half| best(half));
    left.retain(|(gain, _)| gain + best_right > 0.0);
    right.retain(|(gain, _)| gain + best_left > 0.0);
    for half in [&mut left, &mut right] {
        half.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    }
    let mut moved = 0;
    for ((gain, a), (other, b)) in left.into_iter().zip(right) {
        if gain + other <= 0.0 {
            break;
        }
        for at in [a, b] {
            moved += usize::from(change_half(&mut nodes[at], &members[at], groups, random));
        }
    }
    moved
}

/// The largest gain of a half.
fn best(half: &[(f64, usize)]) -> f64 {
    half.iter().map(|(gain, _)| *gain).fold(f64::NEG_INFINITY, f64::max)
}

/// Moves a node to the other half, mostly.
fn change_half(
    node: &mut Node,
    members: &[u32],
    groups: &mut [Group],
    random: &mut ChaCha8Rng,
) -> bool {
    if random.random_bool(SKIPPED) {
        return false;
    }
    for group in members {
        let group = &mut groups[*group as usize];
        if node.is_left {
            group.left -= 1;
            group.right += 1;
        } else {
            group.left += 1;
            group.right -= 1;
        }
    }
    node.is_left = !node.is_left;
    true
}
