//! Functions that the same runs call.

use super::super::called::Called;

/// The functions of one signature.
#[derive(Debug)]
pub(super) struct Block {
    /// In order of first call.
    pub items: Vec<usize>,
    /// What they take, each at its alignment.
    pub bytes: f32,
    /// Whether each run calls them.
    pub is_called: Vec<bool>,
    /// The weights of these runs together.
    pub weight: f64,
}

/// The blocks, those of the most runs first.
pub(super) fn blocks(called: &Called) -> Vec<Block> {
    let signatures = signatures(called);
    let mut items: Vec<usize> = (0..called.len()).collect();
    items.sort_by(|a, b| signatures[*b].cmp(&signatures[*a]));
    let same = items.chunk_by(|a, b| signatures[*a] == signatures[*b]);
    let mut blocks: Vec<Block> =
        same.map(|items| block(called, items, &signatures[items[0]])).collect();
    blocks.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    blocks
}

/// For each item a bit for each run, the first run in the highest bit.
fn signatures(called: &Called) -> Vec<Vec<u64>> {
    let words = called.runs.len().div_ceil(64);
    let mut signatures = vec![vec![0; words]; called.len()];
    for (at, run) in called.runs.iter().enumerate() {
        for item in &run.items {
            signatures[*item][at / 64] |= 1 << (63 - at % 64);
        }
    }
    signatures
}

fn block(called: &Called, items: &[usize], signature: &[u64]) -> Block {
    let runs = 0..called.runs.len();
    let is_called: Vec<bool> =
        runs.map(|run| signature[run / 64] >> (63 - run % 64) & 1 == 1).collect();
    let calling = called.runs.iter().zip(&is_called).filter(|(_, is_called)| **is_called);
    let bytes = |item: &usize| {
        let bytes = u64::from(called.bytes[*item]);
        bytes.next_multiple_of(u64::from(called.alignment[*item]))
    };
    Block {
        items: items.to_vec(),
        bytes: items.iter().map(bytes).sum::<u64>() as f32,
        weight: calling.map(|(run, _)| run.weight).sum(),
        is_called,
    }
}
