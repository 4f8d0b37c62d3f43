//! The bars of recording and ordering functions, on a compiler of 176,000 functions that is linked
//! again in every order.

mod bed;
mod cold_start;
mod instrumented;
mod layouts;
mod many_traces;
mod peers;
mod prediction;
mod recording;
mod unmodified;

use crate::context::Context;
use crate::report::{Report, Row};
use anyhow::Result;
use bed::Bed;

/// Traces, orders, links and verifies. What cannot be measured is a row that fails.
///
/// # Errors
/// The compiler cannot be linked, or the disk for cold launches cannot be mounted: only root can.
pub fn check(context: &Context) -> Result<Report> {
    let mut report = Report::default();
    part(&mut report, "order of an instrumented build", instrumented::rows(context));
    part(&mut report, "unmodified programs", unmodified::rows(context));
    let bed = Bed::make(context)?;
    part(&mut report, "20 traces", many_traces::rows(&bed));
    part(&mut report, "recording", recording::rows(&bed));
    part(&mut report, "layouts", layouts::rows(&bed));
    Ok(report)
}

fn part(report: &mut Report, name: &str, found: Result<Vec<Row>>) {
    match found {
        Ok(rows) => report.rows.extend(rows),
        Err(error) => report.rows.push(Row::bar(name, format!("{error:#}"), "measured", false)),
    }
}
