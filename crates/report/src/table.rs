use crate::style::{Style, Tint, columns, padding};

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

/// Which side of its column a text keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// Columns without rules between them; the first gives way where the line is too long.
pub struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<Cell>>,
}

const GAP: usize = 2;
const LEAST_NAME: usize = 8;

impl Table {
    /// A table with a faint head line; every row has as many cells as the head.
    pub fn new(head: &[(&str, Side)]) -> Table {
        let sides = head.iter().map(|(_, side)| *side).collect();
        let cells = head.iter().map(|(text, _)| Cell::new(Tint::Faint, *text)).collect();
        Table { sides, rows: vec![cells] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The lines, each ended by a newline and indented by two columns.
    pub fn render(mut self, style: &Style) -> String {
        let mut widths = self.widths();
        let others: usize = widths.iter().skip(1).map(|width| width + GAP).sum();
        if let Some(first) = widths.first_mut() {
            *first = (*first).min(style.width.saturating_sub(GAP + others).max(LEAST_NAME));
            for row in &mut self.rows {
                row[0].text = style.shorten(&row[0].text, *first);
            }
        }
        let widths = self.widths();
        self.rows.iter().map(|row| self.line(row, &widths, style)).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let widest = |column: usize| {
            self.rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(&cell.text)).max()
        };
        (0..self.sides.len()).map(|column| widest(column).unwrap_or(0)).collect()
    }

    fn line(&self, row: &[Cell], widths: &[usize], style: &Style) -> String {
        let mut line = String::new();
        let mut gap = GAP;
        for ((cell, side), width) in row.iter().zip(&self.sides).zip(widths) {
            let space = padding(&cell.text, *width);
            let painted = style.paint(cell.tint, &cell.text);
            line.push_str(&" ".repeat(gap));
            gap = GAP;
            match side {
                Side::Right => line.push_str(&(space + &painted)),
                Side::Left => {
                    line.push_str(&painted);
                    gap += space.len();
                }
            }
        }
        line.push('\n');
        line
    }
}
