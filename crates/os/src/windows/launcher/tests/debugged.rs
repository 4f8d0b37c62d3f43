//! Launches under the debug API.

use super::*;
use model::DebuggedProcess;

fn debugged(command: &Command, spec: &LaunchSpec) -> Result<DebuggedLaunch, LaunchError> {
    let mut launcher = Launcher::start()?;
    let slot = launcher.prepare(command, &Stdio::null()?, &[])?;
    launcher.debugged(slot, spec)
}

fn names(process: &DebuggedProcess) -> Vec<String> {
    let name = |path: &str| path.rsplit('\\').next().unwrap_or(path).to_ascii_lowercase();
    process.dlls.iter().map(|dll| name(&dll.path)).collect()
}

#[test]
fn every_dll_is_named_and_the_marks_are_in_order() {
    let launch = debugged(&own("exit 5"), &spec(Until::Exit, 60)).unwrap();
    assert_eq!(launch.ending, Ending::Code(5));
    let [process] = &launch.processes[..] else { panic!("{launch:?}") };
    let own = std::env::current_exe().unwrap();
    assert_eq!(Path::new(&process.path).file_name(), own.file_name());
    assert_eq!(process.argv.get(1).map(String::as_str), Some("--exact"));
    let names = names(process);
    assert_eq!(names.first().map(String::as_str), Some("ntdll.dll"), "{names:?}");
    assert!(names.iter().any(|name| name == "kernel32.dll"), "{names:?}");
    assert!(names.iter().all(|name| name.ends_with(".dll")), "{names:?}");
    let marks = [
        Some(0.0),
        Some(process.started_us),
        process.dlls.first().map(|dll| dll.loaded_us),
        process.initializing_us,
        process.entry_us,
        process.exiting_us,
        Some(launch.total_us),
    ];
    let marks: Vec<f64> = marks.into_iter().map(Option::unwrap).collect();
    assert!(marks.is_sorted(), "{marks:?}");
    assert_eq!(process.exit_code, Some(5));
    assert!(process.notes.is_empty(), "{:?}", process.notes);
    assert!(launch.stops.len() > process.dlls.len());
    let called = process.dlls.iter().filter_map(|dll| Some((dll.initialized_us?, dll.returned_us)));
    let called: Vec<_> = called.collect();
    assert!(!called.is_empty());
    for (called_us, returned_us) in called {
        assert!(returned_us.is_some_and(|us| us > called_us && Some(us) < process.entry_us));
    }
    assert!(launch.stops.is_sorted_by(|a, b| a.at_us + a.held_us <= b.at_us));
}

#[test]
fn children_are_recorded_with_their_parents() {
    let launch = debugged(&own("start exit 7"), &spec(Until::Exit, 60)).unwrap();
    let [parent, child] = &launch.processes[..] else { panic!("{launch:?}") };
    assert_eq!((parent.parent, child.parent), (None, Some(0)));
    assert_eq!((parent.exit_code, child.exit_code), (Some(0), Some(7)));
    assert!(child.started_us > parent.entry_us.unwrap());
    assert!(child.exiting_us.unwrap() < parent.exiting_us.unwrap());
}

/// A breakpoint or an exception of the program ends it, as it does without a debugger.
#[test]
fn exceptions_are_the_programs_affair() {
    let launch = debugged(&own("break"), &spec(Until::Exit, 60)).unwrap();
    assert_eq!(launch.ending, Ending::Status(0x8000_0003));
    let launch = debugged(&own("catch"), &spec(Until::Exit, 60)).unwrap();
    assert_eq!(launch.ending, Ending::Code(0));
}

#[test]
fn debugged_launches_end_when_they_are_ready_or_late() {
    let launch = debugged(&own("sleep"), &spec(Until::Entry, 60)).unwrap();
    assert_eq!((launch.ending, launch.processes.len()), (Ending::Ready, 1));
    assert_eq!(launch.processes[0].exit_code, None);
    let until = Until::Output("hello".to_owned());
    let launch = debugged(&own("say hello"), &spec(until, 60)).unwrap();
    assert_eq!(launch.ending, Ending::Ready);
    assert!(launch.processes[0].entry_us.unwrap() < launch.total_us);
    let launch = debugged(&own("sleep"), &spec(Until::Exit, 2)).unwrap();
    assert_eq!(launch.ending, Ending::TimedOut);
}

#[test]
fn what_a_debugged_launch_leaves_running_is_ended() {
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut launcher = Launcher::start().unwrap();
    let stdio = Stdio::null().unwrap().with_output(writer);
    let slot = launcher.prepare(&own("leave left"), &stdio, &[]).unwrap();
    let launch = launcher.debugged(slot, &spec(Until::Exit, 60)).unwrap();
    assert_eq!(launch.ending, Ending::Code(0));
    drop((launcher, stdio));
    // It has no end as long as the process that was left can write to it.
    reader.read_to_end(&mut Vec::new()).unwrap();
}
