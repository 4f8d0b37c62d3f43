//! Tests of the figures by module.

use crate::advice::unworded;
use crate::elf::explain;
use crate::elf::inputs::Inputs;
use crate::elf::test_logs::{inputs, log};
use model::{
    BundleContents, BundlePart, BundleStart, Explanation, Mark, MarkKind, ModuleReport, PartWork,
    Phase, Reading, StartStep, Va,
};

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

/// The recorded launch of a bundle of git: its second library takes four times as long as the first.
fn bundle() -> Inputs {
    let mut inputs = inputs("bundle", 1.0);
    let run = "/fast/run";
    inputs.real_paths.insert("git/run".to_owned(), run.to_owned());
    let library = |path: &str, relocations| BundlePart {
        path: path.to_owned(),
        places: Vec::new(),
        work: PartWork { relocations, ..PartWork::default() },
    };
    let contents = BundleContents {
        original: Some("/usr/bin/git".to_owned()),
        libraries: vec![library("/lib/libpcre2-8.so.0", 71), library("/lib/libz.so.1", 77)],
        initializers: vec![Some(0), Some(0), Some(1)],
        start: Some(BundleStart {
            path: run.to_owned(),
            check: Va(1),
            read_ahead: None,
            initialized: Va(2),
            finish: None,
        }),
        ..BundleContents::default()
    };
    inputs.contents.insert(run.to_owned(), contents);
    let Reading::Value(traces) = &mut inputs.phase_traces else { panic!("no trace") };
    let image = &mut traces[0].processes[0].images[0];
    let at = |kind| image.marks.iter().find(|mark| mark.kind == kind).unwrap().at_us;
    let (relocated, main) = (at(MarkKind::Relocated), at(MarkKind::Main));
    let within = |share: f64| relocated + (main - relocated) * share;
    image.marks.push(Mark { kind: MarkKind::Entry, at_us: within(0.5) });
    let mut started = traces[0].clone();
    started.processes[0].images[0].steps = [
        (StartStep::Check, 0.05),
        (StartStep::Checked, 0.45),
        (StartStep::Initialized, 0.51),
        (StartStep::Initialized, 0.56),
        (StartStep::Initialized, 0.73),
    ]
    .map(|(step, share)| (step, within(share)))
    .to_vec();
    inputs.start_traces = Reading::Value(vec![started]);
    inputs
}

#[test]
fn libraries_in_a_bundle_are_modules_of_their_own() {
    let explanation = explain(&bundle(), unworded);
    let all: Vec<&ModuleReport> = explanation.modules.iter().collect();
    let modules = sum(&all, |module| &module.init_us);
    let phases = phase(&explanation, "/fast/run", Phase::Initialize);
    assert!(close(modules, phases), "{modules} in {phases}: {all:#?}");
    let merged: Vec<&ModuleReport> =
        all.into_iter().filter(|module| module.merged_in.as_deref() == Some("/fast/run")).collect();
    let paths: Vec<&str> = merged.iter().map(|module| module.path.as_str()).collect();
    assert_eq!(paths, ["/lib/libz.so.1", "/lib/libpcre2-8.so.0"]);
    let [most, least] = [merged[0], merged[1]].map(|module| module.init_us.get().unwrap());
    assert!((most / least - 4.0).abs() < 0.1, "{most} {least}");
    assert_eq!(merged[0].work.unwrap().relocations, 77);
    let reason = merged[0].map_us.reason().unwrap();
    assert_eq!(reason, "the kernel maps it during exec with /fast/run");
    let [report] = &explanation.bundles[..] else { panic!("{:?}", explanation.bundles) };
    assert_eq!((report.libraries, report.started_original), (2, false));
    assert!(report.check_us.get().unwrap() > 0.0, "{report:?}");
    assert_eq!(explanation.processes[0].program(), "/usr/bin/git");
}

#[test]
fn without_steps_the_times_of_merged_libraries_are_unavailable() {
    let mut inputs = bundle();
    inputs.start_traces = Reading::unavailable("ptrace is not permitted", "");
    let explanation = explain(&inputs, unworded);
    let merged = explanation.modules.iter().filter(|module| module.merged_in.is_some());
    let reasons: Vec<Option<&str>> = merged.map(|module| module.init_us.reason()).collect();
    assert_eq!(reasons, [Some("ptrace is not permitted"); 2]);
    assert_eq!(explanation.bundles[0].check_us.reason(), Some("ptrace is not permitted"));
    let all: Vec<&ModuleReport> = explanation.modules.iter().collect();
    let phases = phase(&explanation, "/fast/run", Phase::Initialize);
    assert!(close(sum(&all, |module| &module.init_us), phases), "{all:#?}");
}
