//! All that a sweep takes from the generators, the law and its views.

pub use model::growth::{Cost, Point, SCALE_SCHEMA, Scale, Unit};

use crate::exit::Usage;
use anyhow::Result;
use model::Reading;
use model::growth::Fit;
use report::Style;
use report::chart::{Chart, svg};
use std::path::Path;
use workload::{Dawson, Files, Kind, Pietrek, Shape, Workload};

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
        _ => 4096,
    };
    let share = |eighths: u64| largest * eighths / 8;
    [0, 1, 2, 3, 4, 5, 6, 7, 8].map(share).to_vec()
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

/// Whether the format has room for a workload; writes nothing.
///
/// # Errors
/// The parameter that is too large.
pub fn check(kind: &str, parameters: &[(String, u64)]) -> Result<()> {
    files(kind, parameters).map(|_| ())
}

/// Writes a workload into a new folder.
///
/// # Errors
/// As [`check`], or a folder that cannot be written.
pub fn generate(kind: &str, parameters: &[(String, u64)], folder: &Path) -> Result<()> {
    files(kind, parameters)?.write_to(folder)?;
    Ok(())
}

fn files(kind: &str, parameters: &[(String, u64)]) -> Result<Files> {
    let mut values = Vec::new();
    for (name, value) in parameters {
        let value = u32::try_from(*value)
            .map_err(|_| Usage(format!("{name} = {value} is beyond any file format")))?;
        values.push((name.as_str(), value));
    }
    Ok(workload::generate(&workload(kind, &values)?)?)
}

/// The workload; parameters that are not given are as published.
fn workload(kind: &str, values: &[(&str, u32)]) -> Result<Workload> {
    let value = |wanted: &str, default: u32| {
        values.iter().find(|(name, _)| *name == wanted).map_or(default, |(_, value)| *value)
    };
    let shape = |kind| Workload::Shape(Shape { kind, n: value("n", 0) });
    Ok(match kind {
        "shape star" => shape(Kind::Star),
        "shape chain" => shape(Kind::Chain),
        "shape dense" => shape(Kind::Dense),
        "shape symbols" => shape(Kind::Symbols),
        "shape search-path" => shape(Kind::SearchPath),
        "shape tls" => shape(Kind::Tls),
        "shape dlopen" => shape(Kind::Dlopen),
        "pietrek" => {
            let as_published = Pietrek::default();
            Workload::Pietrek(Pietrek {
                dlls: value("dlls", as_published.dlls),
                functions: value("functions", as_published.functions),
                globals: value("globals", as_published.globals),
                ..as_published
            })
        }
        "dawson" => {
            let as_published = Dawson::default();
            Workload::Dawson(Dawson {
                sources: value("sources", as_published.sources),
                classes: value("classes", as_published.classes),
                functions: value("functions", as_published.functions),
                ..as_published
            })
        }
        other => return Err(Usage(format!("there is no workload '{other}'")).into()),
    })
}

/// The law, or why none can be looked for.
pub fn fit(points: &[Point]) -> Reading<Fit> {
    match stats::growth::fit(points) {
        Ok(fit) => Reading::Value(fit),
        Err(error) => Reading::unavailable(error.to_string(), ""),
    }
}

/// What is printed for people.
pub fn view(scale: &Scale, style: &Style) -> String {
    report::scale::view(scale, style)
}

/// Names and contents of the drawings.
pub fn drawings(scale: &Scale) -> Vec<(String, String)> {
    let file = |chart: &Chart| (format!("{}.svg", chart.name()), svg(scale, &[*chart]));
    Chart::ALL.iter().map(file).collect()
}
