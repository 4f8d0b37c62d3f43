//! The generated workloads that a sweep can grow.

use crate::LabError;
use model::Format;
use workload::{Dawson, Files, Kind, PeOptions, Pietrek, Shape, Workload};

/// The workloads, as they are typed: those that there are as images of this format.
pub fn kinds(format: Format) -> Vec<String> {
    let shapes: &[Kind] = if format == Format::Elf { &Kind::ALL } else { &[] };
    let shapes = shapes.iter().map(|kind| format!("{SHAPE}{}", kind.name()));
    shapes.chain(["pietrek", "dawson"].map(str::to_owned)).collect()
}

const SHAPE: &str = "shape ";

/// A parameter of dawson's PE images that `experiment dawson` sets.
pub const FILE_ALIGNMENT: &str = "file-alignment";

fn shape(kind: &str) -> Option<Kind> {
    let name = kind.strip_prefix(SHAPE)?;
    Kind::ALL.into_iter().find(|kind| kind.name() == name)
}

/// The parameters of a workload, the one that grows by default first; `None` for no workload.
pub fn parameters(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        "pietrek" => Some(&["dlls", "functions", "globals"]),
        "dawson" => Some(&["functions", "sources", "classes"]),
        _ => shape(kind).map(|_| ["n"].as_slice()),
    }
}

/// The first of `names` that is no parameter of a workload.
pub fn unknown<'a>(kind: &str, mut names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let known = parameters(kind).unwrap_or_default();
    names.find(|name| !known.contains(&name.as_str()) && *name != FILE_ALIGNMENT)
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
        ("pietrek", "functions") => "functions per library",
        ("dawson", "functions") => "functions per class",
        (_, "globals") => "globals per function",
        (_, "classes") => "classes per source file",
        (_, "sources") => "source files",
        (_, other) => other,
    }
}

/// The files of a workload; nothing is written.
///
/// # Errors
/// The format has no room for it.
pub fn files(kind: &str, format: Format, parameters: &[(String, u64)]) -> Result<Files, LabError> {
    let mut values = Vec::new();
    for (name, value) in parameters {
        let value = u32::try_from(*value).map_err(|_| {
            unsuitable(format!("{name} = {value} is too large for any file format"))
        })?;
        values.push((name.as_str(), value));
    }
    Ok(workload::generate(&workload(kind, format, &values)?)?)
}

/// The workload; parameters that are not given are as published.
fn workload(kind: &str, format: Format, values: &[(&str, u32)]) -> Result<Workload, LabError> {
    let value = |wanted: &str, default: u32| {
        values.iter().find(|(name, _)| *name == wanted).map_or(default, |(_, value)| *value)
    };
    Ok(match kind {
        "pietrek" => {
            let as_published = Pietrek::default();
            Workload::Pietrek(Pietrek {
                dlls: value("dlls", as_published.dlls),
                functions: value("functions", as_published.functions),
                globals: value("globals", as_published.globals),
                format,
                ..as_published
            })
        }
        "dawson" => {
            let as_published = Dawson::default();
            Workload::Dawson(Dawson {
                sources: value("sources", as_published.sources),
                classes: value("classes", as_published.classes),
                functions: value("functions", as_published.functions),
                format,
                pe: PeOptions {
                    file_alignment: value(FILE_ALIGNMENT, as_published.pe.file_alignment),
                    ..as_published.pe
                },
                ..as_published
            })
        }
        other => match shape(other) {
            Some(_) if format != Format::Elf => {
                let there_are = kinds(format).join(" and ");
                return Err(unsuitable(format!(
                    "{other} can be generated as ELF images only; as PE images there are {there_are}"
                )));
            }
            Some(kind) => Workload::Shape(Shape { kind, n: value("n", 0) }),
            None => return Err(unsuitable(format!("there is no workload '{other}'"))),
        },
    })
}

fn unsuitable(why: String) -> LabError {
    LabError::Unsuitable(why)
}
