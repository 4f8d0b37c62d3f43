//! Time in which a launch waits, from the waits of its threads.
//!
//! A launch waits while all threads of all its processes wait at once: while one of them works,
//! the others wait for that work, which is no waste. So a program that waits for its child is
//! charged for what the child waits for, and one that waits for a lock for what its holder waits
//! for. Such a time ends when something from outside wakes one thread: it is that thread's wait.

use crate::elf::at_instant::program_at;
use crate::elf::background::lives;
use crate::elf::inputs::Inputs;
use crate::phases::charge::{Segment, segments};
use crate::time::{ns, us};
use model::{Phase, Reading, Wait, WaitCaller, WaitReport, WaitTrace, Waits};
use std::collections::{BTreeMap, BTreeSet};

/// A span in which every thread waits, and the wait that was answered first.
struct Span<'a> {
    from: i64,
    to: i64,
    /// Its place in the list.
    index: usize,
    wait: &'a Wait,
}

/// The waits of the launch, by phase, program and system call.
pub(crate) fn waits(inputs: &Inputs) -> Reading<Waits> {
    let trace = match &inputs.wait_trace {
        Reading::Value(trace) => trace,
        Reading::Unavailable { reason, remedy } => return Reading::unavailable(reason, remedy),
    };
    let lives = lives(inputs, &trace.trace);
    let segments = segments(&trace.trace, &lives);
    let mut reports: BTreeMap<Key, WaitReport> = BTreeMap::new();
    // A wait that others' work interrupts is still one.
    let mut counted = BTreeSet::new();
    for span in spans(trace) {
        let program = program_at(inputs, &lives, span.wait.pid, span.from);
        for (phase, length) in by_phase(&segments, &span) {
            let key = (phase, program.clone(), span.wait.call.clone(), span.wait.on);
            let report = reports.entry(key).or_insert_with(|| report(phase, &program, span.wait));
            report.us += us(length);
            report.calls += u64::from(counted.insert((phase, span.index)));
            if report.target != span.wait.target {
                report.target = None;
            }
            add_caller(&mut report.callers, &span.wait.callers, us(length));
        }
    }
    let mut calls: Vec<WaitReport> = reports.into_values().collect();
    for report in &mut calls {
        report.us = us(ns(report.us));
        report.callers.sort_by(|a, b| b.us.total_cmp(&a.us));
    }
    calls.sort_by(|a, b| b.us.total_cmp(&a.us));
    Reading::Value(Waits { total_us: calls.iter().map(|call| call.us).sum(), calls })
}

type Key = (Phase, String, String, model::WaitFor);

fn report(phase: Phase, program: &str, wait: &Wait) -> WaitReport {
    WaitReport {
        phase,
        program: program.to_owned(),
        call: wait.call.clone(),
        on: wait.on,
        target: wait.target.clone(),
        calls: 0,
        us: 0.0,
        callers: Vec::new(),
    }
}

fn add_caller(callers: &mut Vec<WaitCaller>, functions: &[String], us: f64) {
    if functions.is_empty() {
        return;
    }
    match callers.iter_mut().find(|caller| caller.functions == functions) {
        Some(caller) => caller.us += us,
        None => callers.push(WaitCaller { functions: functions.to_vec(), us }),
    }
}

/// What happens at an instant, in the order in which it counts there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    WaitEnds(usize),
    ThreadEnds,
    ThreadStarts,
    WaitStarts(usize),
}

/// The spans in which every thread waits, in order of time.
fn spans(trace: &WaitTrace) -> Vec<Span<'_>> {
    let total = ns(trace.trace.total_us).max(0);
    let within = |at_us: f64| ns(at_us).clamp(0, total);
    let mut events: Vec<(i64, Event)> = Vec::new();
    for life in &trace.threads {
        events.push((within(life.started_us), Event::ThreadStarts));
        events.push((within(life.ended_us), Event::ThreadEnds));
    }
    for (index, wait) in trace.waits.iter().enumerate() {
        events.push((within(wait.from_us), Event::WaitStarts(index)));
        events.push((within(wait.to_us), Event::WaitEnds(index)));
    }
    events.sort_unstable();
    let mut spans = Vec::new();
    let (mut alive, mut waiting, mut since) = (0_usize, BTreeSet::new(), 0);
    for (at, event) in events {
        let idle = alive > 0 && waiting.len() == alive;
        if idle && at > since {
            let waits = waiting.iter().filter_map(|&i: &usize| Some((i, trace.waits.get(i)?)));
            let first = waits.min_by(|(_, a), (_, b)| a.answered_us.total_cmp(&b.answered_us));
            spans.extend(first.map(|(index, wait)| Span { from: since, to: at, index, wait }));
        }
        match event {
            Event::ThreadStarts => alive += 1,
            Event::ThreadEnds => alive = alive.saturating_sub(1),
            Event::WaitStarts(index) => _ = waiting.insert(index),
            Event::WaitEnds(index) => _ = waiting.remove(&index),
        }
        since = at;
    }
    spans
}

/// How long a span is in each phase.
fn by_phase(segments: &[Segment], span: &Span) -> BTreeMap<Phase, i64> {
    let mut phases = BTreeMap::new();
    let first = segments.partition_point(|segment| segment.to <= span.from);
    let touched = segments.iter().skip(first).take_while(|segment| segment.from < span.to);
    for segment in touched {
        let length = segment.to.min(span.to) - segment.from.max(span.from);
        *phases.entry(segment.phase).or_default() += length;
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{
        Command, Mark, MarkKind, PhaseTrace, ThreadLife, TracedImage, TracedProcess, WaitFor,
    };

    const MAIN: u32 = 10;

    fn wait(thread: u32, from_us: f64, to_us: f64, call: &str, on: WaitFor) -> Wait {
        let pid = if thread < 20 { MAIN } else { thread };
        let call = call.to_owned();
        let (answered_us, target, callers) = (to_us, None, Vec::new());
        Wait { pid, thread, from_us, to_us, answered_us, call, on, target, callers }
    }

    fn image(path: &str, at_us: f64) -> TracedImage {
        let mark = |kind, after: f64| Mark { kind, at_us: at_us + after };
        let marks = vec![
            mark(MarkKind::ExecCalled, 1.0),
            mark(MarkKind::ExecDone, 2.0),
            mark(MarkKind::Entry, 3.0),
            mark(MarkKind::Main, 10.0),
        ];
        let argv = vec![path.to_owned()];
        TracedImage {
            path: path.to_owned(),
            argv,
            loader: None,
            marks,
            notes: Vec::new(),
            steps: Vec::new(),
            memory: Vec::new(),
            faults: Vec::new(),
        }
    }

    fn process(pid: u32, started_us: f64, path: &str) -> TracedProcess {
        let parent = (pid != MAIN).then_some(0);
        let images = vec![image(path, started_us)];
        TracedProcess { pid, parent, started_us, ended_us: 1000.0, images }
    }

    fn thread(thread: u32, started_us: f64) -> ThreadLife {
        let pid = if thread < 20 { MAIN } else { thread };
        ThreadLife { pid, thread, started_us, ended_us: 1000.0 }
    }

    fn found(
        processes: Vec<TracedProcess>,
        threads: Vec<ThreadLife>,
        waits: Vec<Wait>,
    ) -> Vec<(Phase, String, String, f64)> {
        let command = Command {
            argv: vec!["p".into()],
            program: "/bin/p".into(),
            directory: None,
            environment: Vec::new(),
        };
        let mut inputs = Inputs::nothing(command, "a test");
        let cpuids = Reading::unavailable("not counted", "");
        let trace =
            PhaseTrace { total_us: 1000.0, processes, stops: 0, cpuids, file_calls: Vec::new() };
        inputs.wait_trace = Reading::Value(WaitTrace { trace, threads, waits });
        let waits = super::waits(&inputs).value().cloned().unwrap();
        assert_eq!(waits.total_us, waits.calls.iter().map(|call| call.us).sum::<f64>());
        let short = |call: WaitReport| (call.phase, call.program, call.call, call.us);
        waits.calls.into_iter().map(short).collect()
    }

    fn told(phase: Phase, program: &str, call: &str, us: f64) -> (Phase, String, String, f64) {
        (phase, program.to_owned(), call.to_owned(), us)
    }

    #[test]
    fn a_lone_thread_waits_as_long_as_it_says_and_in_the_phase_it_is_in() {
        let waits = vec![
            wait(MAIN, 5.0, 8.0, "read", WaitFor::File),
            wait(MAIN, 100.0, 400.0, "clock_nanosleep", WaitFor::Time),
            wait(MAIN, 500.0, 550.0, "clock_nanosleep", WaitFor::Time),
        ];
        let found = found(vec![process(MAIN, 0.0, "/bin/p")], vec![thread(MAIN, 0.0)], waits);
        let expected = [
            told(Phase::Main, "/bin/p", "clock_nanosleep", 350.0),
            told(Phase::Initialize, "/bin/p", "read", 3.0),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_wait_for_another_thread_is_what_that_thread_waits_for() {
        // Main waits for a lock; its holder works up to 200 and then sleeps.
        let waits = vec![
            wait(MAIN, 100.0, 510.0, "futex", WaitFor::Lock),
            wait(11, 200.0, 500.0, "clock_nanosleep", WaitFor::Time),
        ];
        let threads = vec![thread(MAIN, 0.0), thread(11, 50.0)];
        let found = found(vec![process(MAIN, 0.0, "/bin/p")], threads, waits);
        assert_eq!(found, [told(Phase::Main, "/bin/p", "clock_nanosleep", 300.0)]);
    }

    #[test]
    fn a_wait_for_a_child_is_what_the_child_waits_for() {
        let processes = vec![process(MAIN, 0.0, "/bin/p"), process(20, 100.0, "/bin/child")];
        let waits = vec![
            wait(MAIN, 110.0, 900.0, "wait4", WaitFor::Child),
            wait(20, 300.0, 450.0, "recvfrom", WaitFor::Socket),
        ];
        let found = found(processes, vec![thread(MAIN, 0.0), thread(20, 100.0)], waits);
        assert_eq!(found, [told(Phase::Main, "/bin/child", "recvfrom", 150.0)]);
    }

    #[test]
    fn a_parent_that_comes_late_to_its_wait_still_waits_for_its_child() {
        // It was ready for 30 µs without a processor before it waited.
        let processes = vec![process(MAIN, 0.0, "/bin/p"), process(20, 100.0, "/bin/child")];
        let parent = wait(MAIN, 110.0, 420.0, "wait4", WaitFor::Child);
        let waits = vec![
            Wait { answered_us: 460.0, ..parent },
            wait(20, 120.0, 450.0, "clock_nanosleep", WaitFor::Time),
        ];
        let found = found(processes, vec![thread(MAIN, 0.0), thread(20, 100.0)], waits);
        assert_eq!(found, [told(Phase::Main, "/bin/child", "clock_nanosleep", 300.0)]);
    }

    #[test]
    fn a_wait_for_work_is_no_wait_of_the_launch() {
        let waits = vec![wait(MAIN, 100.0, 900.0, "futex", WaitFor::Lock)];
        let threads = vec![thread(MAIN, 0.0), thread(11, 50.0)];
        assert!(found(vec![process(MAIN, 0.0, "/bin/p")], threads, waits).is_empty());
    }

    #[test]
    fn waits_beyond_the_launch_are_cut() {
        let waits = vec![wait(MAIN, 900.0, 5000.0, "pause", WaitFor::Signal)];
        let found = found(vec![process(MAIN, 0.0, "/bin/p")], vec![thread(MAIN, 0.0)], waits);
        assert_eq!(found, [told(Phase::Main, "/bin/p", "pause", 100.0)]);
    }
}
