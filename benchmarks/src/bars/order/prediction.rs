//! What was promised before the program was linked, against what it does then.

use super::layouts::Sums;
use crate::report::Row;
use crate::statistics::percent;
use model::OrderReport;

const MOST_OFF: f64 = 0.15;

/// Of so many launches together: the report has averages.
pub fn rows(report: &OrderReport, launches: usize, before: Sums, after: Sums) -> Vec<Row> {
    let all = |mean: f64| mean * launches as f64;
    let pages = all(report.predicted.pages).round() as u64;
    vec![
        Row::bar("pages as predicted", pages.to_string(), "exactly", pages == after.pages)
            .beside(format!("{} traced", after.pages)),
        reads("reads of code as predicted, ordered", all(report.predicted.reads), after),
        reads("reads of code as predicted, link order", all(report.now.reads), before),
    ]
}

fn reads(figure: &str, predicted: f64, found: Sums) -> Row {
    let off = predicted / found.reads as f64 - 1.0;
    let value = format!("{predicted:.0} ({})", percent(off));
    let row = Row::bar(figure, value, "within 15 %", off.abs() <= MOST_OFF);
    row.beside(format!("{} by the kernel", found.reads))
}
