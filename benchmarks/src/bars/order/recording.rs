//! What recording costs, in turns with launches that are not recorded, and beside other recorders.

use super::bed::{Bed, text};
use super::peers;
use crate::report::Row;
use crate::statistics::{least, median};
use anyhow::{Context as _, Result};
use std::process::Command;
use std::time::Instant;

const ROUNDS: usize = 11;
const LEAST_WATCHED: u64 = 200_000;
const MOST_MS: f64 = 300.0;
const MOST_TIMES: f64 = 8.0;

/// Milliseconds of every round.
#[derive(Default)]
struct Times {
    native: Vec<f64>,
    /// With the names of all called functions in a file.
    traced: Vec<f64>,
    /// With a summary only.
    unwritten: Vec<f64>,
}

pub fn rows(bed: &Bed) -> Result<Vec<Row>> {
    let mut times = Times::default();
    let mut watched = 0;
    for _ in 0..ROUNDS {
        times.native.push(native_ms(bed)?);
        let (ms, planted) = traced_ms(bed, true)?;
        times.traced.push(ms);
        watched = planted;
        times.unwritten.push(traced_ms(bed, false)?.0);
    }
    let mut rows = vec![Row::bar(
        "functions planted, h1",
        watched.to_string(),
        &format!("≥ {LEAST_WATCHED}"),
        watched >= LEAST_WATCHED,
    )];
    rows.extend(of_times(&times));
    rows.extend(peers::rows(bed, median(times.traced))?);
    Ok(rows)
}

fn of_times(times: &Times) -> Vec<Row> {
    let Times { native, traced, unwritten } = times;
    let both = |values: &[f64]| format!("{:.0} ms, median {:.0}", least(values), middle(values));
    let ratio = middle(traced) / middle(native);
    let most = format!("≤ {MOST_MS} ms");
    let ratio_text = format!("{ratio:.1} (fastest {:.1})", least(traced) / least(native));
    vec![
        Row::shown("native, fastest", both(native)),
        Row::bar("traced, fastest", both(traced), &most, middle(traced) <= MOST_MS),
        Row::shown("traced without a file, fastest", both(unwritten)),
        Row::bar("median traced ÷ native", ratio_text, "≤ 8", ratio <= MOST_TIMES),
    ]
}

fn middle(values: &[f64]) -> f64 {
    median(values.to_vec())
}

/// The whole process, as one sees it who waits for it.
fn native_ms(bed: &Bed) -> Result<f64> {
    let task = bed.task("h1")?;
    peers::timed_ms(Command::new(&bed.base).args(&task.arguments))
}

/// The same recorded, and how many functions were watched.
fn traced_ms(bed: &Bed, written: bool) -> Result<(f64, u64)> {
    let (task, out) = (bed.task("h1")?, bed.context.scratch.join("timed.trace"));
    let mut words = vec!["trace", "--json"];
    if written {
        words.extend(["--out", text(&out)?]);
    }
    words.extend(["--", text(&bed.base)?]);
    words.extend(task.arguments.iter().map(String::as_str));
    let start = Instant::now();
    let printed = bed.context.headstart.run(&words)?;
    let ms = start.elapsed().as_secs_f64() * 1e3;
    let summary: serde_json::Value = serde_json::from_str(&printed)?;
    let watched = summary.get("watched").and_then(serde_json::Value::as_u64);
    Ok((ms, watched.context("no count of watched functions")?))
}
