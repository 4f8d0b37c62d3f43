//! Tests of aligning two launches.

use super::*;
use crate::phases::lives;
use model::{Mark, PageFault, PhaseTrace, Reading, TracedImage, TracedProcess};

fn record(execs: &[(u32, f64)], faults: &[(u32, f64)]) -> PageFaults {
    let executed = |&(pid, at_us): &(u32, f64)| MemoryChange::Executed { pid, at_us };
    let fault = |&(pid, at_us): &(u32, f64)| PageFault { pid, at_us, address: 1, major: false };
    PageFaults {
        total_us: 1000.0,
        pid: 1,
        source: "a test".into(),
        mappings: execs.iter().map(executed).collect(),
        faults: faults.iter().map(fault).collect(),
        read_bytes_by_file: Reading::unavailable("", ""),
        read_bytes: Reading::unavailable("", ""),
        lost: 0,
    }
}

/// A process of the phase launch by its marks, each with the page faults so far, if they are known.
fn process(marks: &[(MarkKind, f64, Option<u64>)]) -> TracedProcess {
    let image = TracedImage {
        path: "/bin/p".into(),
        argv: Vec::new(),
        loader: Some("/lib/ld.so".into()),
        marks: marks.iter().map(|&(kind, at_us, _)| Mark { kind, at_us }).collect(),
        faults: marks.iter().filter_map(|&(kind, _, count)| Some((kind, count?))).collect(),
        notes: Vec::new(),
        steps: Vec::new(),
        memory: Vec::new(),
    };
    TracedProcess { pid: 7, parent: None, started_us: 0.0, ended_us: 2000.0, images: vec![image] }
}

fn aligned(record: &PageFaults, processes: Vec<TracedProcess>) -> Alignment {
    let (cpuids, file_calls) = (Reading::unavailable("", ""), Vec::new());
    let trace = PhaseTrace { total_us: 2000.0, processes, stops: 0, cpuids, file_calls };
    Alignment::new(record, &lives(&trace), trace.total_us)
}

fn executed_at(at_us: f64) -> TracedProcess {
    process(&[(MarkKind::ExecDone, at_us, None)])
}

#[test]
fn times_of_two_launches_meet_where_programs_were_executed() {
    // Here execve was over after 100 of 1000 µs, in the phase launch after 900 of 2000.
    let found = aligned(&record(&[(1, 100.0)], &[]), vec![executed_at(900.0)]);
    assert_eq!(found.at(50.0), 450.0);
    assert_eq!(found.at(100.0), 900.0);
    assert!(found.at(101.0) > 900.0, "a fault after execve is after execve");
    assert_eq!(found.at(1000.0), 2000.0);
    assert_eq!(found.at(1100.0), 2000.0);
    // A second program, executed in both launches.
    let two = record(&[(1, 100.0), (2, 500.0)], &[]);
    let found = aligned(&two, vec![executed_at(900.0), executed_at(1000.0)]);
    assert_eq!(found.at(300.0), 950.0);
    // In one launch only: the first alone is known to be the same.
    let found = aligned(&two, vec![executed_at(900.0)]);
    assert!(found.at(101.0) > 900.0 && found.at(500.0) < 2000.0);
}

#[test]
fn a_record_that_stood_still_has_its_faults_where_the_phase_launch_counted_them() {
    // Four faults of eight before main. The record's launch then waited for 700 µs in main.
    let times = [110.0, 120.0, 130.0, 140.0, 850.0, 860.0, 870.0, 880.0];
    let mut record = record(&[(1, 100.0)], &times.map(|at| (1, at)));
    record.faults.insert(3, PageFault { pid: 2, at_us: 131.0, address: 1, major: false });
    let marks = [
        (MarkKind::ExecDone, 200.0, Some(50)),
        (MarkKind::Main, 1500.0, Some(58)),
        (MarkKind::Exiting, 1990.0, Some(66)),
    ];
    let found = aligned(&record, vec![process(&marks)]);
    let before: Vec<bool> = times.iter().map(|&at| found.at(at) < 1500.0).collect();
    assert_eq!(before, [true, true, true, true, false, false, false, false]);
    // By time alone, all would be before main.
    let unknown = marks.map(|(kind, at, _)| (kind, at, None));
    let by_time = aligned(&record, vec![process(&unknown)]);
    assert!(times[..4].iter().all(|&at| by_time.at(at) < 400.0));
    assert!(by_time.at(850.0) > 1500.0 && by_time.at(140.0) < found.at(140.0));
}

#[test]
fn where_records_were_lost_counts_say_nothing() {
    let mut record = record(&[(1, 100.0)], &[(1, 110.0), (1, 120.0), (1, 130.0)]);
    let marks = [
        (MarkKind::ExecDone, 200.0, Some(0)),
        (MarkKind::Main, 1500.0, Some(2)),
        (MarkKind::Exiting, 1990.0, Some(3)),
    ];
    assert!(aligned(&record, vec![process(&marks)]).at(130.0) > 1500.0);
    record.lost = 1;
    assert!(aligned(&record, vec![process(&marks)]).at(130.0) < 1500.0);
}

#[test]
fn faults_of_a_program_that_is_executed_next_are_not_its_own() {
    let record =
        record(&[(1, 100.0), (1, 500.0)], &[(1, 150.0), (1, 400.0), (1, 510.0), (1, 900.0)]);
    let first = [(MarkKind::ExecDone, 200.0, Some(0)), (MarkKind::Main, 1000.0, Some(1))];
    let second = [
        (MarkKind::ExecDone, 1300.0, Some(2)),
        (MarkKind::Main, 1900.0, Some(3)),
        (MarkKind::Exiting, 1990.0, Some(4)),
    ];
    // The same process has both images.
    let mut both = process(&first);
    both.images.extend(process(&second).images);
    let found = aligned(&record, vec![both]);
    assert!(found.at(150.0) < 1000.0 && found.at(400.0) > 1000.0 && found.at(400.0) < 1300.0);
    assert!(found.at(510.0) < 1900.0 && found.at(900.0) > 1900.0);
}
