//! The table of a Windows program and its DLLs, in the order in which they were loaded.

use super::figures::{add, count_or_dash, duration, duration_or_dash};
use super::page::Page;
use crate::style::Tint;
use crate::text::{base_name, printable};
use model::{Explanation, ModuleReport, PeModule};
use std::collections::BTreeMap;

/// One row: a file, however many processes loaded it.
#[derive(Clone, Default)]
struct Row {
    name: String,
    files: u64,
    /// When it was first loaded.
    at: Option<f64>,
    load: Option<f64>,
    init: Option<f64>,
    imports: Option<u64>,
    relocations: Option<u64>,
    late: bool,
}

impl Row {
    fn cost(&self) -> f64 {
        [self.load, self.init].into_iter().flatten().sum()
    }

    fn add(&mut self, other: &Row) {
        self.files += other.files;
        add(&mut self.load, other.load);
        add(&mut self.init, other.init);
        add(&mut self.imports, other.imports);
        add(&mut self.relocations, other.relocations);
        self.late |= other.late;
    }
}

/// The costliest, in the order of loading; a sum of the others, and one of all.
pub(super) fn table(page: &mut Page, explanation: &Explanation) {
    let rows = rows(explanation);
    if rows.is_empty() {
        return;
    }
    let name = page.style.width.saturating_sub(55);
    let titles = format!(
        "{:<width$}{:>10}{:>10}{:>10}{:>9}{:>12}",
        "Modules",
        "loaded at",
        "load",
        "init",
        "imports",
        "relocations",
        width = name + 4
    );
    page.heading(&titles);
    let (shown, hidden) = split(&rows, page.rows);
    for row in &shown {
        let line = line(page, row, name);
        page.line(&line);
    }
    if !hidden.is_empty() {
        let text = line(page, &sum(&hidden, format!("{} more", hidden.len())), name);
        let text = page.paint(Tint::Faint, &text);
        page.line(&text);
    }
    if rows.len() > 1 {
        let all: Vec<&Row> = rows.iter().collect();
        let all = line(page, &sum(&all, format!("all {}", rows.len())), name);
        let all = page.paint(Tint::Strong, &all);
        page.line(&all);
    }
    if explanation.processes.len() > 1 {
        let note = "the sums are over all processes, also where these run side by side";
        page.wrapped("  ", Tint::Faint, note);
    }
    if shown.iter().any(|row| row.late) {
        let note = "* loaded after the program had begun";
        page.wrapped("  ", Tint::Faint, note);
    }
}

/// Files by the time of their first load.
fn rows(explanation: &Explanation) -> Vec<Row> {
    let mut by_path: BTreeMap<&str, Row> = BTreeMap::new();
    let mut order: Vec<&str> = Vec::new();
    for (module, pe) in explanation.modules.iter().filter_map(|it| Some((it, it.pe.as_deref()?))) {
        let path = module.path.as_str();
        let row = row(module, pe);
        by_path.entry(path).and_modify(|known| known.add(&row)).or_insert_with(|| {
            order.push(path);
            row
        });
    }
    let mut rows: Vec<Row> = order.iter().filter_map(|path| by_path.remove(path)).collect();
    for row in rows.iter_mut().filter(|row| row.files > 1) {
        row.name = format!("{} × {}", row.files, row.name);
    }
    rows
}

fn row(module: &ModuleReport, pe: &PeModule) -> Row {
    Row {
        name: printable(base_name(&module.path)),
        files: 1,
        at: Some(pe.loaded_us),
        load: pe.load_us.get(),
        init: module.init_us.get(),
        imports: pe.imports.get(),
        relocations: pe.relocations.get(),
        late: pe.late,
    }
}

/// The costliest, and the others, both in the order of loading.
fn split(rows: &[Row], shown: Option<usize>) -> (Vec<&Row>, Vec<&Row>) {
    let mut costs: Vec<f64> = rows.iter().map(Row::cost).collect();
    costs.sort_by(|a, b| b.total_cmp(a));
    let shown = shown.unwrap_or(rows.len());
    // One hidden row would take the line that says so.
    let shown = if shown + 1 >= rows.len() { rows.len() } else { shown };
    let least =
        shown.checked_sub(1).and_then(|last| costs.get(last)).copied().unwrap_or(f64::INFINITY);
    let mut room = shown;
    rows.iter().partition(|row| {
        let fits = room > 0 && row.cost() >= least;
        room -= usize::from(fits);
        fits
    })
}

fn sum(rows: &[&Row], name: String) -> Row {
    let mut sum = Row { name, ..Row::default() };
    rows.iter().for_each(|row| sum.add(row));
    Row { late: false, at: None, ..sum }
}

fn line(page: &Page, row: &Row, width: usize) -> String {
    let dash = page.pick("–", "-");
    let late = if row.late { "*" } else { " " };
    format!(
        "  {} {late}{:>10}{:>10}{:>10}{:>9}{:>12}",
        page.style.fitted(&row.name, width),
        row.at.map_or_else(String::new, duration),
        duration_or_dash(row.load, dash),
        duration_or_dash(row.init, dash),
        count_or_dash(row.imports, dash),
        count_or_dash(row.relocations, dash),
    )
}
