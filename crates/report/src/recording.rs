//! Views of what launches read: a recording, the recordings that are kept, what was read ahead.

use crate::figure::{count, percent, plural, time};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::text::base_name;
use model::{
    AheadReport, RecordedFile, Recording, RecordingEntry, RecordingList, RecordingMode,
    RecordingReport,
};

/// Files that are shown; the rest is one line.
const ROWS: usize = 15;

/// A recording: its sum in a sentence, and its files, the largest first.
pub fn view(report: &RecordingReport, style: &Style, all: bool) -> String {
    let recording = &report.recording;
    let command = style.shorten(&recording.command, style.width);
    let mut view = style.paint(Tint::Name, &command) + "\n\n";
    let of_launches = match recording.launches {
        1 => String::new(),
        launches => format!(" by {launches} recordings together"),
    };
    let sentence = format!(
        "{} KiB of {} read{of_launches}, {}; {} looked up.",
        count(report.bytes.div_ceil(1024)),
        plural(recording.files.len() as u64, "file", "files"),
        precision(recording),
        plural(recording.looked_up.len() as u64, "other path", "other paths"),
    );
    view += &(style.wrap(&sentence, 0) + "\n\n");
    view += &files(report, all, style).render(style);
    let stale = report.stale.iter().map(|file| format!("'{}': {}", file.path, file.reason));
    let stale: Vec<String> = stale.collect();
    let mut notes = recording.notes.clone();
    if let Some(first) = stale.first() {
        let others = match stale.len() - 1 {
            0 => String::new(),
            others => format!(", and {others} more"),
        };
        notes.push(format!("not as recorded, so not read ahead: {first}{others}; record again"));
    }
    view + &style.notes_below(&notes)
}

/// What a way of recording is worth.
fn precision(recording: &Recording) -> String {
    let words = match recording.mode {
        RecordingMode::Exact => "recorded exactly (cold launch without read-ahead)",
        RecordingMode::Tracepoints => "recorded with what the kernel read ahead (tracepoints)",
        RecordingMode::PageFaults => "recorded approximately (page faults of a warm launch)",
    };
    match recording.approximate_files {
        0 => words.to_owned(),
        files => format!("{words}, parts of {} less exactly", plural(files, "file", "files")),
    }
}

fn files(report: &RecordingReport, all: bool, style: &Style) -> Table {
    let mut table = Table::new(vec![
        Column::left("file"),
        Column::right("KiB"),
        Column::right("of"),
        Column::right("share").or_drop(1),
        Column::right("ranges").or_drop(2),
        Column::right("first touch").or_drop(3),
    ]);
    let mut files: Vec<&RecordedFile> = report.recording.files.iter().collect();
    files.sort_by_key(|file| std::cmp::Reverse(file.bytes()));
    let shown = if all || files.len() <= ROWS + 1 { files.len() } else { ROWS };
    let (shown, hidden) = files.split_at(shown);
    for file in shown {
        let first = file.touched_us.first().map_or(String::new(), |first| time(*first, style));
        table.row(row(Tint::Name, base_name(&file.path), &[file], first));
    }
    if !hidden.is_empty() {
        let name = format!("{} more", hidden.len());
        table.row(row(Tint::Faint, &name, hidden, String::new()));
    }
    if files.len() > 1 {
        table.row(row(Tint::Strong, &format!("all {}", files.len()), &files, String::new()));
    }
    table
}

fn row(tint: Tint, name: &str, files: &[&RecordedFile], first: String) -> Vec<Cell> {
    let bytes: u64 = files.iter().map(|file| file.bytes()).sum();
    let size: u64 = files.iter().map(|file| file.identity.size_bytes).sum();
    let ranges: usize = files.iter().map(|file| file.ranges.len()).sum();
    let share = if size == 0 { String::new() } else { percent(bytes as f64 / size as f64) };
    let figures = [
        count(bytes.div_ceil(1024)),
        count(size.div_ceil(1024)),
        share,
        count(ranges as u64),
        first,
    ];
    let figures = figures.map(|figure| Cell::new(Tint::Plain, figure));
    [Cell::new(tint, name)].into_iter().chain(figures).collect()
}

/// The recordings that are kept, numbered from 1.
pub fn list(list: &RecordingList, style: &Style) -> String {
    if list.recordings.is_empty() {
        return "No recordings are kept.\n".to_owned();
    }
    let mut table = Table::new(vec![
        Column::right("no."),
        Column::left("command"),
        Column::left("recorded").or_drop(2),
        Column::right("KiB"),
        Column::right("stale files").or_drop(1),
    ]);
    for (index, entry) in list.recordings.iter().enumerate() {
        table.row(entry_row(index + 1, entry, style));
    }
    let problems = list.recordings.iter().filter_map(|entry| entry.problem.clone());
    let problems: Vec<String> = problems.collect();
    table.render(style) + &style.notes_below(&problems)
}

fn entry_row(number: usize, entry: &RecordingEntry, style: &Style) -> Vec<Cell> {
    let mode = entry.mode.map_or("?", |mode| match mode {
        RecordingMode::Exact => "exactly",
        RecordingMode::Tracepoints => "with read-ahead",
        RecordingMode::PageFaults => "by page faults",
    });
    let known = |figure: Option<u64>| figure.map_or("?".to_owned(), count);
    let command = entry.command.as_deref().unwrap_or(base_name(&entry.path));
    let cells = [
        (Tint::Plain, count(number as u64)),
        (Tint::Name, style.shorten(command, style.width / 2)),
        (Tint::Plain, mode.to_owned()),
        (Tint::Plain, known(entry.bytes.map(|bytes| bytes.div_ceil(1024)))),
        (Tint::Plain, known(entry.stale_files)),
    ];
    cells.into_iter().map(|(tint, text)| Cell::new(tint, text)).collect()
}

/// What was read ahead, in a sentence or two.
pub fn ahead(report: &AheadReport, style: &Style) -> String {
    let files = plural(report.files, "file", "files");
    let mut text = if report.was_in_memory {
        format!("Everything that was looked at is in memory: nothing was read of {files}.\n")
    } else if report.without_memory {
        "Nothing was read: it would fill more than half of the available memory.\n".to_owned()
    } else {
        format!(
            "Asked for {} KiB of {files} in {}.\n",
            count(report.asked_bytes.div_ceil(1024)),
            plural(report.requests, "request", "requests")
        )
    };
    let skipped = report
        .skipped
        .iter()
        .map(|file| format!("'{}' was left alone: {}", file.path, file.reason));
    text += &style.notes_below(&skipped.collect::<Vec<_>>());
    text
}

#[cfg(test)]
mod tests;
