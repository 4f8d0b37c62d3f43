//! A recorded launch for tests: a program with a DLL of its own and a child.

use super::inputs::{DllSearchPath, PeInputs};
use model::{Command, DebugStop, DebuggedDll, DebuggedLaunch, DebuggedProcess, Ending, Reading};

pub(super) const PROGRAM: &str = r"C:\app\app.exe";

fn dll(path: &str, base: u64, loaded_us: f64, initializer: Option<(f64, f64)>) -> DebuggedDll {
    let path = path.to_owned();
    let (initialized_us, returned_us) = initializer.unzip();
    DebuggedDll { path, base, loaded_us, initialized_us, returned_us }
}

/// Loaded are ntdll, kernel32 and own.dll; then these are initialized, the program begins at 700 and loads
/// late.dll; its child runs from 800 to 900.
fn processes() -> Vec<DebuggedProcess> {
    let program = DebuggedProcess {
        pid: 10,
        parent: None,
        path: PROGRAM.to_owned(),
        argv: vec!["recorded".to_owned()],
        directory: None,
        base: 0x1_4000_0000,
        started_us: 200.0,
        initializing_us: Some(500.0),
        entry_us: Some(700.0),
        exiting_us: Some(1000.0),
        exit_code: Some(0),
        dlls: vec![
            dll(r"C:\Windows\System32\ntdll.dll", 0x1_7000_0000, 210.0, None),
            dll(r"C:\Windows\System32\kernel32.dll", 0x1_8000_0000, 250.0, Some((500.0, 540.0))),
            dll(r"D:\libs\own.dll", 0x1_9000_0000, 400.0, Some((550.0, 690.0))),
            dll(r"C:\app\late.dll", 0x1_a000_0000, 750.0, None),
        ],
        notes: Vec::new(),
    };
    let child = DebuggedProcess {
        pid: 11,
        parent: Some(0),
        path: r"C:\app\child.exe".to_owned(),
        argv: vec!["child".to_owned(), "-x".to_owned()],
        started_us: 800.0,
        initializing_us: None,
        entry_us: Some(850.0),
        exiting_us: Some(900.0),
        dlls: Vec::new(),
        ..program.clone()
    };
    vec![program, child]
}

/// The launch of these processes, which takes 1,100, and in which headstart holds nothing.
pub(super) fn launch() -> DebuggedLaunch {
    let mut stops: Vec<DebugStop> = Vec::new();
    for process in processes() {
        let marks = [process.initializing_us, process.entry_us, process.exiting_us];
        let dlls = process.dlls.iter();
        let dlls = dlls.flat_map(|dll| [Some(dll.loaded_us), dll.initialized_us, dll.returned_us]);
        let all = dlls.chain(marks).chain([Some(process.started_us)]).flatten();
        stops.extend(all.map(|at_us| DebugStop { pid: process.pid, at_us, held_us: 0.0 }));
    }
    stops.sort_by(|a, b| a.at_us.total_cmp(&b.at_us));
    stops.dedup();
    let processes = processes();
    DebuggedLaunch { total_us: 1100.0, ending: Ending::Code(0), processes, stops }
}

/// One debugged launch, and launches without a debugger that take as long.
pub(super) fn inputs() -> PeInputs {
    let argv = vec!["app".into(), "a b".into()];
    let command =
        Command { argv, program: PROGRAM.into(), directory: None, environment: Vec::new() };
    PeInputs {
        command,
        untraced_us: vec![1100.0; 4],
        untraced_cpu_us: vec![Reading::unavailable("Wine does not count it", ""); 4],
        left_running: 0,
        until_ready: false,
        debugged: Reading::Value(vec![launch()]),
        facts: Default::default(),
        search: DllSearchPath {
            system: vec![r"C:\Windows\System32".to_owned(), r"C:\Windows".to_owned()],
            working: r"C:\app".to_owned(),
            path: vec![r"C:\tools".to_owned(), r"D:\libs".to_owned()],
        },
        left_out: 0,
        changed: false,
        wine: None,
    }
}
