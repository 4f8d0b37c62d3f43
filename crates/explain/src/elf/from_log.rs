//! Phases from the loader's log, for launches that ptrace may not follow.

use crate::elf::loader_log::{Run, runs};
use crate::time::us;
use model::{LoaderLog, Mark, MarkKind, PhaseTrace, Reading, TracedImage, TracedProcess};

/// Marks as far as the loader's debug output shows them, for launches that ptrace may not
/// follow.
///
/// The log begins with the loader's first search and ends with its last finalizer, so the calls
/// of clone and execve, the loader's own start and the kernel's tear-down cannot be seen:
/// before a process's first line its time stays unattributed, and a process that is not the
/// launched one counts as ended with its last line.
pub(crate) fn trace_from_log(log: &LoaderLog) -> PhaseTrace {
    let mut processes: Vec<TracedProcess> = Vec::new();
    for run in runs(log) {
        let image = image(&run);
        let index = processes.iter().position(|process| process.pid == run.pid);
        match index.and_then(|index| processes.get_mut(index)) {
            Some(process) => {
                process.images.push(image);
                process.ended_us = us(run.last);
            }
            None => processes.push(TracedProcess {
                pid: run.pid,
                parent: None,
                started_us: us(run.first),
                ended_us: us(run.last),
                images: vec![image],
            }),
        }
    }
    // The launched process is the first, whichever wrote the first line, even if it wrote none.
    let launched = processes.iter().position(|process| process.pid == log.pid);
    let launched = launched.map(|index| processes.remove(index)).unwrap_or(TracedProcess {
        pid: log.pid,
        parent: None,
        started_us: 0.0,
        ended_us: log.total_us,
        images: Vec::new(),
    });
    processes.insert(0, launched);
    for (index, process) in processes.iter_mut().enumerate() {
        process.parent = (index > 0).then_some(0);
    }
    let not_counted = Reading::unavailable("not counted in this launch", "");
    PhaseTrace {
        total_us: log.total_us,
        processes,
        stops: 0,
        cpuids: not_counted,
        file_calls: Vec::new(),
    }
}

/// The note on an image whose log does not show its end.
const CUT_SHORT: &str = "the log does not show when it ended: what it did after its last line is \
                         charged to the program that started it";

fn image(run: &Run) -> TracedImage {
    let points = [
        (MarkKind::ExecDone, Some(run.first)),
        (MarkKind::Mapped, run.mapped),
        (MarkKind::Relocated, run.relocated),
        (MarkKind::Main, run.main),
        (MarkKind::ExitCalled, run.finalizing),
    ];
    let marks = points
        .into_iter()
        .filter_map(|(kind, at)| at.map(|at| Mark { kind, at_us: us(at) }))
        .collect();
    // Some programs close their standard error before they end, and with it the log.
    let unseen = run.main.is_some() && run.finalizing.is_none();
    let notes = if unseen { vec![CUT_SHORT.to_owned()] } else { Vec::new() };
    TracedImage {
        path: run.program.clone(),
        argv: vec![run.program.clone()],
        loader: Some(run.loader().unwrap_or("/lib/ld-linux.so").to_owned()),
        marks,
        notes,
        steps: Vec::new(),
        memory: Vec::new(),
        faults: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_is_closed_before_the_end_is_said() {
        let run = |finalizing| Run { main: Some(10), finalizing, ..Run::default() };
        assert_eq!(image(&run(None)).notes, [CUT_SHORT]);
        assert!(image(&run(Some(20))).notes.is_empty());
        // One that never came to main has a note of its own.
        assert!(image(&Run::default()).notes.is_empty());
    }
}
