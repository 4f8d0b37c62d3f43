//! Launches with known times, and what each image takes of them.

use super::*;
use model::{Ending, Mark, Reading, TracedProcess, Wait, WaitFor};

const SHELL: &str = "/bin/sh";

/// Executed at one time and loaded at another.
fn image(path: &str, executed: f64, loaded: f64) -> TracedImage {
    let mark = |kind, at_us| Mark { kind, at_us };
    let marks = vec![mark(MarkKind::ExecCalled, executed), mark(MarkKind::Main, loaded)];
    let (path, argv) = (path.to_owned(), Vec::new());
    TracedImage {
        path,
        argv,
        loader: None,
        marks,
        steps: Vec::new(),
        memory: Vec::new(),
        faults: Vec::new(),
        notes: Vec::new(),
    }
}

fn process(
    pid: u32,
    parent: Option<usize>,
    (started_us, ended_us): (f64, f64),
    images: Vec<TracedImage>,
) -> TracedProcess {
    TracedProcess { pid, parent, started_us, ended_us, images }
}

fn wait(pid: u32, from_us: f64, to_us: f64) -> RecordedWait {
    wait_for(WaitFor::Child, pid, from_us, to_us)
}

fn wait_for(on: WaitFor, pid: u32, from_us: f64, to_us: f64) -> RecordedWait {
    let call = "call".to_owned();
    let answered_us = to_us;
    let wait = Wait {
        pid,
        thread: pid,
        from_us,
        to_us,
        answered_us,
        call,
        on,
        target: None,
        callers: Vec::new(),
    };
    RecordedWait { wait, stack: None }
}

fn launch(total_us: f64, processes: Vec<TracedProcess>, waits: Vec<RecordedWait>) -> TracedLaunch {
    let life = |process: &TracedProcess| ThreadLife {
        pid: process.pid,
        thread: process.pid,
        started_us: process.started_us,
        ended_us: process.ended_us,
    };
    let threads = processes.iter().map(life).collect();
    let cpuids = Reading::unavailable("", "");
    let trace = PhaseTrace { total_us, processes, stops: 0, cpuids, file_calls: Vec::new() };
    let (variables, ending) = (Vec::new(), Ending::Code(0));
    TracedLaunch { trace, threads, waits, variables, pages: None, ending, left_running: 0 }
}

/// Time and loading time of each image.
fn all(launch: &TracedLaunch) -> Vec<(ImageAt, f64, f64)> {
    let charges = charges(launch);
    assert!(charges.values().map(|one| one.total_us).sum::<f64>() <= launch.trace.total_us);
    charges.iter().map(|(&at, one)| (at, one.total_us, one.loading_us)).collect()
}

#[test]
fn a_shell_that_waits_is_charged_nothing_and_forks_are_the_shell() {
    let shell = process(1, None, (0.0, 100.0), vec![image(SHELL, 0.0, 10.0)]);
    let child = process(2, Some(0), (20.0, 80.0), vec![image("/bin/tool", 25.0, 60.0)]);
    let found = all(&launch(100.0, vec![shell, child], vec![wait(1, 22.0, 80.0)]));
    assert_eq!(found, [((0, 0), 45.0, 10.0), ((1, 0), 55.0, 35.0)]);
}

#[test]
fn an_exec_ends_the_image_before_it() {
    let images = vec![image(SHELL, 0.0, 10.0), image("/usr/bin/program", 30.0, 70.0)];
    let found = all(&launch(100.0, vec![process(1, None, (0.0, 100.0), images)], Vec::new()));
    assert_eq!(found, [((0, 0), 30.0, 10.0), ((0, 1), 70.0, 40.0)]);
}

#[test]
fn of_a_pipe_the_end_that_works_is_charged() {
    let shell = process(1, None, (0.0, 100.0), vec![image(SHELL, 0.0, 0.0)]);
    let writer = process(2, Some(0), (10.0, 90.0), vec![image("/bin/writer", 10.0, 10.0)]);
    let reader = process(3, Some(0), (10.0, 95.0), vec![image("/bin/reader", 10.0, 10.0)]);
    let waits = vec![wait(1, 10.0, 95.0), wait(3, 10.0, 90.0)];
    let found = all(&launch(100.0, vec![shell, writer, reader], waits));
    assert_eq!(found, [((0, 0), 15.0, 0.0), ((1, 0), 80.0, 0.0), ((2, 0), 5.0, 0.0)]);
}

#[test]
fn where_all_wait_the_one_executed_last_is_charged() {
    let shell = process(1, None, (0.0, 100.0), vec![image(SHELL, 0.0, 0.0)]);
    let sleeper = process(2, Some(0), (0.0, 100.0), vec![image("/bin/sleep", 10.0, 20.0)]);
    let waits = vec![wait(1, 10.0, 100.0), wait(2, 20.0, 100.0)];
    let found = all(&launch(100.0, vec![shell, sleeper], waits));
    assert_eq!(found, [((0, 0), 10.0, 0.0), ((1, 0), 90.0, 10.0)]);
}

/// It counts only while nothing else works.
#[test]
fn what_outlives_the_launch_counts_to_its_end() {
    let shell = process(1, None, (0.0, 50.0), vec![image(SHELL, 0.0, 0.0)]);
    let daemon = process(2, Some(0), (10.0, 500.0), vec![image("/bin/daemon", 20.0, 400.0)]);
    let waits = vec![wait(1, 15.0, 50.0), wait(2, 30.0, 450.0)];
    let found = all(&launch(50.0, vec![shell, daemon], waits));
    assert_eq!(found, [((0, 0), 40.0, 0.0), ((1, 0), 10.0, 10.0)]);
}

#[test]
fn where_all_wait_the_launch_waits_for_what_comes_from_outside() {
    let shell = process(1, None, (0.0, 100.0), vec![image(SHELL, 0.0, 0.0)]);
    let slow = process(2, Some(0), (0.0, 90.0), vec![image("/bin/slow", 10.0, 10.0)]);
    let reader = process(3, Some(0), (0.0, 95.0), vec![image("/bin/reader", 10.0, 10.0)]);
    let daemon = process(4, Some(0), (0.0, 900.0), vec![image("/bin/daemon", 10.0, 10.0)]);
    let waits = vec![
        wait(1, 10.0, 95.0),
        wait_for(WaitFor::Time, 2, 10.0, 90.0),
        wait_for(WaitFor::Pipe, 3, 10.0, 90.0),
        wait_for(WaitFor::Time, 4, 10.0, 900.0),
    ];
    let found = all(&launch(100.0, vec![shell, slow, reader, daemon], waits));
    assert_eq!(found, [((0, 0), 15.0, 0.0), ((1, 0), 80.0, 0.0), ((2, 0), 5.0, 0.0)]);
}
