//! Cold starts: ordered, and ordered with packed relocations, against link order.

use super::bed::{Bed, text};
use crate::report::Row;
use crate::subjects::relinked::Link;
use anyhow::{Result, anyhow};
use model::Reading;
use std::path::Path;

const RUNS: u32 = 15;

pub fn rows(bed: &Bed, ordered: &Path, order: &Path) -> Result<Vec<Row>> {
    let with_relr = bed.link("relr", &Link::ordered(order).with_relr())?;
    Ok(vec![
        row(bed, "cold start, ordered ÷ link order", ordered, 0.55)?,
        row(bed, "cold start, ordered + relr ÷ link order", &with_relr, 0.40)?,
    ])
}

fn row(bed: &Bed, figure: &str, new: &Path, most: f64) -> Result<Row> {
    let found = bed.verify([&bed.base, new], bed.task("h1")?, RUNS)?;
    let name = text(new)?;
    let effect = match &found.cold {
        Reading::Value(effect) => effect,
        other => return Err(anyhow!("{name}: {}", other.reason().unwrap_or_default())),
    };
    let value = format!("{:.2} ({:.2} to {:.2})", effect.ratio, effect.low, effect.high);
    let ms = |figures: &model::BuildFigures| {
        figures.cold_median_us.get().map_or(String::new(), |us| format!("{:.0} ms", us / 1e3))
    };
    let row = Row::bar(figure, value, &format!("≤ {most}"), effect.ratio <= most);
    Ok(row.beside(format!("{} and {}", ms(&found.new), ms(&found.old))))
}
