//! Tests of whole explanations.

use super::*;
use crate::advice::unworded;
use crate::elf::test_logs::{inputs, log};
use crate::phases::left_running::LEFT_RUNNING;
use model::{Command, LoaderLog, PhaseTime};

/// The phases of an explanation as a reader of its JSON adds them up: in whole nanoseconds.
fn json_sum(explanation: &Explanation) -> (i64, i64) {
    let json: serde_json::Value =
        serde_json::from_str(&serde_json::to_string(explanation).unwrap()).unwrap();
    let figure = |value: &serde_json::Value| (value.as_f64().unwrap() * 1000.0).round() as i64;
    let phases = json["phases"].as_array().unwrap();
    let sum = phases.iter().map(|time| figure(&time["us"])).sum();
    (sum, figure(&json["total_us"]))
}

fn assert_exact(explanation: &Explanation) {
    let (sum, total) = json_sum(explanation);
    assert_eq!(sum, total);
    let charged: i64 = explanation.processes.iter().map(|p| ns(p.charged_us)).sum();
    if !explanation.processes.is_empty() {
        assert_eq!(charged, total);
    }
    for process in &explanation.processes {
        let own: i64 = process.phases.iter().map(|time| ns(time.us)).sum();
        assert_eq!(own, ns(process.ended_us) - ns(process.started_us), "{}", process.path);
    }
}

#[test]
fn phases_sum_to_the_total_exactly() {
    for name in ["true", "python", "inkscape", "soffice"] {
        for share in [1.0, 0.87, 1.0 / 3.0] {
            let explanation = explain(&inputs(name, share), unworded);
            assert_exact(&explanation);
            let round_trip = serde_json::to_string(&explanation).unwrap();
            assert_eq!(serde_json::from_str::<Explanation>(&round_trip).unwrap(), explanation);
        }
    }
}

#[test]
fn the_median_launch_is_explained() {
    let mut inputs = inputs("true", 1.0);
    let log = log("true");
    let traces = [0.5, 3.0, 0.8].map(|share| crate::elf::test_logs::traced(&log, share));
    inputs.phase_traces = Reading::Value(traces.to_vec());
    inputs.untraced_us = vec![100.0, 300.0, 200.0];
    let explanation = explain(&inputs, unworded);
    assert_eq!(explanation.total_us, us(ns(log.total_us * 0.8)));
    assert_eq!(explanation.untraced_median_us, Reading::Value(200.0));
}

#[test]
fn cpu_times_that_are_unavailable_are_told_with_the_reason() {
    let mut inputs = inputs("true", 1.0);
    assert!(explain(&inputs, unworded).untraced_cpu_us.get().is_none());
    let missing = Reading::unavailable("no clock", "");
    inputs.untraced_us = vec![100.0, 300.0, 200.0];
    inputs.untraced_cpu_us = vec![missing.clone(); 3];
    assert_eq!(explain(&inputs, unworded).untraced_cpu_us, missing);
    assert_eq!(inputs.idle_us(), None);
    inputs.untraced_cpu_us[1] = Reading::Value(90.0);
    assert_eq!(explain(&inputs, unworded).untraced_cpu_us, Reading::Value(90.0));
    assert_eq!(inputs.idle_us(), Some(210.0), "of the launch that has a figure");
}

#[test]
fn a_machine_that_changes_its_speed_does_not_decide_what_is_typical() {
    let mut inputs = inputs("true", 1.0);
    let log = log("true");
    // Tracing makes launches a tenth longer; from the second launch on the machine is slow, and
    // fast again at the end, where one untraced launch is disturbed.
    let traces = [1.1, 2.2, 2.25, 1.1, 1.1].map(|share| crate::elf::test_logs::traced(&log, share));
    inputs.phase_traces = Reading::Value(traces.to_vec());
    let around = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0, 7.0];
    inputs.untraced_us = around.map(|share| share * log.total_us).to_vec();
    let explanation = explain(&inputs, unworded);
    let untraced = explanation.untraced_median_us.get().unwrap();
    assert!((explanation.total_us / untraced - 1.1).abs() < 0.001, "{}", explanation.total_us);
    // The median of all traced launches alone.
    inputs.untraced_us.pop();
    assert_eq!(explain(&inputs, unworded).total_us, us(ns(log.total_us * 1.1)));
}

#[test]
fn without_ptrace_the_log_gives_the_phases() {
    let mut inputs = inputs("soffice", 1.0);
    let reason = "ptrace is not permitted here";
    inputs.phase_traces = Reading::unavailable(reason, "run the container with SYS_PTRACE");
    let explanation = explain(&inputs, unworded);
    assert_exact(&explanation);
    let us = |phase| explanation.phases.iter().find(|time| time.phase == phase).map(|time| time.us);
    assert!(us(Phase::Relocate) > Some(1000.0) && us(Phase::Map) > Some(1000.0));
    assert!(us(Phase::Unattributed) > Some(0.0));
    assert_eq!(us(Phase::Spawn), None);
    let source = &explanation.sources[0];
    assert_eq!(source.mechanism, "LD_DEBUG");
    assert!(source.caveat.starts_with(reason), "{}", source.caveat);
    let note = "spawn, exec could not be told apart";
    assert!(explanation.processes[0].notes.contains(&note.to_owned()));
}

#[test]
fn without_anything_the_launch_is_unattributed_with_the_reason() {
    let command = Command {
        argv: vec!["p".into()],
        program: "/bin/p".into(),
        directory: None,
        environment: Vec::new(),
    };
    let mut inputs = Inputs::nothing(command, "nothing is permitted here");
    inputs.untraced_us = vec![812.5];
    inputs.loader_logs =
        Reading::Value(vec![LoaderLog { total_us: 1.0, pid: 1, lines: Vec::new() }]);
    let explanation = explain(&inputs, unworded);
    assert_eq!(explanation.total_us, 812.5);
    let all = PhaseTime { phase: Phase::Unattributed, us: 812.5 };
    assert_eq!(explanation.phases, [all]);
    assert_eq!(explanation.sources[0].caveat, "nothing is permitted here");
    assert!(explanation.findings.is_empty());
}

#[test]
fn what_is_left_running_and_ended_is_told() {
    let mut inputs = inputs("soffice", 1.0);
    inputs.untraced_us = vec![1.0, 1.0];
    assert!(explain(&inputs, unworded).notes.is_empty());
    inputs.left_running = 2;
    let mut trace = inputs.phase_traces.value().unwrap()[0].clone();
    let late = trace.processes.last_mut().unwrap();
    late.ended_us = trace.total_us + 5.0;
    let image = late.images.last_mut().unwrap();
    image.marks.retain(|mark| !matches!(mark.kind, MarkKind::ExitCalled | MarkKind::Exiting));
    let path = image.path.clone();
    inputs.phase_traces = Reading::Value(vec![trace]);
    let explanation = explain(&inputs, unworded);
    let note =
        "2 of 2 untraced launches left processes running, which headstart ended; SayWhenReady.";
    assert_eq!(explanation.notes, [note]);
    let process = explanation.processes.iter().rfind(|process| process.path == path).unwrap();
    assert_eq!(process.notes, [LEFT_RUNNING]);
    // One that is ended when it is ready has nothing to explain.
    inputs.until_ready = true;
    assert!(explain(&inputs, unworded).notes.is_empty());
}
