//! The published experiments, from one command each, on every file system that can be mounted.

use crate::context::Context;
use crate::report::{Report, Row};
use crate::subjects::file_systems::Mounted;
use anyhow::Result;
use model::Reading;
use model::growth::Scale;
use model::load_table::{LoadCell, LoadTable};
use std::path::Path;
use std::time::Instant;

const MOST_S: f64 = 180.0;
/// Rows that are shown.
const SHOWN: usize = 3;

/// Both experiments, with their files.
///
/// # Errors
/// An experiment fails.
pub fn check(context: &Context) -> Result<Report> {
    let (mounted, mut rows) = Mounted::all(context);
    rows.extend(pietrek(context, "elf", &mounted)?);
    rows.extend(pietrek(context, "pe", &[])?);
    for (name, options) in [
        ("ELF", &[][..]),
        ("PE under Wine", &["--format", "pe"]),
        ("PE, sections on pages", &["--format", "pe", "--file-alignment", "4096"]),
    ] {
        rows.push(dawson(context, name, options)?);
    }
    Ok(Report { rows })
}

fn pietrek(context: &Context, format: &str, mounted: &[Mounted]) -> Result<Vec<Row>> {
    let run = context.scratch.join(format!("pietrek-{format}"));
    let folder = run.display().to_string();
    let places: Vec<String> =
        mounted.iter().map(|mounted| mounted.place.display().to_string()).collect();
    let on = places.iter().flat_map(|place| ["--on", place.as_str()]);
    let words = ["experiment", "pietrek", "--format", format, "--json", "--save", &folder];
    let arguments: Vec<&str> = words.into_iter().chain(on).collect();
    let start = Instant::now();
    let table: LoadTable = context.headstart.json(&arguments)?;
    let took_s = start.elapsed().as_secs_f64();
    let cells = table.columns.iter().flat_map(|column| &column.cells);
    let whole = cells.clone().count() > 0 && cells.clone().all(|cell| cell.value().is_some());
    let mut files = vec!["pietrek.json", "table.md", "table.csv", "warm.svg"];
    if format == "elf" {
        files.push("cold.svg");
    }
    let good = whole && took_s < MOST_S && all_there(&run, &files);
    let figure = format!("pietrek, {}: tables and graphs", table.workload);
    let mut rows = vec![Row::bar(figure, format!("{took_s:.0} s"), "< 180 s", good)];
    let names: Vec<&str> = table.rows.iter().take(SHOWN).map(|row| row.name.as_str()).collect();
    for column in &table.columns {
        let cache = column.cache.map_or(String::new(), |cache| format!("{cache:?}").to_lowercase());
        let figure = format!("{}, {cache}: {}", column.name, names.join(", "));
        let told: Vec<String> = column.cells.iter().take(SHOWN).map(told).collect();
        rows.push(Row::shown(figure, told.join(", ")));
    }
    Ok(rows)
}

fn told(cell: &Reading<LoadCell>) -> String {
    let Some(cell) = cell.value() else { return "–".to_owned() };
    match cell.improvement {
        Some(part) => format!("{:+.1} %", -part * 100.0),
        None => format!("{:.3} ms", cell.fastest_us / 1e3),
    }
}

fn dawson(context: &Context, name: &str, options: &[&str]) -> Result<Row> {
    let run = context.scratch.join(format!("dawson-{}", options.len()));
    let folder = run.display().to_string();
    let start = Instant::now();
    let words = ["experiment", "dawson", "--json", "--save", &folder];
    let scale: Scale = context.headstart.json(&[&words, options].concat())?;
    let took_s = start.elapsed().as_secs_f64();
    let law = scale.fit.value().map(|fit| format!("{:?}", fit.law).to_lowercase());
    let files = ["scale.json", "table.md", "plain.svg", "root.svg", "log.svg"];
    let good =
        law.is_some() && scale.points.len() == 17 && took_s < MOST_S && all_there(&run, &files);
    let value = format!("{took_s:.0} s, {}", law.unwrap_or("no law".to_owned()));
    let figure = format!("dawson, {name}: seventeen sizes, table and graphs");
    Ok(Row::bar(figure, value, "< 180 s", good))
}

fn all_there(folder: &Path, names: &[&str]) -> bool {
    names.iter().all(|name| folder.join(name).is_file())
}
