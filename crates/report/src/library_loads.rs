//! Views of libraries that were loaded one after the other.

mod came_with;

use crate::figure::{TimeFormat, bytes, count, plural, time};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::{AheadWhen, ColdCheck, LibraryLoad, LibraryLoadReport, Reading};

/// The terminal view: every library with its time, the sum, and what was not loaded.
pub fn view(report: &LibraryLoadReport, style: &Style) -> String {
    let mut view = style.paint(Tint::Name, &style.shorten(&report.list, style.width)) + "\n\n";
    view += &(style.wrap(&style.terminal(&sentence(report, style)), 0) + "\n\n");
    view += &table(report, style).render(style);
    view += &came_with::part(report, style);
    let failed: Vec<String> =
        report.libraries.iter().filter_map(|library| told(library, style)).collect();
    if !failed.is_empty() {
        view += &format!("\n{}\n{}", style.paint(Tint::Strong, "not loaded"), failed.concat());
    }
    view + &style.notes_below(&report.notes)
}

fn told(library: &LibraryLoad, style: &Style) -> Option<String> {
    // Two columns go to the indent.
    let narrow = Style { width: style.width.saturating_sub(2), ..*style };
    let name = style.paint(Tint::Bad, &style.terminal(&library.name));
    let error = style.terminal(library.error.as_ref()?);
    Some(format!("  {}\n", narrow.wrap(&format!("{name}: {error}"), 4)))
}

fn sentence(report: &LibraryLoadReport, style: &Style) -> String {
    let all = report.libraries.len();
    let loaded = all - report.failed();
    let which = plural(all as u64, "library", "libraries");
    let state = if report.cold.is_some() { " cold" } else { "" };
    let (took, loader) = (time(report.total_us, style), loader(&report.loader));
    let mut text = match report.failed() {
        0 => format!("{which} loaded{state} in {took} ({loader})."),
        _ => format!(
            "{} of {which} loaded{state}; all loads that came to an end, refused ones included, \
             took {took} ({loader}).",
            count(loaded as u64)
        ),
    };
    if let Some(ahead) = &report.read_ahead {
        let when = match ahead.when {
            AheadWhen::Before => {
                let sum = time(report.total_us + ahead.us, style);
                format!("before: asking for them took {}, {sum} in all", time(ahead.us, style))
            }
            AheadWhen::Meanwhile => {
                format!("meanwhile: asking for them took {} of that time", time(ahead.us, style))
            }
        };
        text += &format!(
            " Read ahead ({}, {}, {}) {when}.",
            ahead.what,
            plural(ahead.files.into(), "file", "files"),
            bytes(ahead.bytes)
        );
        if ahead.failed > 0 {
            text += &format!(
                " {} could not be read ahead.",
                plural(ahead.failed.into(), "file", "files")
            );
        }
    }
    if let Some(cold) = &report.cold {
        text += &format!(" {}", stayed(cold));
    }
    text
}

/// What loads, in words.
fn loader(name: &str) -> &str {
    if name == "wine" { "LoadLibrary under Wine" } else { name }
}

/// What an eviction has left in memory.
fn stayed(cold: &ColdCheck) -> String {
    let all = plural(cold.total_pages, "page", "pages");
    match &cold.resident_pages {
        Reading::Value(pages) => format!(
            "Of {all} of {}, {} stayed in memory, because others have them mapped or they are not \
             written yet.",
            plural(cold.files.into(), "evicted file", "evicted files"),
            count(*pages)
        ),
        Reading::Unavailable { reason, .. } => format!(
            "How much of {} stayed in memory is not known: {reason}.",
            plural(cold.files.into(), "evicted file", "evicted files")
        ),
    }
}

fn table(report: &LibraryLoadReport, style: &Style) -> Table {
    let slowest = report.libraries.iter().filter_map(|library| library.us).fold(0.0, f64::max);
    let unit = TimeFormat::of(slowest.clamp(1.0, 999_000.0), style);
    let counted = report.libraries.iter().any(|library| library.minor_faults.is_some());
    let modules = report.libraries.iter().any(|library| library.modules.is_some());
    let mut columns = vec![Column::left("library"), Column::right(unit.name())];
    if modules {
        columns.push(Column::right("files"));
    }
    if counted {
        columns.extend([
            Column::right("minor faults").or_drop(2),
            Column::right("major faults").or_drop(1),
            Column::right("read").or_drop(1),
        ]);
    }
    let mut table = Table::new(columns);
    let number = |value: Option<u64>| Cell::new(Tint::Plain, value.map_or(String::new(), count));
    for library in &report.libraries {
        let time = match (library.us, &library.error) {
            (Some(us), None) => Cell::new(Tint::Plain, unit.bare(us)),
            _ => Cell::new(Tint::Bad, "failed"),
        };
        let mut row = vec![Cell::new(Tint::Name, style.terminal(&library.name)), time];
        if modules {
            row.push(number(library.modules));
        }
        if counted {
            row.extend(faults(library).map(number));
            row.push(read(library.read_bytes));
        }
        table.row(row);
    }
    let mut row =
        vec![Cell::new(Tint::Strong, "total"), Cell::new(Tint::Strong, unit.bare(report.total_us))];
    if modules {
        let all = report.libraries.iter().filter_map(|library| library.modules);
        row.push(number(Some(all.sum())));
    }
    if counted {
        let sum =
            |at: usize| report.libraries.iter().filter_map(|library| faults(library)[at]).sum();
        row.extend([0, 1].map(|at| number(Some(sum(at)))));
        row.push(read(Some(
            report.libraries.iter().filter_map(|library| library.read_bytes).sum(),
        )));
    }
    table.row(row);
    table
}

fn faults(library: &LibraryLoad) -> [Option<u64>; 2] {
    [library.minor_faults, library.major_faults]
}

fn read(value: Option<u64>) -> Cell {
    let text = match value {
        None => String::new(),
        Some(0) => "0".to_owned(),
        Some(value) => bytes(value),
    };
    Cell::new(Tint::Plain, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CacheState, FilesAhead};

    pub(super) fn library(name: &str, us: Option<f64>, error: Option<&str>) -> LibraryLoad {
        LibraryLoad {
            name: name.to_owned(),
            us,
            error: error.map(str::to_owned),
            path: None,
            modules: Some(2),
            came_with: None,
            minor_faults: Some(1300),
            major_faults: Some(4),
            read_bytes: Some(2 << 20),
        }
    }

    pub(super) fn report() -> LibraryLoadReport {
        LibraryLoadReport {
            schema: 1,
            headstart: "0".to_owned(),
            list: "list".to_owned(),
            loader: "dlopen".to_owned(),
            cold: Some(ColdCheck {
                state: CacheState::ColdEvicted,
                files: 3,
                total_pages: 900,
                resident_pages: Reading::Value(7),
            }),
            read_ahead: Some(FilesAhead {
                when: AheadWhen::Before,
                what: "whole files".to_owned(),
                files: 3,
                bytes: 4 << 20,
                us: 1500.0,
                failed: 0,
            }),
            libraries: vec![
                library("liba.so", Some(1234.5), None),
                library("b\x1b[31m.so", None, Some("it crashed")),
            ],
            total_us: 1234.5,
            notes: vec!["a note".to_owned()],
        }
    }

    #[test]
    fn every_library_has_its_row_and_every_failure_its_reason() {
        insta::assert_snapshot!(view(&report(), &Style { color: false, width: 80, unicode: true }));
    }

    #[test]
    fn what_is_not_counted_has_no_column() {
        let mut report = report();
        (report.cold, report.read_ahead) = (None, None);
        report.libraries = vec![LibraryLoad {
            modules: None,
            minor_faults: None,
            major_faults: None,
            read_bytes: None,
            ..library("a.dll", Some(10.0), None)
        }];
        let shown = view(&report, &Style { color: false, width: 80, unicode: false });
        assert!(!shown.contains("faults") && shown.contains("a.dll"), "{shown}");
        assert!(shown.contains("1 library loaded in 1.234 ms (dlopen)."), "{shown}");
        report.loader = "wine".to_owned();
        report.libraries[0].modules = Some(7);
        let shown = view(&report, &Style { color: false, width: 80, unicode: false });
        assert!(shown.contains("(LoadLibrary under Wine)") && shown.contains("files"), "{shown}");
        assert!(!shown.contains("faults"), "{shown}");
    }
}
