//! An order of twenty traces of twenty thousand functions each: time and memory.

use super::bed::{Bed, text};
use crate::report::Row;
use anyhow::{Context as _, Result, ensure};
use image::{FunctionTable, TableFunction};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

const TRACES: u64 = 20;
const FUNCTIONS: usize = 20_000;
/// Functions that every trace has, as launches of one program have most in common.
const COMMON: usize = 15_000;
const MOST_US: f64 = 1e6;
const MOST_KIB: u64 = 300 << 10;
const RUNS: &str = "7";

pub fn rows(bed: &Bed) -> Result<Vec<Row>> {
    let table = image::function_table(&bed.base)?;
    let header = fs::read_to_string(&bed.traces[0])?;
    let header = header.lines().next().context("an empty trace")?;
    let program = serde_json::from_str::<serde_json::Value>(header)?;
    let first = program.pointer("/modules/0/path").and_then(serde_json::Value::as_str);
    ensure!(first == Some(text(&bed.base)?), "the first module is {first:?}");
    let write = |number| generated(bed, &table, header, number);
    let traces: Vec<PathBuf> = (0..TRACES).map(write).collect::<Result<_>>()?;
    let out = bed.context.scratch.join("many.order");
    let mut words = vec![text(&bed.context.headstart.program)?, "order", "write"];
    words.extend(["--linker", "lld", "--out", text(&out)?]);
    for trace in &traces {
        words.push(text(trace)?);
    }
    let results = bed.context.headstart.measure(&["--runs", RUNS, "--no-pin"], &words)?;
    let found = results.variants.first().context("nothing was measured")?;
    let (us, kib) = (found.summary.median_us, found.peak_rss_kib.get().context("no peak")?);
    let lines = fs::read_to_string(&out)?.lines().count();
    let time = format!("{:.2} s (fastest {:.2})", us / 1e6, found.summary.min_us / 1e6);
    Ok(vec![
        Row::shown("names in the order of 20 traces", lines.to_string()),
        Row::bar("order of 20 traces × 20,000 functions", time, "≤ 1 s", us <= MOST_US),
        Row::bar("its peak memory", format!("{} MiB", kib >> 10), "≤ 300 MiB", kib <= MOST_KIB),
    ])
}

/// A trace with functions that all have in common and some of its own, these mixed in.
fn generated(bed: &Bed, table: &FunctionTable, header: &str, number: u64) -> Result<PathBuf> {
    let named: Vec<&TableFunction> =
        table.functions.iter().filter(|function| !function.names.is_empty()).collect();
    let common = shuffled(named.len(), 1);
    let (common, others) = common.split_at(COMMON.min(common.len()));
    let own = shuffled(others.len(), number + 2);
    let own: Vec<usize> = own.iter().take(FUNCTIONS - COMMON).map(|at| others[*at]).collect();
    let mut text = format!("{header}\n").into_bytes();
    let mut own = own.chunks(1);
    for next in common.chunks(3) {
        for index in next.iter().chain(own.next().unwrap_or_default()) {
            let function = named[*index];
            let rva = function.address.since(table.preferred_base).context("below its base")?;
            let name = serde_json::to_string(&function.names[0])?;
            writeln!(text, "[0,0,\"{rva:#x}\",{},{name}]", function.bytes)?;
        }
    }
    writeln!(text, "{{\"calls\":{FUNCTIONS}}}")?;
    let file = bed.context.scratch.join(format!("generated-{number}.trace"));
    write(&file, &text)?;
    Ok(file)
}

fn write(file: &Path, text: &[u8]) -> Result<()> {
    fs::write(file, text).with_context(|| format!("{} cannot be written", file.display()))
}

/// The numbers below `count` in an order that only `seed` decides.
fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let key = |index: usize| {
        // The finalizer of splitmix64.
        let mut key = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (seed << 40);
        key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        key ^ (key >> 31)
    };
    let mut all: Vec<usize> = (0..count).collect();
    all.sort_by_key(|index| key(*index));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_the_seed_decides_where() {
        let (one, other) = (shuffled(100, 1), shuffled(100, 2));
        assert_ne!(one, other);
        assert_eq!(one, shuffled(100, 1));
        let mut sorted = one;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100));
    }
}
