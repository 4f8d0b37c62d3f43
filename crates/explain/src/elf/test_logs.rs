//! Recorded loader logs for tests. First line: total and process id of the launch; then one line
//! of `microseconds process text` each, as the recorder stamps them.

use crate::elf::inputs::Inputs;
use model::{Command, LoaderLine, LoaderLog, Mark, MarkKind, PhaseTrace, Reading};
use std::path::PathBuf;

pub(crate) fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/logs/{name}.log"))
}

pub(crate) fn log(name: &str) -> LoaderLog {
    let text = std::fs::read_to_string(path(name)).unwrap();
    let mut lines = text.lines();
    let (total, pid) = lines.next().unwrap().split_once(' ').unwrap();
    let lines = lines.map(|line| {
        let mut parts = line.splitn(3, ' ');
        LoaderLine {
            at_us: parts.next().unwrap().parse().unwrap(),
            pid: parts.next().unwrap().parse().unwrap(),
            text: parts.next().unwrap_or_default().to_owned(),
        }
    });
    LoaderLog {
        total_us: total.parse().unwrap(),
        pid: pid.parse().unwrap(),
        lines: lines.collect(),
    }
}

/// A phase launch as ptrace would have seen the launch of a log, in `share` of its time: the
/// log's points, and what only ptrace sees between them.
pub(crate) fn traced(log: &LoaderLog, share: f64) -> PhaseTrace {
    let mut trace = crate::elf::from_log::trace_from_log(log);
    trace.stops = 40;
    trace.total_us *= share;
    for process in &mut trace.processes {
        process.started_us = (process.started_us * share - 900.0).max(0.0);
        process.ended_us *= share;
        for image in &mut process.images {
            for mark in &mut image.marks {
                mark.at_us *= share;
            }
            let Some(first) = image.marks.first().copied() else { continue };
            let earlier = |us: f64| (first.at_us - us).max(process.started_us);
            let called = Mark { kind: MarkKind::ExecCalled, at_us: earlier(900.0) };
            image.marks[0].at_us = earlier(500.0);
            image.marks.insert(0, called);
        }
    }
    trace
}

/// Inputs of a launch with one phase trace and one loader log.
pub(crate) fn inputs(name: &str, share: f64) -> Inputs {
    let command = Command {
        argv: vec![name.into(), "--version".into()],
        program: PathBuf::from("/usr/bin").join(name),
        directory: None,
        environment: Vec::new(),
    };
    let log = log(name);
    let mut inputs = Inputs::nothing(command, "not recorded in this test");
    inputs.phase_traces = Reading::Value(vec![traced(&log, share)]);
    inputs.loader_logs = Reading::Value(vec![log]);
    inputs
}
