//! What is reported of each executed image.

use super::{Charges, Life, listed};
use crate::names::loader_kind;
use crate::time::us;
use model::{Phase, PhaseTime, ProcessReport};

/// Reports of the executed images in order of start, under the paths that were recorded.
pub(crate) fn process_reports(lives: &[Life], charges: &Charges) -> Vec<ProcessReport> {
    let mut reports: Vec<(i64, ProcessReport)> = lives
        .iter()
        .zip(&charges.lives)
        .map(|(life, charged)| {
            let report = ProcessReport {
                pid: life.pid,
                path: life.image.path.clone(),
                bundle_of: None,
                argv: life.image.argv.clone(),
                loader: loader_kind(life.image.loader.as_deref()),
                started_us: us(life.started),
                ended_us: us(life.ended),
                charged_us: us(charged.values().sum()),
                phases: own_phases(life),
                notes: life.notes.clone(),
            };
            (life.started, report)
        })
        .collect();
    reports.sort_by_key(|(started, _)| *started);
    reports.into_iter().map(|(_, report)| report).collect()
}

/// An image's own phases, without the launch's habit of listing `Unattributed` always.
fn own_phases(life: &Life) -> Vec<PhaseTime> {
    let mut phases = listed(&life.times());
    phases.retain(|time| time.phase != Phase::Unattributed || time.us != 0.0);
    phases
}
