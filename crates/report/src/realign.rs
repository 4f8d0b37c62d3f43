//! The view of realigned PE files.

use crate::rewritten;
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::figures::{bytes, count, plural};

/// One realigned image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RealignRow {
    /// The file.
    pub file: String,
    /// `FileAlignment` before and now.
    pub alignment: (u32, u32),
    /// Sections with data in the file.
    pub sections: u32,
    /// Of these, those that did not, and do not begin at a page of the file.
    pub off_page: (u32, u32),
    /// Sizes of the file.
    pub bytes: (u64, u64),
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A line a file, their sum, notes, and `written`: where the results are. `None` for a dry run.
pub fn table(rows: &[RealignRow], written: Option<&str>, style: &Style) -> String {
    let columns = vec![
        Column::left("file"),
        Column::right("alignment"),
        Column::right("off page").or_drop(2),
        Column::right("of sections").or_drop(1),
        Column::right("size"),
    ];
    let mut table = Table::new(columns);
    let arrow = style.or("→", "to");
    let change = |before: String, now: String| match before == now {
        true => now,
        false => format!("{before} {arrow} {now}"),
    };
    for row in rows {
        let plain = |text: String| Cell::new(Tint::Plain, text);
        let (before, now) = row.alignment;
        table.row(vec![
            Cell::new(Tint::Name, style.terminal(&row.file)),
            plain(change(before.to_string(), now.to_string())),
            plain(change(row.off_page.0.to_string(), row.off_page.1.to_string())),
            plain(row.sections.to_string()),
            plain(change(bytes(row.bytes.0), bytes(row.bytes.1))),
        ]);
    }
    let notes = rows.iter().map(|row| (row.file.as_str(), row.notes.as_slice()));
    table.render(style)
        + &sum(rows, written.is_none(), style)
        + &rewritten::end(notes, written, style)
}

/// What came of all of them together.
fn sum(rows: &[RealignRow], dry_run: bool, style: &Style) -> String {
    let mapped: u64 =
        rows.iter().map(|row| u64::from(row.off_page.0.saturating_sub(row.off_page.1))).sum();
    let unmapped: u64 =
        rows.iter().map(|row| u64::from(row.off_page.1.saturating_sub(row.off_page.0))).sum();
    let (before, now) =
        rows.iter().fold((0, 0), |(before, now), row| (before + row.bytes.0, now + row.bytes.1));
    let files = plural(rows.len() as u64, "file", "files");
    let sizes = match (before == now, dry_run) {
        (true, _) => format!("{}, unchanged", bytes(before)),
        (false, true) => format!("{} before, {} afterwards", bytes(before), bytes(now)),
        (false, false) => format!("{} before, {} now", bytes(before), bytes(now)),
    };
    let begin = |sections: u64| match (sections, dry_run) {
        (1, true) => "1 section would begin".to_owned(),
        (_, true) => format!("{} sections would begin", count(sections)),
        (1, false) => "1 section begins".to_owned(),
        (_, false) => format!("{} sections begin", count(sections)),
    };
    let then = if dry_run { "" } else { " now" };
    let text = match (mapped, unmapped) {
        (0, 0) => format!("{files}: {sizes}."),
        (0, unmapped) => format!(
            "{files}: {} off a page boundary of the file{then}, where Wine cannot map them; \
             {sizes}.",
            begin(unmapped)
        ),
        (mapped, _) => format!(
            "{files}: {} at a page boundary of the file{then}, where Wine maps them instead of \
             reading them into memory; {sizes}.",
            begin(mapped)
        ),
    };
    format!("\n{}\n", style.wrap(&text, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_their_sum_are_told() {
        let row = |file: &str, alignment, off_page, bytes| RealignRow {
            file: file.to_owned(),
            alignment,
            sections: 6,
            off_page,
            bytes,
            notes: vec!["its signature was removed".to_owned()],
        };
        let rows = [
            row("Qt5Core.dll", (512, 4096), (6, 0), (6_000_000, 6_012_928)),
            row("a/rather/long/path/to/done.dll", (4096, 4096), (0, 0), (40_960, 40_960)),
        ];
        let style = Style { color: false, width: 80, unicode: true };
        insta::assert_snapshot!(table(&rows, Some("Written to out"), &style));
        let narrow = Style { width: 50, unicode: false, ..style };
        insta::assert_snapshot!(table(&rows[1..], None, &narrow));
    }
}
