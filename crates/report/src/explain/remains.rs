//! What the start of a bundle still does, by phase and by library.

use super::figures::{add, count, count_or_dash, duration, duration_or_dash, plural, why};
use super::page::Page;
use crate::style::Tint;
use crate::text::{base_name, printable};
use model::{BundleRemains, BundleReport, CopiedPages, Explanation, LibraryRemains, Reading};

/// Width of the columns beside the name.
const COLUMNS: usize = 53;
/// Shorter times are not told.
const LEAST_US: f64 = 0.5;

/// For each bundle that ran.
pub(super) fn lists(page: &mut Page, explanation: &Explanation) {
    for bundle in &explanation.bundles {
        if let Some(remains) = &bundle.remains {
            let original = bundle.original.as_deref().unwrap_or(&bundle.path);
            let name = printable(base_name(original));
            let title = format!("What each start of {name} (bundle) still does");
            let title = page.style.fitted(&title, page.style.width).trim_end().to_owned();
            page.heading(&title);
            if remains.starts > 1 {
                let note = format!("times are those of all {} starts", count(remains.starts));
                page.wrapped("  ", Tint::Faint, &note);
            }
            phases(page, bundle, remains);
            table(page, remains);
        }
    }
}

/// A line for each phase.
fn phases(page: &mut Page, bundle: &BundleReport, remains: &BundleRemains) {
    let lines = [
        ("exec", exec(remains)),
        ("relocate", relocate(bundle, remains)),
        ("initialize", initialize(bundle, remains)),
        ("copies", copies(remains)),
        ("exit", exit(remains)),
    ];
    // What is explained up to a moment before its end has no exit.
    let seen = |(label, _): &(&str, String)| *label != "exit" || remains.exit_us > 0.0;
    for (label, text) in lines.into_iter().filter(seen) {
        let first = format!("  {label:<12}");
        page.wrapped(&first, Tint::Plain, &text);
    }
    let estimated = [&remains.map_parts_us, &remains.copy_us, &remains.free_us];
    if estimated.iter().any(|us| us.value().is_some()) {
        let note = "about: estimated, a count times what one takes on this machine";
        page.wrapped("  ", Tint::Faint, note);
    }
}

/// `: 12 µs`, or why there is no time.
fn timed(us: &Reading<f64>) -> String {
    match us {
        Reading::Value(us) => format!(": {}", duration(*us)),
        missing => format!(" (time unavailable: {})", why(missing)),
    }
}

/// `: about 12 µs of 30 µs`; what is below a microsecond is no estimate.
fn estimated(us: &Reading<f64>, whole_us: f64) -> String {
    match us {
        Reading::Value(us) if *us < LEAST_US => {
            format!(": too little to tell, of {}", duration(whole_us))
        }
        Reading::Value(us) => format!(": about {} of {}", duration(*us), duration(whole_us)),
        missing => format!(" (time unavailable: {})", why(missing)),
    }
}

fn exec(remains: &BundleRemains) -> String {
    let what = match &remains.kernel_parts {
        Reading::Value(1) => "1 part of its file is mapped".to_owned(),
        Reading::Value(parts) => format!("{} parts of its file are mapped", count(*parts)),
        missing => return format!("the parts that are mapped are unavailable: {}", why(missing)),
    };
    what + &estimated(&remains.map_parts_us, remains.exec_us)
}

fn relocate(bundle: &BundleReport, remains: &BundleRemains) -> String {
    let work = &remains.work;
    let addresses = work.relocations.saturating_sub(work.symbolic_relocations);
    let mut parts = vec![
        plural(addresses, "address adjusted", "addresses adjusted"),
        plural(work.symbolic_relocations, "reference bound by name", "references bound by name"),
    ];
    let pages = remains.copied.get().map(|copied| copied.relocate);
    parts.extend(pages.map(|pages| plural(pages, "page copied", "pages copied")));
    let read_ahead = bundle.read_ahead_us.is_some() && remains.relocate_us.value().is_some();
    let ahead = if read_ahead { ", with reading ahead" } else { "" };
    parts.join(", ") + &timed(&remains.relocate_us) + ahead
}

fn initialize(bundle: &BundleReport, remains: &BundleRemains) -> String {
    let check = match remains.found_functions {
        0 => "its check".to_owned(),
        functions => {
            let functions = plural(functions, "function", "functions");
            format!("its check, in which it also finds {functions}")
        }
    };
    let libraries = remains.by_library.iter().filter(|library| library.path.is_some());
    let initializers: u64 = libraries.map(|library| library.work.initializers).sum();
    let initializers =
        plural(initializers, "initializer of libraries", "initializers of libraries");
    let mut text =
        format!("{check}{}; {initializers}{}", timed(&bundle.check_us), timed(&remains.init_us));
    if let Some(copied) = remains.copied.get() {
        text += &format!("; {}", plural(copied.initialize, "page copied", "pages copied"));
    }
    text
}

fn copies(remains: &BundleRemains) -> String {
    let copied = match &remains.copied {
        Reading::Value(copied) => copied,
        missing => return format!("unavailable: {}", why(missing)),
    };
    let pages = plural(copied.before_main(), "page of its file", "pages of its file");
    let time = match &remains.copy_us {
        Reading::Value(us) => format!(", about {} of relocate and initialize", duration(*us)),
        missing => format!(" (time unavailable: {})", why(missing)),
    };
    let main = match copied.main {
        Some(main) => format!("; {} more in main", count(main)),
        None => String::new(),
    };
    format!("{pages} before main{time}{main}")
}

fn exit(remains: &BundleRemains) -> String {
    let mut parts = Vec::new();
    if remains.finalizers > 0 {
        let finalizers = remains.finalizers;
        let finalizers = plural(finalizers, "finalizer of libraries", "finalizers of libraries");
        parts.push(finalizers + &timed(&remains.finalize_us));
    }
    if remains.loader_finalizers > 0 {
        let (one, many) = ("finalizer called by the loader", "finalizers called by the loader");
        parts.push(plural(remains.loader_finalizers, one, many));
    }
    if let (Reading::Value(copied), Reading::Value(memory)) = (&remains.copied, &remains.parts) {
        let pages = plural(copied.all(), "copied page", "copied pages");
        let memory = plural(*memory, "part of memory", "parts of memory");
        let free = estimated(&remains.free_us, remains.exit_us);
        parts.push(format!("{pages} and {memory} to free{free}"));
    }
    parts.join("; ")
}

/// One row.
#[derive(Clone, Default)]
struct Row {
    name: String,
    relocations: Option<u64>,
    copied: Option<u64>,
    relocate: Option<f64>,
    init: Option<f64>,
    exit: Option<f64>,
}

impl Row {
    fn of(library: &LibraryRemains) -> Row {
        let name = match &library.path {
            Some(path) => format!("+ {}", printable(base_name(path))),
            None => "what is of no library".to_owned(),
        };
        Row {
            name,
            relocations: Some(library.work.relocations),
            copied: library.copied.get().as_ref().map(CopiedPages::before_main),
            relocate: library.relocate_us.get(),
            init: library.init_us.get(),
            exit: library.finalize_us.get(),
        }
    }

    fn add(&mut self, other: &Row) {
        add(&mut self.relocations, other.relocations);
        add(&mut self.copied, other.copied);
        add(&mut self.relocate, other.relocate);
        add(&mut self.init, other.init);
        add(&mut self.exit, other.exit);
    }
}

/// The costliest libraries, the others summed up, what is of no library, and the sum of all.
fn table(page: &mut Page, remains: &BundleRemains) {
    let rows: Vec<Row> = remains.by_library.iter().map(Row::of).collect();
    let Some((rest, libraries)) = rows.split_last().filter(|(_, rows)| !rows.is_empty()) else {
        return;
    };
    let name = page.style.width.saturating_sub(COLUMNS);
    let titles = format!(
        "  {}{:>12}{:>8}{:>11}{:>10}{:>10}",
        page.style.fitted("by library", name),
        "relocations",
        "copied",
        "relocate",
        "init",
        "exit"
    );
    let titles = page.paint(Tint::Strong, &titles);
    page.line(&titles);
    let shown = page.rows.unwrap_or(libraries.len()).min(libraries.len());
    // One hidden row would take the line that says so.
    let shown = if shown + 1 == libraries.len() { libraries.len() } else { shown };
    for row in &libraries[..shown] {
        let line = line(page, row, name);
        page.line(&line);
    }
    if shown < libraries.len() {
        let hidden = sum(&libraries[shown..], format!("{} more", libraries.len() - shown));
        let text = line(page, &hidden, name);
        let text = page.paint(Tint::Faint, &text);
        page.line(&text);
    }
    let line_of_rest = line(page, rest, name);
    page.line(&line_of_rest);
    let all = line(page, &sum(&rows, "all".to_owned()), name);
    let all = page.paint(Tint::Strong, &all);
    page.line(&all);
    if rows.iter().any(|row| row.relocate.is_some()) {
        let note = "copied: before main; relocate: estimated, by the pages copied meanwhile";
        page.wrapped("  ", Tint::Faint, note);
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
        "  {}{:>12}{:>8}{:>11}{:>10}{:>10}",
        page.style.fitted(&row.name, width),
        count_or_dash(row.relocations, dash),
        count_or_dash(row.copied, dash),
        duration_or_dash(row.relocate, dash),
        duration_or_dash(row.init, dash),
        duration_or_dash(row.exit, dash),
    )
}
