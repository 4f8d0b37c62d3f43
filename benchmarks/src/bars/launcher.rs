//! The cost of a launch itself, against a bare loop and against hyperfine.

use crate::context::Context;
use crate::headstart::Headstart;
use crate::hyperfine;
use crate::report::{Report, Row};
use crate::statistics::{least, median};
use crate::subjects::c_programs::{BARE, Bare, NOOP, STATIC, build};
use anyhow::{Context as _, Result};

const BLOCKS: usize = 12;
const LAUNCHES: u32 = 200;
/// The fastest launch, against the bare loop's.
const MOST_OVER_BARE: f64 = 1.15;
/// hyperfine's median, against ours.
const LEAST_UNDER_HYPERFINE: f64 = 1.9;

/// Launches of one launcher, by block, in microseconds.
#[derive(Default)]
struct Blocks(Vec<Vec<f64>>);

impl Blocks {
    fn min(&self) -> f64 {
        least(&self.0.concat())
    }

    fn median(&self) -> f64 {
        median(self.0.concat())
    }
}

/// Three launchers take turns on one CPU, without environment variables; who begins changes from
/// block to block.
///
/// # Errors
/// One of them fails.
pub fn check(context: &Context) -> Result<Report> {
    let noop = build(&context.scratch, "noop", NOOP, &STATIC)?;
    let program = build(&context.scratch, "bare", BARE, &["-O2"])?;
    let bare = Bare { program: &program, cpu: context.cpu, mebibytes: 0, fork: false };
    let target = noop.to_str().context("a path that is not UTF-8")?;
    let (runs, cpu) = (LAUNCHES.to_string(), context.cpu.to_string());
    let options = ["--runs", &runs, "--warmup", "5", "--cpu", &cpu];
    let headstart = Headstart { empty_environment: true, ..context.headstart.clone() };
    let pinned = hyperfine::Pinned { empty_environment: true, ..context.pinned() };
    let mut all: [Blocks; 3] = Default::default();
    for block in 0..BLOCKS {
        for turn in 0..all.len() {
            let which = (block + turn) % all.len();
            let times = match which {
                0 => {
                    let results = headstart.measure(&options, &[target])?;
                    results.variants.first().context("no variant")?.times_us.clone()
                }
                1 => bare.times_us(LAUNCHES, &noop)?,
                _ => {
                    let runs = hyperfine::run(pinned, LAUNCHES, &[target])?;
                    runs.iter().flat_map(|run| run.times.iter().map(|s| s * 1e6)).collect()
                }
            };
            all[which].0.push(times);
        }
    }
    Ok(report(&all))
}

fn report([ours, bare, hyperfine]: &[Blocks; 3]) -> Report {
    let over = ours.min() / bare.min();
    let under = hyperfine.median() / ours.median();
    let us = |us: f64| format!("{us:.1} µs");
    let each = format!("{BLOCKS} blocks × {LAUNCHES}, interleaved");
    let rows = vec![
        Row::shown("launches of each", each),
        Row::shown("fastest", us(ours.min())).beside(format!("bare {}", us(bare.min()))),
        Row::bar("fastest ÷ bare loop's", format!("{over:.3}"), "≤ 1.15", over <= MOST_OVER_BARE)
            .beside(format!("hyperfine {:.2}", hyperfine.min() / bare.min())),
        Row::shown("median", us(ours.median())).beside(format!(
            "bare {}, hyperfine -N {}",
            us(bare.median()),
            us(hyperfine.median())
        )),
        Row::bar(
            "hyperfine's median ÷ ours",
            format!("{under:.2}"),
            "≥ 1.9",
            under >= LEAST_UNDER_HYPERFINE,
        )
        .beside(format!("bare {:.2}", hyperfine.median() / bare.median())),
    ];
    Report { rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_over_all_blocks() {
        let blocks = |values: [f64; 3]| Blocks(vec![vec![values[0], values[1]], vec![values[2]]]);
        let sets =
            [blocks([44.0, 50.0, 60.0]), blocks([40.0, 50.0, 60.0]), blocks([80.0, 90.0, 100.0])];
        let report = report(&sets);
        let verdicts: Vec<_> = report.rows.iter().filter_map(|row| row.good).collect();
        assert_eq!(verdicts, [true, false], "{report}");
        assert!(report.to_string().contains("1.100") && report.to_string().contains("1.80"));
    }
}
