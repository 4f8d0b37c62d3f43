//! Processes that sleep in the background: a launch ends without waiting for them.

use crate::elf::inputs::Inputs;
use crate::phases::left_running::is_left_running;
use crate::phases::life::outlives;
use crate::phases::{self, Life};
use model::{PhaseTrace, TracedProcess, WaitTrace};
use std::collections::BTreeSet;

/// The lives of a launch, those in the background marked.
///
/// A launch that is explained up to a moment before its end outlives that moment itself: there
/// nothing is in the background.
pub(crate) fn lives<'a>(inputs: &Inputs, trace: &'a PhaseTrace) -> Vec<Life<'a>> {
    let mut lives = phases::lives(trace);
    let asleep = match inputs.wait_trace.value() {
        Some(recorded) if !inputs.until_ready => sleepers(inputs, recorded),
        _ => return lives,
    };
    for life in &mut lives {
        let program = inputs.program(&life.image.path);
        life.background = is_left_running(trace, life) && asleep.programs.contains(&program);
        life.copies_sleep = asleep.copies.contains(&program);
    }
    lives
}

/// Of its life within the launch a sleeper waits this part at least: on a busy machine its start
/// takes some of it.
const WAITING: f64 = 0.25;

/// What outlives the launch, waits when it ends, and has waited for some time, in all threads.
#[derive(Default)]
struct Asleep {
    programs: BTreeSet<String>,
    /// Programs of which copies do (fork(2) without execve(2)), and none that works.
    copies: BTreeSet<String>,
}

fn sleepers(inputs: &Inputs, recorded: &WaitTrace) -> Asleep {
    let trace = &recorded.trace;
    let mut asleep = Asleep::default();
    let mut working = BTreeSet::new();
    for process in trace.processes.iter().filter(|process| outlives(trace, process)) {
        let sleeps = is_asleep(recorded, process);
        match (process.images.last(), sleeps) {
            (Some(image), true) => drop(asleep.programs.insert(inputs.program(&image.path))),
            (Some(_), false) => {}
            (None, sleeps) => {
                let to = if sleeps { &mut asleep.copies } else { &mut working };
                to.extend(copied(trace, process).map(|path| inputs.program(path)));
            }
        }
    }
    asleep.copies.retain(|program| !working.contains(program));
    asleep
}

fn is_asleep(recorded: &WaitTrace, process: &TracedProcess) -> bool {
    let mut threads = recorded.threads.iter().filter(|thread| thread.pid == process.pid);
    threads.all(|thread| {
        let lived = recorded.trace.total_us - thread.started_us;
        waited(recorded, thread.thread).is_some_and(|us| us >= lived * WAITING)
    })
}

/// The program that a process without one of its own was forked from.
fn copied<'a>(trace: &'a PhaseTrace, process: &TracedProcess) -> Option<&'a str> {
    let mut parent = process.parent;
    for _ in 0..trace.processes.len() {
        let process = trace.processes.get(parent?)?;
        if let Some(image) = process.images.last() {
            return Some(&image.path);
        }
        parent = process.parent;
    }
    None
}

/// How long a thread waits within the launch; `None` where it works when the launch ends.
fn waited(recorded: &WaitTrace, thread: u32) -> Option<f64> {
    let total_us = recorded.trace.total_us;
    let waits = || recorded.waits.iter().filter(|wait| wait.thread == thread);
    let at_end = waits().any(|wait| wait.from_us < total_us && wait.to_us >= total_us);
    at_end.then(|| waits().map(|wait| (wait.to_us.min(total_us) - wait.from_us).max(0.0)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{
        Command, Mark, MarkKind, Reading, ThreadLife, TracedImage, Wait, WaitFor, WaitTrace,
    };

    fn process(pid: u32, path: &str, ended_us: f64) -> TracedProcess {
        let marks = vec![Mark { kind: MarkKind::ExecDone, at_us: 10.0 }];
        let (path, argv) = (path.to_owned(), Vec::new());
        let images = vec![TracedImage {
            path,
            argv,
            loader: None,
            marks,
            notes: Vec::new(),
            steps: Vec::new(),
            memory: Vec::new(),
            faults: Vec::new(),
        }];
        let parent = (pid > 1).then_some(0);
        TracedProcess { pid, parent, started_us: 0.0, ended_us, images }
    }

    fn wait(thread: u32, from_us: f64, to_us: f64) -> Wait {
        let (call, on) = ("clock_nanosleep".to_owned(), WaitFor::Time);
        let (answered_us, target, callers) = (to_us, None, Vec::new());
        Wait { pid: thread, thread, from_us, to_us, answered_us, call, on, target, callers }
    }

    /// A launch of 100 µs that starts a sleeper, two workers, and a program that it waits for.
    fn inputs() -> Inputs {
        let command = Command {
            argv: vec!["sh".into()],
            program: "/bin/sh".into(),
            directory: None,
            environment: Vec::new(),
        };
        let processes = vec![
            process(1, "/bin/sh", 100.0),
            process(2, "/bin/sleep", 5000.0),
            process(3, "/bin/server", 5000.0),
            process(5, "/bin/worker", 5000.0),
            process(4, "/bin/nap", 90.0),
        ];
        let thread = |process: &TracedProcess| ThreadLife {
            pid: process.pid,
            thread: process.pid,
            started_us: 0.0,
            ended_us: process.ended_us,
        };
        let threads = processes.iter().map(thread).collect();
        let cpuids = Reading::unavailable("not counted", "");
        let trace =
            PhaseTrace { total_us: 100.0, processes, stops: 0, cpuids, file_calls: Vec::new() };
        let waits = vec![
            wait(2, 60.0, 4000.0),
            // Ready just before the end.
            wait(3, 90.0, 4000.0),
            wait(5, 10.0, 80.0),
            wait(4, 20.0, 90.0),
        ];
        let mut inputs = Inputs::nothing(command, "a test");
        inputs.wait_trace = Reading::Value(WaitTrace { trace, threads, waits });
        inputs
    }

    fn in_background(inputs: &Inputs) -> Vec<String> {
        let trace = &inputs.wait_trace.value().unwrap().trace;
        let lives = lives(inputs, trace);
        let marked = lives.iter().filter(|life| life.background);
        marked.map(|life| life.image.path.clone()).collect()
    }

    #[test]
    fn only_what_outlives_the_launch_asleep_is_in_the_background() {
        let mut inputs = inputs();
        assert_eq!(in_background(&inputs), ["/bin/sleep"]);
        inputs.until_ready = true;
        assert!(in_background(&inputs).is_empty());
    }

    /// As a server does that forks, and executes nothing.
    #[test]
    fn copies_that_sleep_are_charged_nothing() {
        let mut inputs = inputs();
        let Reading::Value(recorded) = &mut inputs.wait_trace else { unreachable!() };
        let copy = |pid| TracedProcess { images: Vec::new(), ..process(pid, "", 5000.0) };
        recorded.trace.processes.push(copy(6));
        let thread = |pid| ThreadLife { pid, thread: pid, started_us: 0.0, ended_us: 5000.0 };
        recorded.threads.push(thread(6));
        recorded.waits.push(wait(6, 10.0, 4000.0));
        let sleeping = |inputs: &Inputs| {
            let trace = &inputs.wait_trace.value().unwrap().trace;
            lives(inputs, trace).iter().any(|life| life.copies_sleep)
        };
        assert!(sleeping(&inputs));
        // Another one works.
        let Reading::Value(recorded) = &mut inputs.wait_trace else { unreachable!() };
        recorded.trace.processes.push(copy(7));
        recorded.threads.push(thread(7));
        assert!(!sleeping(&inputs));
    }
}
