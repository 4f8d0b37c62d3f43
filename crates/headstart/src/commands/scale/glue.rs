//! All that a sweep takes from the generators, the law and its views.

use anyhow::Result;
use std::path::Path;

/// The workloads, as they are typed.
pub const KINDS: [&str; 9] = [
    "shape star",
    "shape chain",
    "shape dense",
    "shape symbols",
    "shape search-path",
    "shape tls",
    "shape dlopen",
    "pietrek",
    "dawson",
];

/// The parameters of a workload, the one that grows by default first; `None` for no workload.
pub fn parameters(kind: &str) -> Option<&'static [&'static str]> {
    KINDS.iter().find(|known| **known == kind).map(|kind| match *kind {
        "pietrek" => ["dlls", "functions", "globals"].as_slice(),
        "dawson" => ["functions", "sources", "classes"].as_slice(),
        _ => ["n"].as_slice(),
    })
}

/// Sizes of a workload where none are given: up to where its law shows, and no further.
pub fn sizes(kind: &str, parameter: &str) -> Vec<u64> {
    let largest = match (kind, parameter) {
        ("shape dense", _) => 512,
        ("shape symbols", _) => 16_384,
        ("pietrek", "functions") => 1024,
        ("pietrek" | "dawson", "globals" | "sources") => 64,
        ("dawson", _) => 1600,
        _ => 2048,
    };
    let share = |eighths: u64| largest * eighths / 8;
    [0, 1, 2, 3, 4, 6, 8].map(share).to_vec()
}

/// What a parameter counts.
pub fn noun<'a>(kind: &str, parameter: &'a str) -> &'a str {
    match (kind, parameter) {
        ("shape symbols", _) => "symbols",
        ("shape search-path", _) => "folders searched",
        (_, "n" | "dlls") => "libraries",
        ("pietrek", "functions") => "functions a library",
        ("dawson", "functions") => "functions a class",
        (_, "globals") => "globals a function",
        (_, "classes") => "classes a source file",
        (_, "sources") => "source files",
        (_, other) => other,
    }
}

/// The program of a workload in its folder.
pub fn program(kind: &str) -> &'static str {
    match kind {
        "pietrek" => "LoadTimeTest",
        _ => "main",
    }
}

// MERGE: everything below stands in until crates/workload, model::growth, stats::growth and
// report::scale are merged; the branch w-scale-glue has it as it is then.

use model::Reading;
use report::Style;
use serde::Serialize;

pub const SCALE_SCHEMA: u32 = 1;

#[derive(Clone, Copy, Serialize)]
pub struct Point {
    pub n: u64,
    #[serde(flatten)]
    pub cost: Cost,
}

#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub enum Cost {
    Time { median_us: f64, min_us: f64, low_us: f64, high_us: f64, samples: u32 },
    Count { count: u64 },
}

impl Point {
    pub fn counted(n: u64, count: u64) -> Point {
        Point { n, cost: Cost::Count { count } }
    }
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Us,
    Instructions,
    Syscalls,
    Faults,
}

#[derive(Serialize)]
pub struct Scale {
    pub schema: u32,
    pub headstart: String,
    pub workload: String,
    pub parameter: String,
    pub unit: Unit,
    pub points: Vec<Point>,
    pub fit: Reading<()>,
    pub notes: Vec<String>,
}

pub fn check(kind: &str, parameters: &[(String, u64)]) -> Result<()> {
    match parameters.iter().find(|(_, value)| u32::try_from(*value).is_err()) {
        Some((name, value)) => anyhow::bail!("{kind}: {name} = {value} is too large"),
        None => Ok(()),
    }
}

pub fn generate(kind: &str, parameters: &[(String, u64)], folder: &Path) -> Result<()> {
    anyhow::bail!("{kind} {parameters:?} in {}: no generator is merged yet", folder.display())
}

pub fn fit(_: &[Point]) -> Reading<()> {
    Reading::unavailable("the fit is not merged yet", "")
}

pub fn view(scale: &Scale, _: &Style) -> String {
    let line = |point: &Point| match point.cost {
        Cost::Time { median_us, min_us, .. } => {
            format!("{:>12} {median_us:>14.1} {min_us:>14.1}\n", point.n)
        }
        Cost::Count { count } => format!("{:>12} {count:>14}\n", point.n),
    };
    let notes = scale.notes.iter().map(|note| format!("{note}\n"));
    format!("{}\n", scale.workload)
        + &scale.points.iter().map(line).chain(notes).collect::<String>()
}

pub fn drawings(_: &Scale) -> Vec<(String, String)> {
    Vec::new()
}
