//! Tables that fit: columns give way where the line is too long.

use crate::style::{Style, Tint};
use crate::text::{columns, padding};

/// A cell: its text and its look.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    tint: Tint,
}

impl Cell {
    /// A cell in the look of `tint`.
    pub fn new(tint: Tint, text: impl Into<String>) -> Cell {
        Cell { text: text.into(), tint }
    }
}

/// The head of a column, and how its texts stand.
#[derive(Clone, Debug)]
pub struct Column {
    head: String,
    right: bool,
    /// The column with the largest number goes first where there is no room; 0 stays.
    dispensable: u8,
}

impl Column {
    /// Words, at the left of their column.
    pub fn left(head: impl Into<String>) -> Column {
        Column { head: head.into(), right: false, dispensable: 0 }
    }

    /// Figures, at the right of their column.
    pub fn right(head: impl Into<String>) -> Column {
        Column { right: true, ..Column::left(head) }
    }

    /// Left out where there is no room, the one with the largest number first.
    pub fn or_drop(self, dispensable: u8) -> Column {
        Column { dispensable, ..self }
    }
}

/// Columns without rules between them. Where a line is too long dispensable columns go, then
/// the first column's texts lose their middles.
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    has_whole_names: bool,
}

const GAP: usize = 2;
/// Names are never shortened to less than this, …
const LEAST_NAME: usize = 8;
/// … and a column goes before they are shortened to less than this.
const FAIR_NAME: usize = 20;

impl Table {
    /// A table with a faint head line; every row has as many cells as there are columns.
    pub fn new(columns: Vec<Column>) -> Table {
        let head = columns.iter().map(|column| Cell::new(Tint::Faint, &*column.head)).collect();
        Table { columns, rows: vec![head], has_whole_names: false }
    }

    /// The same, with the first column's texts whole even if a line becomes too long: for what is
    /// copied from the screen.
    pub fn with_whole_names(self) -> Table {
        Table { has_whole_names: true, ..self }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The lines, each ended by a newline and indented by two columns.
    pub fn render(mut self, style: &Style) -> String {
        let mut widths = self.widths();
        while self.too_wide(&widths, style.width) && self.drop_one() {
            widths = self.widths();
        }
        let name = style.width.saturating_sub(others(&widths) + GAP).max(LEAST_NAME);
        let names = self.rows.iter_mut().filter_map(|row| row.first_mut());
        for cell in names.filter(|_| !self.has_whole_names) {
            cell.text = style.shorten(&cell.text, name);
        }
        let widths = self.widths();
        self.rows.iter().map(|row| self.line(row, &widths, style)).collect()
    }

    /// All columns as a Markdown table.
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let cell = |cell: &Cell| cell.text.replace(['\n', '\r'], " ").replace('|', r"\|");
        let mut rows = self.rows.iter().map(|row| line(row.iter().map(cell).collect()));
        let head = rows.next().unwrap_or_default();
        let rule = |column: &Column| if column.right { "---:" } else { ":---" }.to_owned();
        head + &line(self.columns.iter().map(rule).collect()) + &rows.collect::<String>()
    }

    fn too_wide(&self, widths: &[usize], width: usize) -> bool {
        let most = if self.has_whole_names { usize::MAX } else { FAIR_NAME };
        let name = widths.first().map_or(0, |&name| name.min(most));
        GAP + name + others(widths) > width
    }

    /// Removes the most dispensable column; whether there was one.
    fn drop_one(&mut self) -> bool {
        let ranked = self.columns.iter().enumerate().map(|(at, column)| (column.dispensable, at));
        let Some((_, at)) = ranked.filter(|(rank, _)| *rank > 0).max() else { return false };
        self.columns.remove(at);
        self.rows.iter_mut().filter(|row| at < row.len()).for_each(|row| drop(row.remove(at)));
        true
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(&cell.text)).max()
        };
        (0..self.columns.len()).map(|column| widest(column).unwrap_or(0)).collect()
    }

    fn line(&self, row: &[Cell], widths: &[usize], style: &Style) -> String {
        let mut line = String::new();
        // Spaces wait until a text follows them: none end a line.
        let mut gap = GAP;
        for ((cell, column), width) in row.iter().zip(&self.columns).zip(widths) {
            let space = padding(&cell.text, *width).len();
            let (before, after) = if column.right { (space, 0) } else { (0, space) };
            if cell.text.is_empty() {
                gap += width + GAP;
                continue;
            }
            line.push_str(&" ".repeat(gap + before));
            line.push_str(&style.paint(cell.tint, &cell.text));
            gap = GAP + after;
        }
        line.push('\n');
        line
    }
}

/// Columns taken by all but the first.
fn others(widths: &[usize]) -> usize {
    widths.iter().skip(1).map(|width| width + GAP).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = vec![
            Column::left("name"),
            Column::right("kept"),
            Column::right("second").or_drop(1),
            Column::left("first").or_drop(2),
        ];
        let mut table = Table::new(columns);
        let cells = ["a long name indeed", "1", "22", ""];
        table.row(cells.map(|text| Cell::new(Tint::Plain, text)).into());
        table
    }

    #[test]
    fn columns_give_way_before_names_do() {
        let at = |width| table().render(&Style { color: false, width, unicode: true });
        let wide =
            "  name                kept  second  first\n  a long name indeed     1      22\n";
        assert_eq!(at(80), wide);
        let fair = "  name                kept  second\n  a long name indeed     1      22\n";
        assert_eq!(at(36), fair);
        assert_eq!(at(26), "  name                kept\n  a long name indeed     1\n");
        assert_eq!(at(0), "  name      kept\n  a lo…eed     1\n");
    }
}
