//! Modules with their sections, other mappings, and addresses.

use super::{is_used, mean};
use crate::figure::{count, plural};
use crate::style::Tint;
use crate::table::{Cell, Column, Table};
use crate::text::base_name;
use model::{MemoryFigures, MemoryKind, SharingModule, SharingReport, SharingRest, SharingState};
use std::collections::BTreeMap;

/// Modules that are shown; the rest is one line.
const ROWS: usize = 12;
/// Of so many the sections are shown, too.
const DIVIDED: usize = 3;
/// Columns of addresses.
const ADDRESSES: usize = 4;
/// The column that only sections have.
const ACCESS: usize = 1;

fn columns(first: &str) -> Vec<Column> {
    vec![
        Column::left(first),
        Column::left("access").or_drop(4),
        Column::right("size"),
        Column::right("committed").or_drop(5),
        Column::right("in memory"),
        Column::right("private"),
        Column::right("shared"),
        Column::right("shareable").or_drop(1),
        Column::right("copied").or_drop(2),
    ]
}

fn row(
    report: &SharingReport,
    tint: Tint,
    name: &str,
    access: &str,
    memory: &MemoryFigures,
) -> Vec<Cell> {
    let figures = [
        memory.size_kib,
        memory.committed_kib,
        memory.rss_kib,
        memory.private_kib,
        memory.shared_kib,
        memory.shareable_kib,
        memory.copied_kib,
    ];
    let figures = figures.map(|sum| Cell::new(Tint::Plain, count(mean(report, sum))));
    [Cell::new(tint, name), Cell::new(Tint::Faint, access)].into_iter().chain(figures).collect()
}

fn sum<'a>(all: impl IntoIterator<Item = &'a MemoryFigures>) -> MemoryFigures {
    let mut sum = MemoryFigures::default();
    all.into_iter().for_each(|figures| sum += *figures);
    sum
}

/// Images and everything else, which sum up to all.
pub(super) fn kinds(report: &SharingReport, all: bool) -> Table {
    let mut heads = columns("kind");
    heads.remove(ACCESS);
    let mut table = Table::new(heads);
    let row = |tint, name: &str, memory: &MemoryFigures| {
        let mut cells = row(report, tint, name, "", memory);
        cells.remove(ACCESS);
        cells
    };
    let mut kinds: Vec<(String, MemoryFigures, Vec<&SharingRest>)> = Vec::new();
    if !report.modules.is_empty() {
        let figures = sum(report.modules.iter().map(|module| &module.figures.memory));
        let name = plural(report.modules.len() as u64, "module", "modules");
        kinds.push((name, figures, Vec::new()));
    }
    let mut by_kind: BTreeMap<MemoryKind, Vec<&SharingRest>> = BTreeMap::new();
    for rest in &report.rest {
        by_kind.entry(rest.kind).or_default().push(rest);
    }
    for (kind, rest) in by_kind {
        let figures = sum(rest.iter().map(|rest| &rest.figures.memory));
        kinds.push((name(kind, rest.len()), figures, rest));
    }
    kinds.sort_by_key(|(_, figures, _)| std::cmp::Reverse(figures.rss_kib));
    for (name, figures, rest) in kinds {
        table.row(row(Tint::Name, &name, &figures));
        for rest in rest.iter().filter(|rest| all && !rest.name.is_empty()) {
            let name = format!("  {}", base_name(&rest.name));
            table.row(row(Tint::Plain, &name, &rest.figures.memory));
        }
    }
    table.row(row(Tint::Strong, "all", &report.totals.figures.memory));
    table
}

fn name(kind: MemoryKind, names: usize) -> String {
    match kind {
        MemoryKind::Heap => "heap (brk)".to_owned(),
        MemoryKind::Stack => "stack".to_owned(),
        MemoryKind::Anonymous => "anonymous".to_owned(),
        MemoryKind::File => plural(names as u64, "other file", "other files"),
        MemoryKind::SharedMemory => "shared memory".to_owned(),
        MemoryKind::Kernel => "of the kernel".to_owned(),
    }
}

/// Modules, those with the most memory with their sections.
pub(super) fn modules(report: &SharingReport, all: bool) -> Table {
    let mut table = Table::new(columns("module"));
    let rows = report.modules.len();
    // One hidden row would take the line that says so.
    let shown = if all || rows <= ROWS + 1 { rows } else { ROWS };
    let (shown, hidden) = report.modules.split_at(shown);
    for (place, module) in shown.iter().enumerate() {
        table.row(row(report, Tint::Name, &title(module), "", &module.figures.memory));
        if all || place < DIVIDED {
            let used = |memory: &MemoryFigures| {
                is_used(memory) || mean(report, memory.size_kib) > 0 && all
            };
            for section in module.sections.iter().filter(|section| used(&section.memory)) {
                let name = format!("  {}", section.name);
                let access = &section.protection;
                table.row(row(report, Tint::Plain, &name, access, &section.memory));
            }
        }
    }
    let figures =
        |modules: &[SharingModule]| sum(modules.iter().map(|module| &module.figures.memory));
    if !hidden.is_empty() {
        let name = format!("{} more", hidden.len());
        table.row(row(report, Tint::Faint, &name, "", &figures(hidden)));
    }
    if rows > 1 {
        let name = format!("all {rows}");
        table.row(row(report, Tint::Strong, &name, "", &figures(&report.modules)));
    }
    table
}

fn title(module: &SharingModule) -> String {
    let name = base_name(&module.path);
    if module.deleted { format!("{name} (deleted)") } else { name.to_owned() }
}

/// Where modules begin in the first processes.
pub(super) fn addresses(report: &SharingReport, all: bool) -> Table {
    let first = report.processes.iter().enumerate();
    let shown: Vec<_> =
        first.filter(|(_, one)| one.state != SharingState::Child).take(ADDRESSES).collect();
    let mut columns = vec![Column::left("module")];
    let heads = shown.iter().map(|(_, process)| match process.copy {
        Some(copy) => format!("copy {copy}"),
        None => process.pid.to_string(),
    });
    columns.extend((0..).zip(heads).map(|(at, head)| {
        let column = Column::right(head);
        if at > 1 { column.or_drop(at) } else { column }
    }));
    let mut table = Table::new(columns);
    let rows = if all { report.modules.len() } else { ROWS };
    let is_shown = |module: &&SharingModule| {
        shown.iter().any(|(at, _)| module.base.get(*at).is_some_and(Option::is_some))
    };
    for module in report.modules.iter().filter(is_shown).take(rows) {
        let tint = if is_same(module) == Some(true) { Tint::Good } else { Tint::Plain };
        let mut cells = vec![Cell::new(Tint::Name, title(module))];
        cells.extend(shown.iter().map(|(at, _)| {
            let base = module.base.get(*at).copied().flatten();
            Cell::new(tint, base.map_or("-".to_owned(), |base| format!("{base:x}")))
        }));
        table.row(cells);
    }
    table
}

/// Whether a module that several processes have is at the same address in all of them.
fn is_same(module: &SharingModule) -> Option<bool> {
    let mut bases = module.base.iter().flatten();
    let first = bases.next()?;
    let mut others = bases.peekable();
    others.peek()?;
    Some(others.all(|base| base == first))
}

/// How many modules are at the same address.
pub(super) fn same_address(report: &SharingReport) -> String {
    let common: Vec<bool> = report.modules.iter().filter_map(is_same).collect();
    let same = common.iter().filter(|same| **same).count();
    if common.is_empty() {
        return "No module is in more than one of the processes.".to_owned();
    }
    let all = plural(common.len() as u64, "module", "modules");
    match same {
        0 if common.len() == 1 => {
            "The only module in several processes is at different addresses.".to_owned()
        }
        1 if common.len() == 1 => {
            "The only module in several processes is at the same address in all of them.".to_owned()
        }
        0 => {
            format!("None of the {all} in several processes is at the same address in all of them.")
        }
        1 => format!("1 of the {all} in several processes is at the same address in all of them."),
        same => format!(
            "{} of the {all} in several processes are at the same address in all of them.",
            count(same as u64)
        ),
    }
}
