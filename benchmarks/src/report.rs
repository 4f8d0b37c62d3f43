//! The table that a check prints.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One figure against its bar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// What was measured.
    pub figure: String,
    /// headstart's value.
    pub value: String,
    /// What it has to be; empty for a figure that is only shown.
    pub bar: String,
    /// The peer's value, where there is a peer.
    pub peer: String,
    /// Whether the bar was reached; `None` for a figure that is only shown.
    pub good: Option<bool>,
}

impl Row {
    /// A figure with a bar.
    pub fn bar(figure: impl Into<String>, value: String, bar: &str, good: bool) -> Self {
        let (figure, bar) = (figure.into(), bar.to_owned());
        Row { figure, value, bar, peer: String::new(), good: Some(good) }
    }

    /// A figure that is only shown.
    pub fn shown(figure: impl Into<String>, value: String) -> Self {
        let (figure, none) = (figure.into(), String::new());
        Row { figure, value, bar: none.clone(), peer: none, good: None }
    }

    /// The row with the peer's value.
    pub fn beside(self, peer: impl Into<String>) -> Self {
        Row { peer: peer.into(), ..self }
    }
}

/// What one check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In order of printing.
    pub rows: Vec<Row>,
}

impl Report {
    /// Whether every bar was reached.
    pub fn good(&self) -> bool {
        self.rows.iter().all(|row| row.good != Some(false))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let titles = Row {
            figure: "figure".to_owned(),
            value: "headstart".to_owned(),
            bar: "bar".to_owned(),
            peer: "peer".to_owned(),
            good: None,
        };
        let lines: Vec<[&str; 5]> = std::iter::once(&titles).chain(&self.rows).map(cells).collect();
        let width = |column: usize| {
            lines.iter().map(|cells| cells[column].chars().count()).max().unwrap_or(0)
        };
        let widths: [usize; 5] = std::array::from_fn(width);
        for cells in &lines {
            let mut line = String::new();
            for (cell, width) in cells.iter().zip(widths) {
                line.push_str(&format!("{cell:<width$}  "));
            }
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

fn cells(row: &Row) -> [&str; 5] {
    let word = match row.good {
        Some(true) => "pass",
        Some(false) => "FAIL",
        None => "",
    };
    [&row.figure, &row.value, &row.bar, &row.peer, word]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other() {
        let rows = vec![
            Row::bar("min ÷ bare", "1.07".to_owned(), "≤ 1.15", true).beside("2.5"),
            Row::shown("launches", "100".to_owned()),
        ];
        let mut report = Report { rows };
        assert!(report.good());
        let text = report.to_string();
        let expected = "\
figure      headstart  bar     peer
min ÷ bare  1.07       ≤ 1.15  2.5   pass
launches    100
";
        assert_eq!(text, expected);
        report.rows.push(Row::bar("x", "2".to_owned(), "1", false));
        assert!(!report.good() && report.to_string().contains("FAIL"));
    }
}
