//! A debugged launch with the times of one that nobody stops.

use super::clock::Clock;
use super::inputs::PeInputs;
use super::median_launch::median_launch;
use crate::names::NTDLL;
use crate::time::median;
use model::{
    DebuggedLaunch, DebuggedProcess, Mark, MarkKind, PhaseTrace, Reading, TracedImage,
    TracedProcess,
};

/// The launch that is explained.
pub(super) struct Timeline {
    /// Its times as they were recorded.
    pub launch: DebuggedLaunch,
    /// How many it is the median of.
    pub launches: usize,
    pub clock: Clock,
    /// Its processes and their marks, by the clock.
    pub trace: PhaseTrace,
}

impl Timeline {
    /// Of the median of the debugged launches; `None` where there is none.
    pub fn new(inputs: &PeInputs) -> Option<Timeline> {
        let (launch, launches) = median_launch(inputs.debugged.value()?)?;
        let total_us = median(&inputs.untraced_us).unwrap_or(launch.total_us);
        let clock = Clock::new(&launch, total_us);
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
        Some(Timeline { launch, launches, clock, trace })
    }
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
