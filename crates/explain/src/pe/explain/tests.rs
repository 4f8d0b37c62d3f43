//! Explanations of a launch that was made up, so that every figure is known.

use super::*;
use crate::advice::unworded;
use crate::pe::test_launch;
use crate::phases::left_running::LEFT_RUNNING;
use model::{DebuggedLaunch, Ending, ModuleReport};

fn phase(explanation: &Explanation, wanted: Phase) -> f64 {
    let found = explanation.phases.iter().find(|time| time.phase == wanted);
    found.map_or(0.0, |time| time.us)
}

fn sum(explanation: &Explanation) -> f64 {
    explanation.phases.iter().map(|time| time.us).sum()
}

/// A change to the one debugged launch.
fn changed(change: impl FnOnce(&mut DebuggedLaunch)) -> PeInputs {
    let mut inputs = test_launch::inputs();
    if let Reading::Value(launches) = &mut inputs.debugged {
        change(&mut launches[0]);
    }
    inputs
}

#[test]
fn phases_divide_the_launch_and_processes_are_charged() {
    let explanation = explain(&test_launch::inputs(), unworded);
    assert_eq!(explanation.total_us, 1100.0);
    let expected = [
        (Phase::Spawn, 200.0),
        (Phase::Load, 300.0),
        // The child's load and initialization cannot be told apart.
        (Phase::Initialize, 200.0),
        (Phase::Main, 250.0),
        (Phase::Exit, 100.0),
        (Phase::Unattributed, 50.0),
    ];
    for (wanted, us) in expected {
        assert_eq!(phase(&explanation, wanted), us, "{wanted:?}");
    }
    assert_eq!(sum(&explanation), 1100.0);
    let [program, child] = &explanation.processes[..] else { panic!() };
    assert_eq!((program.charged_us, child.charged_us), (1000.0, 100.0));
    assert_eq!((program.argv.len(), child.argv.len()), (2, 2));
    assert!(child.notes.iter().any(|note| note.contains("load, initialize")), "{child:?}");
    assert!(explanation.notes.is_empty());
}

#[test]
fn every_dll_has_its_times_in_the_order_of_loading() {
    let explanation = explain(&test_launch::inputs(), unworded);
    let row = |module: &ModuleReport| {
        let (name, pe) = (model::file_name(&module.path).to_owned(), module.pe.as_ref().unwrap());
        (name, pe.loaded_us, pe.load_us.get(), module.init_us.get())
    };
    let rows: Vec<_> = explanation.modules.iter().map(row).collect();
    let expected = [
        ("app.exe", 200.0, None, None),
        ("ntdll.dll", 210.0, Some(10.0), None),
        ("kernel32.dll", 250.0, Some(40.0), Some(40.0)),
        ("own.dll", 400.0, Some(150.0), Some(140.0)),
        ("late.dll", 750.0, None, None),
        ("child.exe", 800.0, None, None),
    ];
    let expected = expected.map(|(name, loaded, load, init)| (name.to_owned(), loaded, load, init));
    assert_eq!(rows, expected);
    let misses = |name: &str| {
        let found = explanation.modules.iter().find(|module| module.path.ends_with(name));
        found.unwrap().search_misses.get()
    };
    assert_eq!(
        (misses("own.dll"), misses("late.dll"), misses("ntdll.dll")),
        (Some(4), Some(0), None)
    );
}

#[test]
fn times_are_those_of_launches_that_nobody_stops() {
    let mut inputs = test_launch::inputs();
    inputs.untraced_us = vec![600.0; 4];
    let explanation = explain(&inputs, unworded);
    assert_eq!(explanation.total_us, 600.0);
    assert!((sum(&explanation) - 600.0).abs() < 0.01);
    assert!(phase(&explanation, Phase::Load) < 300.0);
    assert!(explanation.sources[0].caveat.contains("a debugged launch"));
}

#[test]
fn without_a_debugger_only_the_total_is_known() {
    let mut inputs = test_launch::inputs();
    inputs.debugged = Reading::unavailable("another debugger is attached", "");
    let explanation = explain(&inputs, unworded);
    assert_eq!(phase(&explanation, Phase::Unattributed), 1100.0);
    assert!(explanation.modules.is_empty() && explanation.findings.is_empty());
    assert_eq!(explanation.sources[0].mechanism, "none");
    assert_eq!(explanation.sources[0].caveat, "another debugger is attached");
}

#[test]
fn a_process_that_is_left_running_says_so() {
    let inputs = changed(|launch| {
        launch.processes[1].exit_code = None;
        launch.processes[1].exiting_us = None;
    });
    let explanation = explain(&inputs, unworded);
    assert_eq!(sum(&explanation), 1100.0);
    assert!(explanation.processes[1].notes.iter().any(|note| note == LEFT_RUNNING));
    let mut until_ready = changed(|launch| {
        launch.ending = Ending::Ready;
        launch.processes.truncate(1);
        launch.processes[0].exit_code = None;
        launch.processes[0].exiting_us = None;
    });
    until_ready.until_ready = true;
    let explanation = explain(&until_ready, unworded);
    assert!(explanation.processes[0].notes.is_empty(), "{:?}", explanation.processes[0].notes);
    assert_eq!(phase(&explanation, Phase::Main), 400.0);
}

#[test]
fn left_running_processes_are_told_of() {
    let mut inputs = test_launch::inputs();
    inputs.left_running = 2;
    let explanation = explain(&inputs, unworded);
    assert_eq!(explanation.notes.len(), 1);
    assert!(explanation.notes[0].starts_with("2 of 4 launches"));
    inputs.left_out = 1;
    let explanation = explain(&inputs, unworded);
    assert!(explanation.notes[0].starts_with("1 launch went otherwise under the debugger"));
}

#[test]
fn a_program_that_was_replaced_meanwhile_is_told_of() {
    let mut inputs = test_launch::inputs();
    inputs.changed = true;
    let explanation = explain(&inputs, unworded);
    let note =
        "The program's file changed while it was explained: the figures are not of one program.";
    assert_eq!(explanation.notes, [note]);
    inputs.debugged = Reading::unavailable("another debugger is attached", "");
    assert_eq!(explain(&inputs, unworded).notes, [note], "also where only the total is known");
}
