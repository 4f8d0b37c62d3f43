//! What making a bundle costs, and what giving it a new base.

use super::variants::Subject;
use crate::context::Context;
use crate::report::Row;
use anyhow::{Context as _, Result};
use std::time::Instant;

/// On all CPUs, as a user runs it.
const RUNS: [&str; 3] = ["--runs", "5", "--no-pin"];
const MOST_S: f64 = 1.0;
const MOST_MIB: f64 = 400.0;
const MOST_MS: f64 = 50.0;

/// Whole processes of headstart, medians of five.
///
/// # Errors
/// One fails.
pub fn rows(context: &Context, subject: &Subject) -> Result<Vec<Row>> {
    let headstart = &context.headstart;
    let program = headstart.program.display().to_string();
    let name = subject.name.as_str();
    let mut rows = Vec::new();
    let folder = context.scratch.join("cost").display().to_string();
    let prepare = format!("rm -rf {folder}");
    for kind in [&["bundle"][..], &["bundle", "--fixed"]] {
        let command = [&[program.as_str()], kind, &["--out", &folder, name]].concat();
        let results =
            headstart.measure(&[&RUNS[..], &["--prepare", &prepare]].concat(), &command)?;
        let made = results.variants.first().context("no variant")?;
        let (s, mib) = (
            made.summary.median_us / 1e6,
            *made.peak_rss_kib.value().context("no peak")? as f64 / 1024.0,
        );
        let kind = kind.join(" ");
        let time = format!("{s:.2} s (fastest {:.2} s)", made.summary.min_us / 1e6);
        rows.push(Row::bar(format!("{kind} of {name}, time"), time, "≤ 1 s", s <= MOST_S));
        let peak = format!("{mib:.0} MiB");
        rows.push(Row::bar(format!("{kind} of {name}, peak"), peak, "≤ 400 MiB", mib <= MOST_MIB));
    }
    let start = Instant::now();
    headstart.run(&["rerandomize", &folder])?;
    let first_ms = start.elapsed().as_secs_f64() * 1e3;
    let results = headstart.measure(&RUNS, &[&program, "rerandomize", &folder])?;
    let later = &results.variants.first().context("no variant")?.summary;
    let ms = later.median_us / 1e3;
    let value = format!(
        "{ms:.0} ms (fastest {:.0} ms; the first time {first_ms:.0} ms)",
        later.min_us / 1e3
    );
    rows.push(Row::bar(
        format!("rerandomize {name}, later times"),
        value,
        "≤ 50 ms",
        ms <= MOST_MS,
    ));
    std::fs::remove_dir_all(&folder)?;
    Ok(rows)
}
