//! The view of PE files that were rewritten as a set.

use crate::rewritten;
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use model::figures::count;

/// One image of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetRow {
    /// The file.
    pub file: String,
    /// A figure for each column.
    pub figures: Vec<u64>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// A line a file with a figure under each of `heads`, a sentence, notes, and `written`: where the
/// results are. `None` for a dry run.
pub fn table(
    heads: &[&str],
    rows: &[SetRow],
    sentence: &str,
    written: Option<&str>,
    style: &Style,
) -> String {
    let figures = heads.iter().zip(1_u8..).map(|(head, number)| match number {
        1 => Column::right(*head),
        more => Column::right(*head).or_drop(more),
    });
    let mut table = Table::new(std::iter::once(Column::left("file")).chain(figures).collect());
    for row in rows {
        let name = Cell::new(Tint::Name, style.terminal(&row.file));
        let figures = row.figures.iter().map(|figure| match figure {
            0 => Cell::new(Tint::Faint, "0"),
            figure => Cell::new(Tint::Plain, count(*figure)),
        });
        table.row(std::iter::once(name).chain(figures).collect());
    }
    let notes = rows.iter().map(|row| (row.file.as_str(), row.notes.as_slice()));
    let sentence = format!("\n{}\n", style.wrap(sentence, 0));
    table.render(style) + &sentence + &rewritten::end(notes, written, style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_sentence_and_notes() {
        let row = |file: &str, figures: [u64; 3], notes: &[&str]| SetRow {
            file: file.to_owned(),
            figures: figures.into(),
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
        };
        let rows = [
            row("program.exe", [12_345, 0, 3], &["3 imports are from KERNEL32.dll"]),
            row("a/rather/long/path/to/library.dll", [7, 1, 0], &[]),
        ];
        let style = Style { color: false, width: 80, unicode: true };
        let heads = ["repaired", "right before", "unknown"];
        let text =
            table(&heads, &rows, "12,352 hints are right now.", Some("Written to x"), &style);
        insta::assert_snapshot!(text);
        let narrow = Style { width: 44, ..style };
        insta::assert_snapshot!(table(&heads, &rows, "All are right.", None, &narrow));
    }
}
