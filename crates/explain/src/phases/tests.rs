//! Whatever a tracer records, the sums are exact.

use super::*;
use crate::time::ns;
use model::{Mark, MarkKind, PhaseTrace, Reading, TracedImage, TracedProcess};
use proptest::prelude::*;

const KINDS: [MarkKind; 8] = [
    MarkKind::ExecCalled,
    MarkKind::ExecDone,
    MarkKind::Mapped,
    MarkKind::Relocated,
    MarkKind::Entry,
    MarkKind::Main,
    MarkKind::ExitCalled,
    MarkKind::Exiting,
];

fn image() -> impl Strategy<Value = TracedImage> {
    let mark = (0..8_usize, -10.0..1200.0_f64);
    let marks = prop::collection::vec(mark, 0..9).prop_map(|marks| {
        marks.into_iter().map(|(kind, at_us)| Mark { kind: KINDS[kind], at_us }).collect()
    });
    let loader = prop::option::of("/lib/(ld-linux.so.2|ld-musl.so.1|other)");
    (marks, loader).prop_map(|(marks, loader)| TracedImage {
        path: "/bin/p".to_owned(),
        argv: Vec::new(),
        loader,
        marks,
        notes: Vec::new(),
        steps: Vec::new(),
        memory: Vec::new(),
        faults: Vec::new(),
    })
}

fn trace() -> impl Strategy<Value = PhaseTrace> {
    let process =
        (0.0..1000.0_f64, 0.0..500.0_f64, prop::collection::vec(image(), 0..3), 0..9_usize);
    (0.0..1000.0_f64, prop::collection::vec(process, 0..6)).prop_map(|(total_us, processes)| {
        let processes =
            processes.into_iter().enumerate().map(|(index, (start, life, images, up))| {
                let parent = (index > 0).then(|| up % index.max(1));
                let (pid, ended_us) = (index as u32, start + life);
                TracedProcess { pid, parent, started_us: start, ended_us, images }
            });
        let processes = processes.collect();
        let cpuids = Reading::unavailable("", "");
        PhaseTrace { total_us, processes, stops: 0, cpuids, file_calls: Vec::new() }
    })
}

proptest! {
    #[test]
    fn every_nanosecond_is_counted_once(trace in trace()) {
        let lives = lives(&trace);
        for life in &lives {
            prop_assert!(life.times().values().all(|ns| *ns >= 0));
            prop_assert_eq!(life.times().values().sum::<i64>(), life.ended - life.started);
        }
        let charges = charge(&trace, &lives);
        prop_assert_eq!(charges.total, ns(trace.total_us));
        prop_assert_eq!(charges.phases.values().sum::<i64>(), charges.total);
        if let [life] = &lives[..] && trace.processes.len() == 1 {
            let mut own = life.times();
            own.retain(|_, ns| *ns > 0);
            let mut charged = charges.phases.clone();
            charged.retain(|_, ns| *ns > 0);
            prop_assert_eq!(own, charged);
        }
        if trace.processes.first().is_some_and(|process| !process.images.is_empty()) {
            prop_assert_eq!(
                charges.lives.iter().flat_map(BTreeMap::values).sum::<i64>(),
                charges.total
            );
        }
    }
}
