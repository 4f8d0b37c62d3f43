//! A debugged launch with the times of one that nobody stops.

use super::clock::Clock;
use super::inputs::PeInputs;
use crate::names::NTDLL;
use crate::time::median;
use crate::untraced::typical_us;
use model::{
    DebuggedLaunch, DebuggedProcess, Mark, MarkKind, PhaseTrace, Reading, TracedImage,
    TracedProcess,
};

/// The launch that is explained.
pub(super) struct Timeline<'a> {
    /// As it was recorded.
    pub launch: &'a DebuggedLaunch,
    pub clock: Clock,
    /// Its processes and their marks, by the clock.
    pub trace: PhaseTrace,
}

impl<'a> Timeline<'a> {
    /// Of the most typical debugged launch; `None` where there is none.
    pub fn new(inputs: &'a PeInputs) -> Option<Timeline<'a>> {
        let launch = most_typical(inputs)?;
        let total_us = median(&inputs.untraced_us).unwrap_or(launch.total_us);
        let clock = Clock::new(launch, total_us);
        let processes = launch.processes.iter().enumerate();
        let processes = processes.map(|(place, process)| {
            let image = image(process, place, inputs, &clock);
            let ended_us = process.exiting_us.map_or(f64::INFINITY, |us| clock.at_us(us));
            // One that still runs outlives the launch.
            let ended_us = if process.exit_code.is_some() { ended_us } else { total_us * 2.0 };
            TracedProcess {
                pid: process.pid,
                parent: process.parent,
                started_us: clock.at_us(process.started_us),
                ended_us,
                images: vec![image],
            }
        });
        let trace = PhaseTrace {
            total_us,
            processes: processes.collect(),
            stops: launch.stops.len() as u32,
            cpuids: Reading::unavailable("not counted", ""),
            file_calls: Vec::new(),
        };
        Some(Timeline { launch, clock, trace })
    }
}

/// The debugged launch that is as much longer than its neighbors as the others are.
fn most_typical(inputs: &PeInputs) -> Option<&DebuggedLaunch> {
    let launches = inputs.debugged.value()?;
    let totals: Vec<f64> = launches.iter().map(|launch| launch.total_us).collect();
    let wanted = typical_us(&totals, &inputs.untraced_us).or_else(|| median(&totals))?;
    let far = |launch: &DebuggedLaunch| (launch.total_us - wanted).abs();
    let whole = launches.iter().filter(|launch| !launch.processes.is_empty());
    whole.min_by(|one, other| far(one).total_cmp(&far(other)))
}

fn image(process: &DebuggedProcess, place: usize, inputs: &PeInputs, clock: &Clock) -> TracedImage {
    let points = [
        (MarkKind::ExecDone, Some(process.started_us)),
        (MarkKind::Relocated, process.initializing_us),
        (MarkKind::Entry, process.entry_us),
        (MarkKind::Exiting, process.exiting_us),
    ];
    let marks =
        points.into_iter().filter_map(|(kind, at)| Some(Mark { kind, at_us: clock.at_us(at?) }));
    let own = || inputs.command.argv.iter().map(model::text::text).collect();
    TracedImage {
        path: process.path.clone(),
        argv: if place == 0 { own() } else { process.argv.clone() },
        loader: Some(NTDLL.to_owned()),
        marks: marks.collect(),
        faults: Vec::new(),
        notes: process.notes.clone(),
        steps: Vec::new(),
        memory: Vec::new(),
    }
}
