//! The table of modules of an explanation.

use super::figures::{add, count_or_dash, duration_or_dash, plural};
use super::page::Page;
use crate::style::Tint;
use crate::text::{base_name, printable};
use model::{Explanation, ModuleReport};
use std::collections::BTreeMap;

/// One row: a file, however many programs loaded it.
#[derive(Clone, Default)]
struct Row {
    name: String,
    loads: u64,
    map: Option<f64>,
    relocate: Option<f64>,
    init: Option<f64>,
    faults: Option<u64>,
    relocations: Option<u64>,
}

impl Row {
    fn cost(&self) -> f64 {
        [self.map, self.relocate, self.init].into_iter().flatten().sum()
    }

    fn add(&mut self, other: &Row) {
        self.loads += other.loads;
        add(&mut self.map, other.map);
        add(&mut self.relocate, other.relocate);
        add(&mut self.init, other.init);
        add(&mut self.faults, other.faults);
        add(&mut self.relocations, other.relocations);
    }
}

/// The costliest modules, the others summed up, and the sum of all.
pub(super) fn table(page: &mut Page, explanation: &Explanation) {
    let rows = rows(&explanation.modules);
    if rows.is_empty() {
        return;
    }
    let name = page.style.width.saturating_sub(53);
    let titles = format!(
        "{:<name$}{:>10}{:>11}{:>10}{:>8}{:>12}",
        "Modules",
        "map",
        "relocate",
        "init",
        "faults",
        "relocations",
        name = name + 2
    );
    page.heading(&titles);
    let shown = page.rows.unwrap_or(rows.len()).min(rows.len());
    // One hidden row would take the line that says so.
    let shown = if shown + 1 == rows.len() { rows.len() } else { shown };
    for row in &rows[..shown] {
        let line = line(page, row, name);
        page.line(&line);
    }
    if shown < rows.len() {
        let hidden = sum(&rows[shown..], format!("{} more", rows.len() - shown));
        let text = line(page, &hidden, name);
        let text = page.paint(Tint::Faint, &text);
        page.line(&text);
    }
    if rows.len() > 1 {
        let all = line(page, &sum(&rows, format!("all {}", rows.len())), name);
        let all = page.paint(Tint::Strong, &all);
        page.line(&all);
    }
}

/// Files by cost. Relocations are counted as often as a file is loaded, as its times are.
fn rows(modules: &[ModuleReport]) -> Vec<Row> {
    let mut by_path: BTreeMap<&str, Row> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for module in modules {
        let entry = by_path.entry(&module.path).or_insert_with(|| {
            order.push(&module.path);
            Row { name: name(module), ..Row::default() }
        });
        entry.add(&Row {
            name: String::new(),
            loads: 1,
            map: module.map_us.get(),
            relocate: module.relocate_us.get(),
            init: module.init_us.get(),
            faults: module.minor_faults.get().map(|n| n + module.major_faults.get().unwrap_or(0)),
            relocations: module.facts.value().map(|facts| facts.relocation_count()),
        });
    }
    let mut rows: Vec<Row> = order.iter().filter_map(|path| by_path.remove(path)).collect();
    for row in rows.iter_mut().filter(|row| row.loads > 1) {
        row.name = format!("{} × {}", row.loads, row.name);
    }
    rows.sort_by(|a, b| b.cost().total_cmp(&a.cost()).then(b.faults.cmp(&a.faults)));
    rows
}

/// The file's name, and for a bundle what is in it.
fn name(module: &ModuleReport) -> String {
    let file = printable(base_name(&module.path));
    match module.merged.len() {
        0 => file,
        merged => format!("{file} + {}", plural(merged as u64, "library", "libraries")),
    }
}

fn sum(rows: &[Row], name: String) -> Row {
    let mut sum = Row { name, ..Row::default() };
    rows.iter().for_each(|row| sum.add(row));
    sum
}

fn line(page: &Page, row: &Row, width: usize) -> String {
    let dash = page.pick("–", "-");
    format!(
        "  {}{:>10}{:>11}{:>10}{:>8}{:>12}",
        page.style.fitted(&row.name, width),
        duration_or_dash(row.map, dash),
        duration_or_dash(row.relocate, dash),
        duration_or_dash(row.init, dash),
        count_or_dash(row.faults, dash),
        count_or_dash(row.relocations, dash),
    )
}
