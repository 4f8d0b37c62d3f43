//! `explain --hot` finds what Dawson found by hand.

use crate::context::Context;
use crate::report::{Report, Row};
use anyhow::{Context as _, Result};
use model::Hot;
use std::path::Path;

const LEAST_SHARE: f64 = 0.70;

/// A launch that spends its time comparing names of libraries.
///
/// # Errors
/// The workload cannot be written, or explain fails.
pub fn check(context: &Context) -> Result<Report> {
    let out = context.scratch.join("dense");
    let folder = out.display().to_string();
    context.headstart.run(&["generate", "shape", "dense", "--n", "512", "--out", &folder])?;
    let hot = hot(context, &out.join("main"))?;
    let top = hot.functions.first().context("no function has a sample")?;
    let value = format!("{} of {}, {:.1} %", top.function, top.module, top.share * 100.0);
    let good = top.share >= LEAST_SHARE && top.function.contains("strcmp");
    Ok(Report { rows: vec![Row::bar("dense, n = 512", value, "strcmp ≥ 70 %", good)] })
}

fn hot(context: &Context, program: &Path) -> Result<Hot> {
    let program = program.display().to_string();
    let explanation = context.headstart.explain(&["--hot"], &[&program])?;
    let hot = explanation.hot.context("no samples")?;
    let reason = hot.reason().unwrap_or_default().to_owned();
    hot.value().cloned().context(reason)
}
