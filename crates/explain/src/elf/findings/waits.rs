//! The findings on time in which no process of the launch has anything to do, by phase.

use super::Context;
use model::figures::{duration, plural};
use model::{Finding, Phase, Reading, WaitFor, WaitReport};
use std::collections::BTreeSet;

/// Calls told by name.
const CALLS: usize = 4;
/// Callers told of each of them.
const CALLERS: usize = 2;
/// A smaller part of the waits is not told.
const LEAST: f64 = 0.02;

pub(super) fn find(context: &Context) -> Vec<Finding> {
    let told = context.shares.waits.iter().filter(|(_, us)| context.worth(**us));
    told.map(|(phase, us)| finding(context, *phase, *us)).collect()
}

fn finding(context: &Context, phase: Phase, cost: f64) -> Finding {
    let waits = context.explanation.waits.value().into_iter().flat_map(|waits| &waits.calls);
    let of_phase = waits.filter(|call| call.phase == phase);
    let calls: Vec<&WaitReport> = of_phase.filter(|call| context.counts(&call.program)).collect();
    let most = calls.first().map(|call| call.on);
    let mut evidence = Vec::new();
    for call in calls.iter().filter(|call| call.us >= cost * LEAST).take(CALLS) {
        let callers: Vec<String> = call
            .callers
            .iter()
            .take(CALLERS)
            .map(|caller| {
                format!("{} called from {}", duration(caller.us), caller.functions.join(" ← "))
            })
            .collect();
        let line = line(context, call);
        evidence.push(match callers.is_empty() {
            true => line,
            false => format!("{line}: {}", callers.join("; ")),
        });
    }
    if context.explanation.waits.value().is_none() {
        evidence.push("every untraced launch is off the CPU for at least this long".to_owned());
        evidence
            .push("the system calls are not known: the source line on waits says why".to_owned());
    }
    let what = match context.explanation.waits {
        Reading::Value(_) => "the launch only waits, all of its processes and threads at once",
        Reading::Unavailable { .. } => {
            "the launch is off the CPU: it waits, or other programs keep it from running"
        }
    };
    Finding {
        id: "waits".to_owned(),
        cause: format!("{}: {what}", share(context, cost, phase)),
        evidence,
        cost_us: Reading::Value(cost),
        phase: Some(phase),
        part_of: None,
        remedy: remedy(most).to_owned(),
    }
}

/// Waiting is expected in main; elsewhere the phase is said.
fn share(context: &Context, cost: f64, phase: Phase) -> String {
    match phase {
        Phase::Main => context.of_launch(cost),
        phase => context.of_launch_in(cost, phase),
    }
}

/// `sleep: 100 ms asleep (clock_nanosleep, 1 wait)`.
fn line(context: &Context, call: &WaitReport) -> String {
    let programs = context.explanation.processes.iter().map(|process| &process.path);
    let program = match programs.collect::<BTreeSet<_>>().len() {
        0 | 1 => String::new(),
        _ => format!("{}: ", context.name(&call.program)),
    };
    let target = call.target.as_ref().map_or_else(String::new, |target| format!(" {target}"));
    let times = plural(call.calls, "wait", "waits");
    format!("{program}{} {}{target} ({}, {times})", duration(call.us), what(call.on), call.call)
}

/// What is waited for, as a sentence goes on behind a time.
fn what(on: WaitFor) -> &'static str {
    match on {
        WaitFor::Time => "sleeping for a fixed time",
        WaitFor::Child => "for a child process to exit",
        WaitFor::Lock => "for another thread or process",
        WaitFor::Event => "for an event on a file descriptor",
        WaitFor::Signal => "for a signal",
        WaitFor::Pipe => "for the other end of a pipe",
        WaitFor::Socket => "for the other end of a socket",
        WaitFor::Terminal => "for the terminal",
        WaitFor::File => "for a file or device",
    }
}

fn remedy(most: Option<WaitFor>) -> &'static str {
    match most {
        Some(WaitFor::Time) => {
            "A fixed sleep is nearly always too long: wait for the event itself, with a timeout \
             (poll, inotify, waitpid, a condition variable)."
        }
        Some(WaitFor::Socket | WaitFor::Event) => {
            "Send the request before the answer is needed and do other work meanwhile, cache the \
             answer between starts, or do without it until it is needed."
        }
        Some(WaitFor::Child | WaitFor::Pipe) => {
            "Find out what the process at the other end waits for; start it earlier, or do not \
             wait for it."
        }
        Some(WaitFor::Lock) => {
            "Find out who holds the lock or finishes last: hold locks briefly, and start threads \
             before their result is needed."
        }
        Some(WaitFor::File) => {
            "Read less, read ahead (posix_fadvise, readahead), and postpone syncing to storage \
             until after the start."
        }
        Some(WaitFor::Signal | WaitFor::Terminal) => {
            "The program itself cannot shorten this: what it waits for has to be faster."
        }
        None => {
            "Explain it where ptrace is permitted: then the system calls it waits in are named. \
             Profilers and strace need the same permission."
        }
    }
}
