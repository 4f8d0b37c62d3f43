//! Records of a program that does not end by itself, cut off at the moment when it was ready.

use model::{LoaderLog, PageFaults, PhaseTrace};

/// The launch up to `at_us`. What was alive then ends then.
pub(super) fn trace(mut trace: PhaseTrace, at_us: f64) -> PhaseTrace {
    if trace.total_us <= at_us {
        return trace;
    }
    trace.total_us = at_us;
    for process in &mut trace.processes {
        // Later processes stay, as others are known by their place in the list.
        process.started_us = process.started_us.min(at_us);
        process.ended_us = process.ended_us.min(at_us);
        for image in &mut process.images {
            image.marks.retain(|mark| mark.at_us < at_us);
        }
        process.images.retain(|image| !image.marks.is_empty());
    }
    trace.file_calls.retain(|call| call.at_us < at_us);
    trace
}

/// The log up to `at_us`.
pub(super) fn log(mut log: LoaderLog, at_us: f64) -> LoaderLog {
    log.lines.retain(|line| line.at_us < at_us);
    log.total_us = log.total_us.min(at_us);
    log
}

/// The faults up to `at_us`.
pub(super) fn faults(mut faults: PageFaults, at_us: f64) -> PageFaults {
    faults.mappings.retain(|mapping| mapping.at_us < at_us);
    faults.faults.retain(|fault| fault.at_us < at_us);
    faults.total_us = faults.total_us.min(at_us);
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Mark, MarkKind, Reading, TracedImage, TracedProcess};

    #[test]
    fn what_comes_after_the_cut_is_gone() {
        let marks =
            [(MarkKind::ExecCalled, 5.0), (MarkKind::Main, 50.0), (MarkKind::Exiting, 900.0)];
        let process = |started_us: f64| TracedProcess {
            pid: 1,
            parent: None,
            started_us,
            ended_us: 950.0,
            images: vec![TracedImage {
                path: "/bin/x".to_owned(),
                argv: Vec::new(),
                loader: None,
                marks: marks.map(|(kind, at_us)| Mark { kind, at_us: started_us + at_us }).to_vec(),
                notes: Vec::new(),
            }],
        };
        let whole = PhaseTrace {
            total_us: 1000.0,
            processes: vec![process(0.0), process(500.0)],
            stops: 3,
            cpuids: Reading::unavailable("not counted", ""),
            file_calls: Vec::new(),
        };
        assert_eq!(trace(whole.clone(), 2000.0), whole);
        let cut = trace(whole, 100.0);
        assert_eq!((cut.total_us, cut.processes[0].ended_us), (100.0, 100.0));
        assert_eq!(cut.processes[0].images[0].marks.len(), 2);
        assert!(cut.processes[1].images.is_empty());
        assert_eq!((cut.processes[1].started_us, cut.processes[1].ended_us), (100.0, 100.0));
    }
}
