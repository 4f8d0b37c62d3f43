//! Records of a program that does not end by itself, cut off at the moment when it was ready.

use model::{LoaderLog, MarkKind, PageFaults, PhaseTrace, WaitTrace};

/// Where a record ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// When the program was ready untraced.
    pub at_us: f64,
    /// Ready means that its entry point was reached. Records that show the entry point end there,
    /// however long the launch took to come to it.
    pub entry: bool,
}

impl Cut {
    fn of_trace(self, trace: &PhaseTrace) -> f64 {
        let images = trace.processes.first().filter(|_| self.entry).map(|process| &process.images);
        let image = images.and_then(|images| images.first());
        let mark = image.and_then(|i| i.marks.iter().find(|mark| mark.kind == MarkKind::Entry));
        mark.map_or(self.at_us, |mark| mark.at_us)
    }

    /// Nothing in a record of perf events shows the entry point; where the launch is ended there,
    /// all of the record counts.
    pub(super) fn of_perf(self) -> Option<f64> {
        (!self.entry).then_some(self.at_us)
    }

    /// The loader's log says when the program itself begins.
    fn of_log(self, log: &LoaderLog) -> f64 {
        let begins = |text: &str| {
            ["initialize program: ", "transferring control: "].iter().any(|say| text.contains(say))
        };
        let mut own = log.lines.iter().filter(|line| self.entry && line.pid == log.pid);
        own.find(|line| begins(&line.text)).map_or(self.at_us, |line| line.at_us)
    }
}

/// The launch up to the cut. What was alive then ends then.
pub(super) fn trace(trace: PhaseTrace, cut: Cut) -> PhaseTrace {
    let at_us = cut.of_trace(&trace);
    trace_at(trace, at_us)
}

fn trace_at(mut trace: PhaseTrace, at_us: f64) -> PhaseTrace {
    if trace.total_us <= at_us {
        return trace;
    }
    trace.total_us = at_us;
    for process in &mut trace.processes {
        // Later processes stay, as others are known by their place in the list.
        process.started_us = process.started_us.min(at_us);
        process.ended_us = process.ended_us.min(at_us);
        for image in &mut process.images {
            image.marks.retain(|mark| mark.at_us <= at_us);
            image.steps.retain(|(_, step_us)| *step_us <= at_us);
            let marks = &image.marks;
            image.memory.retain(|memory| marks.iter().any(|mark| mark.kind == memory.at));
        }
        process.images.retain(|image| !image.marks.is_empty());
    }
    trace.file_calls.retain(|call| call.at_us < at_us);
    trace
}

/// The waits up to the cut; what lasts longer is cut where it is summed up.
pub(super) fn waits(mut waits: WaitTrace, cut: Cut) -> WaitTrace {
    let at_us = cut.of_trace(&waits.trace);
    waits.trace = trace_at(waits.trace, at_us);
    waits.threads.retain(|thread| thread.started_us < at_us);
    waits.waits.retain(|wait| wait.from_us < at_us);
    waits
}

/// The log up to the cut.
pub(super) fn log(mut log: LoaderLog, cut: Cut) -> LoaderLog {
    let at_us = cut.of_log(&log);
    log.lines.retain(|line| line.at_us < at_us);
    log.total_us = log.total_us.min(at_us);
    log
}

/// The faults up to the cut. Launches up to the entry point are ended there.
pub(super) fn faults(mut faults: PageFaults, cut: Cut) -> PageFaults {
    let Some(at_us) = cut.of_perf() else { return faults };
    faults.mappings.retain(|change| change.at_us() < at_us);
    faults.faults.retain(|fault| fault.at_us < at_us);
    faults.total_us = faults.total_us.min(at_us);
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{LoaderLine, Mark, PageFault, Reading, TracedImage, TracedProcess};

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
                steps: Vec::new(),
                memory: Vec::new(),
                faults: Vec::new(),
            }],
        };
        let whole = PhaseTrace {
            total_us: 1000.0,
            processes: vec![process(0.0), process(500.0)],
            stops: 3,
            cpuids: Reading::unavailable("not counted", ""),
            file_calls: Vec::new(),
        };
        let at = |at_us| Cut { at_us, entry: false };
        assert_eq!(trace(whole.clone(), at(2000.0)), whole);
        let cut = trace(whole, at(100.0));
        assert_eq!((cut.total_us, cut.processes[0].ended_us), (100.0, 100.0));
        assert_eq!(cut.processes[0].images[0].marks.len(), 2);
        assert!(cut.processes[1].images.is_empty());
        assert_eq!((cut.processes[1].started_us, cut.processes[1].ended_us), (100.0, 100.0));
    }

    /// A launch that came to its entry point after 50 µs and to its end after 1000 µs.
    fn entered() -> PhaseTrace {
        let marks = [(MarkKind::ExecDone, 5.0), (MarkKind::Entry, 50.0), (MarkKind::Main, 60.0)];
        let marks = marks.map(|(kind, at_us)| Mark { kind, at_us }).to_vec();
        let path = "/bin/x".to_owned();
        let image = TracedImage {
            path,
            argv: Vec::new(),
            loader: None,
            marks,
            notes: Vec::new(),
            steps: Vec::new(),
            memory: Vec::new(),
            faults: Vec::new(),
        };
        let (pid, parent, images) = (1, None, vec![image]);
        let process = TracedProcess { pid, parent, started_us: 0.0, ended_us: 1000.0, images };
        PhaseTrace {
            total_us: 1000.0,
            processes: vec![process],
            stops: 3,
            cpuids: Reading::unavailable("not counted", ""),
            file_calls: Vec::new(),
        }
    }

    #[test]
    fn until_entry_every_record_ends_at_its_own_entry_point() {
        // The untraced launches that say when to end were slow, or fast: either is no matter.
        for at_us in [2000.0, 20.0] {
            let cut = Cut { at_us, entry: true };
            assert_eq!(trace(entered(), cut).total_us, 50.0);
            let recorded = WaitTrace { trace: entered(), threads: Vec::new(), waits: Vec::new() };
            assert_eq!(waits(recorded, cut).trace.total_us, 50.0);
            let line = |at_us, pid, text: &str| LoaderLine { at_us, pid, text: text.to_owned() };
            let lines = vec![
                line(10.0, 1, "find library=libc.so.6 [0]; searching"),
                line(30.0, 2, "initialize program: /bin/child"),
                line(70.0, 1, "initialize program: /bin/x"),
                line(80.0, 1, "calling fini: [0]"),
            ];
            let written = LoaderLog { total_us: 1000.0, pid: 1, lines };
            let cut = log(written, cut);
            assert_eq!((cut.total_us, cut.lines.len()), (70.0, 2));
        }
        let recorded = |total_us| PageFaults {
            total_us,
            pid: 1,
            source: String::new(),
            mappings: Vec::new(),
            faults: vec![PageFault { pid: 1, at_us: 70.0, address: 0, major: false }],
            read_bytes_by_file: Reading::unavailable("", ""),
            read_bytes: Reading::unavailable("", ""),
            lost: 0,
        };
        // Its launch is ended at the entry point.
        let cut = faults(recorded(80.0), Cut { at_us: 20.0, entry: true });
        assert_eq!((cut.total_us, cut.faults.len()), (80.0, 1));
        let cut = faults(recorded(80.0), Cut { at_us: 20.0, entry: false });
        assert_eq!((cut.total_us, cut.faults.len()), (20.0, 0));
        // Where the entry point was not seen, the untraced launches say it.
        let mut unseen = entered();
        unseen.processes[0].images[0].marks.truncate(1);
        assert_eq!(trace(unseen, Cut { at_us: 100.0, entry: true }).total_us, 100.0);
    }
}
