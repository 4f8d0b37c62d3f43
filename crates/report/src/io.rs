//! Views of what a launch read.

use crate::figure::{bytes, count, percent, plural, time};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::text::base_name;
use model::published::PublishedOrder;
use model::{FileIo, IoReport, IoSource, ReadInSequence, ReadSum, Reading, SectionIo};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Files that are shown; the rest is one line.
const ROWS: usize = 15;
/// Sections of all files that are shown.
const SECTIONS: usize = 10;
/// Other files that are shown.
const OTHERS: usize = 3;

/// The sums in a sentence, the files, kinds of content and sections, and what would help (`advice`,
/// in words). With `all`, every file with its sections, and every read.
pub fn view(report: &IoReport, advice: &[String], style: &Style, all: bool) -> String {
    let mut view = style.paint(Tint::Name, &style.shorten(&report.command, style.width)) + "\n\n";
    view += &(style.wrap(&style.spelt(&sentence(report, style)), 0) + "\n");
    if !report.files.is_empty() {
        view += &format!("\n{}", files(report, style, all).render(style));
    }
    if !report.kinds.is_empty() {
        let title = style.paint(Tint::Strong, "kinds of content");
        view += &format!("\n{title}\n{}", kinds(report).render(style));
        let title = style.paint(Tint::Strong, "sections of all files");
        view += &format!("\n{title}\n{}", sections(report, all).render(style));
    }
    if let Some(reads) = &report.sequence {
        let title = style.paint(Tint::Strong, "reads in order of time");
        view += &format!("\n{title}\n{}", sequence(report, reads).render(style));
    }
    if !advice.is_empty() {
        view += &format!("\n{}\n", style.paint(Tint::Strong, "what would help"));
        for sentence in advice {
            view += &(style.wrap(&format!("- {}", style.terminal(sentence)), 2) + "\n");
        }
    }
    let mut notes = report.notes.clone();
    notes.push(report.files_from.clone());
    view + &style.notes_below(&notes)
}

fn sentence(report: &IoReport, style: &Style) -> String {
    let launch = if report.is_cold { "A cold launch" } else { "A launch" };
    let took = time(report.total_us, style);
    let kernel = report.kernel_bytes.get();
    if report.source == IoSource::MajorFaults {
        let faults: u64 = report.files.iter().map(|file| file.major_faults).sum();
        let sum = kernel.map_or(String::new(), |all| {
            format!(" The kernel counted {} of reads in all.", bytes(all))
        });
        return format!(
            "{launch} of {took} waited for input in {} on {}.{sum}",
            plural(faults, "page fault", "page faults"),
            plural(report.files.len() as u64, "file", "files"),
        );
    }
    let total = report.total.get().unwrap_or_default();
    if total.reads == 0 {
        return format!(
            "{launch} of {took} read nothing from a block device{}.",
            why_nothing(report)
        );
    }
    let waited = report.read_us.get().unwrap_or_default();
    let far = report.distance_bytes.get().unwrap_or_default();
    let mut text = format!(
        "{launch} of {took} read {} in {}, {} on average. The reads of the files below took {}, and \
         skipped {} between one and the next of the same file.",
        bytes(total.bytes),
        plural(total.reads, "read", "reads"),
        bytes(total.bytes / total.reads),
        time(waited, style),
        bytes(far),
    );
    match kernel {
        Some(counted) if counted != total.bytes => {
            text += &format!(" The kernel itself counted {}.", bytes(counted));
        }
        _ => {}
    }
    text
}

/// What else was in memory, where a launch was to be cold and was not.
fn why_nothing(report: &IoReport) -> String {
    let before = report.resident_pages.get().unwrap_or_default();
    let meanwhile = report.brought_pages.get().unwrap_or_default();
    match (report.is_cold, before.saturating_add(meanwhile)) {
        (false, _) | (_, 0) => String::new(),
        (true, pages) => format!(
            ": {} of its files {} in memory for other reasons, so it was not entirely cold",
            plural(pages, "page", "pages"),
            if pages == 1 { "was" } else { "were" }
        ),
    }
}

fn columns(report: &IoReport) -> Vec<Column> {
    let mut columns = vec![Column::left("file")];
    if report.source == IoSource::BlockReads {
        columns.extend([
            Column::right("reads"),
            Column::right("bytes"),
            Column::right("of file").or_drop(2),
            Column::right("mean").or_drop(3),
            Column::right("distance"),
            Column::right("time"),
        ]);
    }
    columns.push(Column::right("major faults").or_drop(1));
    columns
}

fn files(report: &IoReport, style: &Style, all: bool) -> Table {
    let mut table = Table::new(columns(report));
    let read: Vec<&FileIo> = report.files.iter().collect();
    let rows = if all || read.len() <= ROWS + 1 { read.len() } else { ROWS };
    for file in &read[..rows] {
        table.row(file_row(report, Tint::Name, base_name(&file.path), &[file], style));
        for section in file.sections.iter().filter(|section| all && !section.name.is_empty()) {
            table.row(section_row(report, section));
        }
    }
    if read.len() > rows {
        let name = format!("{} more", read.len() - rows);
        table.row(file_row(report, Tint::Faint, &name, &read[rows..], style));
    }
    if let Some(others) = report.others.value() {
        let rows = if all { others.files.len() } else { OTHERS.min(others.files.len()) };
        for (path, sum) in &others.files[..rows] {
            table.row(sum_row(Tint::Plain, &format!("other: {}", base_name(path)), *sum));
        }
        let rest = others.files[rows..].iter().map(|(_, sum)| *sum);
        let rest = rest.fold(ReadSum::default(), |sum, next| sum + next);
        let words = format!("{} other files", others.files.len() - rows);
        for (name, sum) in [
            (words.as_str(), rest),
            ("file system metadata", others.metadata),
            ("not assigned", others.unassigned),
        ] {
            if sum.reads > 0 {
                table.row(sum_row(Tint::Faint, name, sum));
            }
        }
        let total = report.total.get().unwrap_or_default();
        table.row(sum_row(Tint::Strong, "all", total));
    }
    table
}

/// Sums of some files.
fn file_row(
    report: &IoReport,
    tint: Tint,
    name: &str,
    files: &[&FileIo],
    style: &Style,
) -> Vec<Cell> {
    let sum =
        |of: fn(&FileIo) -> Option<u64>| files.iter().filter_map(|file| of(file)).sum::<u64>();
    let faults = sum(|file| Some(file.major_faults));
    let mut cells = Vec::new();
    if report.source == IoSource::BlockReads {
        let reads = sum(|file| Some(file.reads.get()?.reads));
        let read_bytes = sum(|file| Some(file.reads.get()?.bytes));
        let us: f64 = files.iter().filter_map(|file| file.read_us.get()).sum();
        let of = sum(|file| Some(file.file_bytes));
        cells.extend([
            count(reads),
            bytes(read_bytes),
            percent((read_bytes as f64 / of.max(1) as f64).min(1.0)),
            read_bytes.checked_div(reads).map_or(String::new(), bytes),
            bytes(sum(|file| file.distance_bytes.get())),
            time(us, style),
        ]);
    }
    cells.push(count(faults));
    let cells = cells.into_iter().map(|figure| Cell::new(Tint::Plain, figure));
    [Cell::new(tint, name)].into_iter().chain(cells).collect()
}

fn section_row(report: &IoReport, section: &SectionIo) -> Vec<Cell> {
    let name = Cell::new(Tint::Plain, format!("  {}", section.name));
    let mut cells = vec![name];
    if report.source == IoSource::BlockReads {
        let figure = section.bytes.get().map_or(String::new(), bytes);
        let figures =
            [String::new(), figure, String::new(), String::new(), String::new(), String::new()];
        cells.extend(figures.map(|figure| Cell::new(Tint::Plain, figure)));
    }
    cells.push(Cell::new(Tint::Plain, section.major_faults.map_or(String::new(), count)));
    cells
}

fn sum_row(tint: Tint, name: &str, sum: ReadSum) -> Vec<Cell> {
    let mean = sum.bytes.checked_div(sum.reads).map_or(String::new(), bytes);
    let none = String::new;
    let figures = [count(sum.reads), bytes(sum.bytes), none(), mean, none(), none(), none()];
    let figures = figures.map(|figure| Cell::new(Tint::Plain, figure));
    [Cell::new(tint, name)].into_iter().chain(figures).collect()
}

/// Bytes, or page faults where only those are known.
fn amount(bytes_read: &Reading<u64>, faults: Option<u64>) -> String {
    match (bytes_read.get(), faults) {
        (Some(read), _) => bytes(read),
        (None, Some(faults)) => count(faults),
        (None, None) => "?".to_owned(),
    }
}

fn amount_column(report: &IoReport) -> Column {
    match report.source {
        IoSource::BlockReads => Column::right("bytes"),
        IoSource::MajorFaults => Column::right("major faults"),
    }
}

fn kinds(report: &IoReport) -> Table {
    let mut table =
        Table::new(vec![Column::left("kind"), amount_column(report), Column::right("share")]);
    for kind in &report.kinds {
        table.row(vec![
            Cell::new(Tint::Name, kind.kind.words()),
            Cell::new(Tint::Plain, amount(&kind.bytes, kind.major_faults)),
            Cell::new(Tint::Plain, percent(kind.share)),
        ]);
    }
    table
}

fn sections(report: &IoReport, all: bool) -> Table {
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let named = report.files.iter().flat_map(|file| &file.sections);
    for section in named.filter(|section| !section.name.is_empty()) {
        let (read, faults) = sums.entry(&section.name).or_default();
        *read += section.bytes.get().unwrap_or(0);
        *faults += section.major_faults.unwrap_or(0);
    }
    let mut sums: Vec<(&str, (u64, u64))> = sums.into_iter().collect();
    sums.sort_by_key(|(_, sum)| Reverse(*sum));
    sums.truncate(if all { usize::MAX } else { SECTIONS });
    let mut table = Table::new(vec![Column::left("section"), amount_column(report)]);
    for (name, (read, faults)) in sums {
        let figure = match report.source {
            IoSource::BlockReads => bytes(read),
            IoSource::MajorFaults => count(faults),
        };
        table.row(vec![Cell::new(Tint::Name, name), Cell::new(Tint::Plain, figure)]);
    }
    table
}

/// OpenOffice's table: a line a read.
fn sequence(report: &IoReport, reads: &[ReadInSequence]) -> Table {
    let mut table = Table::new(vec![
        Column::left("file"),
        Column::right("read"),
        Column::right("at ms").or_drop(1),
        Column::right("ms"),
        Column::right("offset"),
        Column::right("bytes"),
        Column::right("distance"),
        Column::left("section").or_drop(2),
    ]);
    for (place, one) in (1..).zip(reads) {
        let path = report.files.get(one.file as usize).map_or("?", |file| base_name(&file.path));
        let took = one.read.duration_us.get();
        table.row(vec![
            Cell::new(Tint::Name, path),
            Cell::new(Tint::Faint, count(place)),
            Cell::new(Tint::Plain, format!("{:.2}", one.read.at_us / 1e3)),
            Cell::new(Tint::Plain, took.map_or("?".to_owned(), |us| format!("{:.2}", us / 1e3))),
            Cell::new(Tint::Plain, count(one.read.offset.0)),
            Cell::new(Tint::Plain, count(one.read.bytes)),
            Cell::new(Tint::Plain, one.distance_bytes.map_or(String::new(), count)),
            Cell::new(Tint::Plain, one.section.clone().unwrap_or_default()),
        ]);
    }
    table
}

/// Every read in order of time (RFC 4180). What is not known is an empty field, and so is the distance
/// of the first read of a file.
pub fn csv(report: &IoReport, reads: &[ReadInSequence]) -> String {
    let mut csv = "sequence,file,at_us,duration_us,offset,bytes,distance,section\n".to_owned();
    for (place, one) in (1..).zip(reads) {
        let path = report.files.get(one.file as usize).map_or("", |file| &file.path);
        csv += &format!(
            "{place},{},{:.1},{},{},{},{},{}\n",
            crate::export::quoted(path),
            one.read.at_us,
            one.read.duration_us.get().map_or(String::new(), |us| format!("{us:.1}")),
            one.read.offset.0,
            one.read.bytes,
            one.distance_bytes.map_or(String::new(), |way| way.to_string()),
            crate::export::quoted(one.section.as_deref().unwrap_or_default()),
        );
    }
    csv
}

/// The sums of the document's own list of reads, in a table of their own.
pub fn published(published: &PublishedOrder, style: &Style) -> String {
    let words = format!(
        "Published: {} ({}); reads of {}, one module alone:",
        published.source, published.machine, published.reads.module
    );
    let table = crate::published::reads(published).render(style);
    format!("\n{}\n{table}", style.wrap(&style.spelt(&words), 0))
}

#[cfg(test)]
mod tests;
