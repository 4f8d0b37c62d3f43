//! Plots a sweep in the terminal.

use crate::figure::{count, time};
use crate::style::{Style, Tint};
use crate::text::{columns, padding};
use model::growth::{Quantile, Scale, Unit};

/// Lines of a plot.
const ROWS: usize = 12;
/// A plot is never wider, however wide the terminal is …
const WIDEST: usize = 80;
/// … and is left out below this.
const NARROWEST: usize = 32;

/// n against the value with the fitted curve: some lines of at most 80 columns, each ended by a
/// newline. Empty without two sizes, and where the terminal is too narrow.
pub fn plot(scale: &Scale, style: &Style) -> String {
    let Some(grid) = Grid::of(scale, style) else { return String::new() };
    let edge = style.paint(Tint::Faint, style.or("│", "|"));
    let mut drawn = String::new();
    for (i, row) in grid.rows.iter().enumerate() {
        let label = if i == 0 { &*grid.top } else { "" };
        let space = padding(label, grid.label);
        drawn += &format!("  {space}{label} {edge}{}\n", grid.paint(row, style));
    }
    let line = style.or("└", "+").to_owned() + &style.or("─", "-").repeat(grid.width);
    let zero = padding("0", grid.label);
    drawn += &format!("  {zero}0 {}\n", style.paint(Tint::Faint, &line));
    drawn += &grid.foot(scale, style);
    drawn
}

struct Grid {
    rows: Vec<Vec<char>>,
    /// Columns of the drawing, and of the labels left of it.
    width: usize,
    label: usize,
    top: String,
    last: f64,
    marks: (char, char),
}

impl Grid {
    fn of(scale: &Scale, style: &Style) -> Option<Grid> {
        let last = scale.points.iter().map(|p| p.n).max().filter(|n| *n > 0)? as f64;
        let fit = scale.fit.value();
        let fitted = fit.and_then(|fit| fit.value(last)).unwrap_or(0.0);
        let most = scale.points.iter().map(|p| p.value()).fold(fitted, f64::max);
        let top = match scale.unit {
            Unit::Us => time(most, style),
            _ => count(most.round() as u64),
        };
        let label = columns(&top);
        let width = style.width.min(WIDEST).checked_sub(label + 4)?;
        if style.width < NARROWEST || !(most > 0.0 && most.is_finite()) {
            return None;
        }
        let marks = if style.unicode { ('●', '·') } else { ('o', '.') };
        let rows = vec![vec![' '; width]; ROWS];
        let mut grid = Grid { rows, width, label, top, last, marks };
        for column in 0..width {
            let n = last * column as f64 / (width - 1) as f64;
            if let Some(value) = fit.and_then(|fit| fit.value(n)) {
                grid.set(column, value / most, marks.1);
            }
        }
        for point in &scale.points {
            let column = point.n as f64 / last * (width - 1) as f64;
            grid.set(column.round() as usize, point.value() / most, marks.0);
        }
        Some(grid)
    }

    /// Puts a mark at a part of the height, from 0 at the bottom to 1 at the top.
    fn set(&mut self, column: usize, part: f64, mark: char) {
        let down = ((1.0 - part.clamp(0.0, 1.0)) * (ROWS - 1) as f64).round() as usize;
        let cell = self.rows.get_mut(down).and_then(|row| row.get_mut(column));
        if let Some(cell) = cell {
            *cell = mark;
        }
    }

    fn paint(&self, row: &[char], style: &Style) -> String {
        let end = row.iter().rposition(|c| *c != ' ').map_or(0, |last| last + 1);
        let tint = |c: char| if c == self.marks.0 { Tint::Strong } else { Tint::Bar };
        let runs = row[..end].chunk_by(|a, b| a == b);
        runs.map(|run| style.paint(tint(run[0]), &run.iter().collect::<String>())).collect()
    }

    /// The ends of the axis of n, and what the marks are.
    fn foot(&self, scale: &Scale, style: &Style) -> String {
        let last = format!("n = {}", count(self.last as u64));
        let what = scale.quantile.map_or("counted", Quantile::name);
        let mut legend = format!("{} {what}", self.marks.0);
        if scale.fit.value().is_some_and(|fit| !fit.terms.is_empty()) {
            legend += &format!("  {} fitted law", self.marks.1);
        }
        let room = self.width.saturating_sub(last.len() + 3);
        if columns(&legend) > room {
            legend.clear();
        }
        let legend_space = padding(&legend, room);
        let lead = " ".repeat(self.label + 4);
        let legend = style.paint(Tint::Faint, &legend);
        format!("{lead}0  {legend}{legend_space}{last}\n")
    }
}
