//! Tests of the figures by module.

use crate::advice::unworded;
use crate::explain;
use crate::test_logs::{inputs, log};
use model::{Explanation, Mark, MarkKind, ModuleReport, Phase, Reading};

fn phase(explanation: &Explanation, program: &str, phase: Phase) -> f64 {
    let mut processes = explanation.processes.iter().filter(|process| process.path == program);
    let process = processes.next().unwrap();
    process.phases.iter().filter(|time| time.phase == phase).map(|time| time.us).sum()
}

fn sum(modules: &[&ModuleReport], figure: fn(&ModuleReport) -> &Reading<f64>) -> f64 {
    modules.iter().filter_map(|module| figure(module).get()).sum()
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.2
}

#[test]
fn module_times_sum_to_the_phases_of_their_process() {
    for name in ["inkscape", "true"] {
        let explanation = explain(&inputs(name, 0.85), unworded);
        let modules: Vec<&ModuleReport> = explanation.modules.iter().collect();
        for (part, figure) in [
            (Phase::Map, (|m| &m.map_us) as fn(&ModuleReport) -> &Reading<f64>),
            (Phase::Relocate, |m| &m.relocate_us),
            (Phase::Initialize, |m| &m.init_us),
        ] {
            let (modules, phases) = (sum(&modules, figure), phase(&explanation, name, part));
            assert!(close(modules, phases), "{name} {part:?}: {modules} in {phases}");
        }
    }
}

#[test]
fn the_loaders_own_start_is_its_own() {
    let explanation = explain(&inputs("true", 1.0), unworded);
    let loader = explanation.modules.iter().find(|m| m.path.contains("ld-linux")).unwrap();
    // The test's trace puts the end of execve 500 µs before the log's first line.
    assert!(close(loader.map_us.get().unwrap(), 500.0), "{:?}", loader.map_us);
    let program = explanation.modules.iter().find(|m| m.path == "true").unwrap();
    assert_eq!(program.map_us.reason(), Some("mapped by the kernel during exec"));
    assert!(program.search_misses.get().is_none());
}

#[test]
fn real_paths_unite_names_of_one_file() {
    let mut inputs = inputs("true", 1.0);
    let names = ["/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"];
    for name in names {
        inputs.real_paths.insert(name.to_owned(), format!("/usr{name}"));
        assert!(inputs.paths().contains(name));
    }
    let explanation = explain(&inputs, unworded);
    let mut paths: Vec<&str> = explanation.modules.iter().map(|m| m.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(
        paths,
        ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib64/ld-linux-x86-64.so.2", "true"]
    );
}

#[test]
fn one_program_run_twice_has_its_modules_once() {
    let explanation = explain(&inputs("soffice", 0.9), unworded);
    let of_dirname = |m: &&ModuleReport| m.program == "dirname";
    assert_eq!(explanation.modules.iter().filter(of_dirname).count(), 3);
    assert_eq!(explanation.processes.iter().filter(|p| p.path == "dirname").count(), 2);
}

#[test]
fn without_a_log_the_executed_images_are_still_listed() {
    let mut inputs = inputs("true", 1.0);
    inputs.loader_logs = Reading::unavailable("LD_DEBUG was not tried", "try it");
    let mut traces = inputs.phase_traces.value().cloned().unwrap();
    traces[0].processes[0].images[0].loader = None;
    inputs.phase_traces = Reading::Value(traces);
    let explanation = explain(&inputs, unworded);
    assert_eq!(explanation.modules.len(), 1);
    assert_eq!(explanation.modules[0].relocate_us.reason(), Some("LD_DEBUG was not tried"));
    inputs.loader_logs =
        Reading::Value(vec![model::LoaderLog { lines: Vec::new(), ..log("true") }]);
    let explanation = explain(&inputs, unworded);
    let reason = explanation.modules[0].relocate_us.reason();
    assert_eq!(reason, Some("a static program has no loader"));
}

#[test]
fn a_map_phase_shorter_than_the_log_never_turns_negative() {
    let mut inputs = inputs("true", 1.0);
    let mut traces = inputs.phase_traces.value().cloned().unwrap();
    let marks = &mut traces[0].processes[0].images[0].marks;
    let mapped = marks.iter().find(|mark| mark.kind == MarkKind::Mapped).unwrap().at_us;
    marks[1] = Mark { kind: MarkKind::ExecDone, at_us: mapped - 1.0 };
    inputs.phase_traces = Reading::Value(traces);
    let explanation = explain(&inputs, unworded);
    let modules: Vec<&ModuleReport> = explanation.modules.iter().collect();
    assert!(close(sum(&modules, |m| &m.map_us), 1.0));
    assert!(modules.iter().all(|m| m.map_us.get().is_none_or(|us| us >= 0.0)));
}
