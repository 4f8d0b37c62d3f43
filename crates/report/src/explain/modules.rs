//! The table of ELF modules of an explanation.

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
    merged: bool,
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
    let rows = rows(explanation);
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
    if rows[..shown].iter().any(|row| row.merged) {
        let note = "+ merged into the bundle, which is mapped and relocated as one file";
        page.wrapped("  ", Tint::Faint, note);
    }
}

/// Files by cost. Relocations are counted as often as a file is loaded, as its times are.
fn rows(explanation: &Explanation) -> Vec<Row> {
    let mut by_path: BTreeMap<(&str, bool), Row> = BTreeMap::new();
    let mut order: Vec<(&str, bool)> = Vec::new();
    for module in explanation.modules.iter().filter(|module| module.pe.is_none()) {
        let key = (module.path.as_str(), module.merged_in.is_some());
        let entry = by_path.entry(key).or_insert_with(|| {
            order.push(key);
            let (name, merged) = (name(explanation, module), module.merged_in.is_some());
            Row { name, merged, ..Row::default() }
        });
        entry.add(&Row {
            loads: 1,
            map: module.map_us.get(),
            relocate: module.relocate_us.get(),
            init: module.init_us.get(),
            faults: module.minor_faults.get().map(|n| n + module.major_faults.get().unwrap_or(0)),
            relocations: match module.work {
                Some(work) => Some(work.relocations),
                None => module.facts.value().map(|facts| facts.relocation_count()),
            },
            ..Row::default()
        });
    }
    let mut rows: Vec<Row> = order.iter().filter_map(|path| by_path.remove(path)).collect();
    for row in rows.iter_mut().filter(|row| row.loads > 1) {
        row.name = format!("{} × {}", row.loads, row.name);
    }
    rows.sort_by(|a, b| b.cost().total_cmp(&a.cost()).then(b.faults.cmp(&a.faults)));
    rows
}

/// The file's name; that of its original for a bundle, whose libraries have rows of their own.
fn name(explanation: &Explanation, module: &ModuleReport) -> String {
    if module.merged_in.is_some() {
        return format!("+ {}", printable(base_name(&module.path)));
    }
    match explanation.bundles.iter().find(|bundle| bundle.path == module.path) {
        Some(bundle) => {
            let original = bundle.original.as_deref().unwrap_or(&bundle.path);
            format!("{} (bundle)", printable(base_name(original)))
        }
        None if module.merged.is_empty() => printable(base_name(&module.path)),
        None => {
            let merged = plural(module.merged.len() as u64, "library", "libraries");
            format!("{} + {merged}", printable(base_name(&module.path)))
        }
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
