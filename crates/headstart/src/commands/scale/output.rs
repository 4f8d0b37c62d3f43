//! What a sweep prints.

use super::session::Session;
use super::subject;
use crate::output;
use anyhow::{Context, Result};
use lab::Runner;
use model::Reading;
use model::growth::{Point, Quantile, SCALE_SCHEMA, Scale, Unit};
use report::chart::{Chart, svg};
use serde::Serialize;
use std::path::Path;

/// Draws every chart into a folder.
pub fn draw(scale: &Scale, folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for chart in Chart::ALL {
        let file = folder.join(format!("{}.svg", chart.name()));
        output::write_file(&file, &svg(scale, &[chart]))?;
    }
    Ok(())
}

/// Keeps the result in the run folder and prints it.
pub fn print(session: &Session, scale: &Scale, json: bool) -> Result<()> {
    keep(session, scale)?;
    output::print(&if json {
        report::export::json(&printed(session, scale))?
    } else {
        report::scale::view(scale, &output::style())
    })
}

/// Keeps the result in the run folder, if there is one.
pub fn keep(session: &Session, scale: &Scale) -> Result<()> {
    if let Some(folder) = &session.folder {
        folder.write("scale.json", report::export::json(scale)?.as_bytes())?;
    }
    Ok(())
}

/// What `--json` prints.
pub fn printed<'a>(session: &Session, scale: &'a Scale) -> Printed<'a> {
    let run = session.folder.as_ref().map(|folder| folder.path().display().to_string());
    Printed { scale, run }
}

/// `scale.json` of the run folder, and where that is.
#[derive(Serialize)]
pub struct Printed<'a> {
    #[serde(flatten)]
    scale: &'a Scale,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<String>,
}

/// What the sweep has found so far.
pub fn scale(session: &Session) -> Scale {
    let plan = &session.plan;
    let (points, quantile) = match plan.unit {
        Unit::Us => times(session),
        _ => (counts(session), None),
    };
    let fit = stats::growth::fit(&points)
        .map_or_else(|error| Reading::unavailable(error.to_string(), ""), Reading::Value);
    let (mut workload, parameter) = subject::words(&plan.subject);
    if let Runner::Wine(_) = session.runner {
        workload += &format!(", {}", session.runner.words());
    }
    Scale {
        schema: SCALE_SCHEMA,
        headstart: session.experiment.headstart.clone(),
        workload,
        parameter,
        unit: plan.unit,
        quantile,
        fit,
        points,
        notes: session.notes.iter().chain(&plan.notes).cloned().collect(),
    }
}

fn times(session: &Session) -> (Vec<Point>, Option<Quantile>) {
    let times = stats::times(&session.experiment, &session.samples);
    let series: Vec<(u64, Vec<f64>)> = session.plan.chosen.iter().copied().zip(times).collect();
    let (points, quantile) = stats::growth::points(&series, session.experiment.schedule.seed);
    (points, Some(quantile))
}

fn counts(session: &Session) -> Vec<Point> {
    session.plan.counts.iter().map(|&(n, count)| Point::counted(n, count)).collect()
}
