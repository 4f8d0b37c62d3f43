//! The published experiments, from one command each, on every file system that can be mounted.

use super::Context;
use super::file_systems::Mounted;
use super::report::{Report, Row};
use anyhow::Result;
use model::Reading;
use model::growth::Scale;
use model::load_table::{LoadCell, LoadTable};
use std::path::Path;
use std::time::Instant;

const MOST_S: f64 = 180.0;

/// Both experiments, with their files.
///
/// # Errors
/// An experiment fails.
pub fn check(context: &Context) -> Result<Report> {
    let mut rows = pietrek(context)?;
    rows.push(dawson(context)?);
    Ok(Report { rows })
}

fn pietrek(context: &Context) -> Result<Vec<Row>> {
    let (mounted, mut rows) = Mounted::all(context);
    let run = context.scratch.join("pietrek");
    let folder = run.display().to_string();
    let places: Vec<String> =
        mounted.iter().map(|mounted| mounted.place.display().to_string()).collect();
    let on = places.iter().flat_map(|place| ["--on", place.as_str()]);
    let words = ["experiment", "pietrek", "--json", "--run", &folder];
    let arguments: Vec<&str> = words.into_iter().chain(on).collect();
    let start = Instant::now();
    let table: LoadTable = context.headstart.json(&arguments)?;
    let took_s = start.elapsed().as_secs_f64();
    let cells = table.columns.iter().flat_map(|column| &column.cells);
    let whole = cells.clone().count() > 0 && cells.clone().all(|cell| cell.value().is_some());
    let files = ["pietrek.json", "table.md", "table.csv", "warm.svg", "cold.svg"];
    let good = whole && took_s < MOST_S && all_there(&run, &files);
    let figure = format!("pietrek on {} file systems, its tables and graphs", mounted.len());
    rows.push(Row::bar(figure, format!("{took_s:.0} s"), "< 180 s", good));
    for column in &table.columns {
        let cache = column.cache.map_or(String::new(), |cache| format!("{cache:?}").to_lowercase());
        let figure = format!("{}, {cache}: default, no relocations, lazy", column.name);
        let told: Vec<String> = column.cells.iter().take(3).map(told).collect();
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

fn dawson(context: &Context) -> Result<Row> {
    let run = context.scratch.join("dawson");
    let folder = run.display().to_string();
    let start = Instant::now();
    let words = ["experiment", "dawson", "--json", "--run", &folder];
    let scale: Scale = context.headstart.json(&words)?;
    let took_s = start.elapsed().as_secs_f64();
    let law = scale.fit.value().map(|fit| format!("{:?}", fit.law).to_lowercase());
    let files = ["scale.json", "table.md", "plain.svg", "root.svg", "log.svg"];
    let good =
        law.is_some() && scale.points.len() == 17 && took_s < MOST_S && all_there(&run, &files);
    let value = format!("{took_s:.0} s, {}", law.unwrap_or("no law".to_owned()));
    Ok(Row::bar("dawson, seventeen sizes, its table and graphs", value, "< 180 s", good))
}

fn all_there(folder: &Path, names: &[&str]) -> bool {
    names.iter().all(|name| folder.join(name).is_file())
}
