//! A recorded launch for tests: a program with a DLL of its own and a child.

use super::inputs::{DllSearchPath, PeInputs};
use model::{Command, DebugStop, DebuggedDll, DebuggedLaunch, DebuggedProcess, Ending, Reading};

pub(super) const PROGRAM: &str = r"C:\app\app.exe";

fn dll(path: &str, base: u64, loaded_us: f64, initialized_us: Option<f64>) -> DebuggedDll {
    DebuggedDll { path: path.to_owned(), base, loaded_us, initialized_us }
}

/// Loaded are ntdll, kernel32 and own.dll; then these are initialized, the program begins at 700 and loads
/// late.dll; its child runs from 800 to 900.
fn processes() -> Vec<DebuggedProcess> {
    let program = DebuggedProcess {
        pid: 10,
        parent: None,
        path: PROGRAM.to_owned(),
        argv: vec!["recorded".to_owned()],
        base: 0x1_4000_0000,
        started_us: 200.0,
        initializing_us: Some(500.0),
        entry_us: Some(700.0),
        exiting_us: Some(1000.0),
        exit_code: Some(0),
        dlls: vec![
            dll(r"C:\Windows\System32\ntdll.dll", 0x1_7000_0000, 210.0, None),
            dll(r"C:\Windows\System32\kernel32.dll", 0x1_8000_0000, 250.0, Some(500.0)),
            dll(r"D:\libs\own.dll", 0x1_9000_0000, 400.0, Some(550.0)),
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

/// One debugged launch of 1,100, in which headstart holds nothing, and launches without a debugger that
/// take as long.
pub(super) fn inputs() -> PeInputs {
    let stops = processes();
    let mut at: Vec<f64> = stops
        .iter()
        .flat_map(|process| {
            let marks = [process.initializing_us, process.entry_us, process.exiting_us];
            let loaded = process.dlls.iter().map(|dll| dll.loaded_us);
            loaded
                .chain(marks.into_iter().flatten())
                .chain([process.started_us])
                .collect::<Vec<_>>()
        })
        .collect();
    at.sort_by(f64::total_cmp);
    let launch = DebuggedLaunch {
        total_us: 1100.0,
        ending: Ending::Code(0),
        processes: processes(),
        stops: at.into_iter().map(|at_us| DebugStop { at_us, held_us: 0.0 }).collect(),
    };
    let argv = vec!["app".into(), "a b".into()];
    let command =
        Command { argv, program: PROGRAM.into(), directory: None, environment: Vec::new() };
    PeInputs {
        command,
        untraced_us: vec![1100.0; 4],
        untraced_cpu_us: vec![Reading::unavailable("Wine does not count it", ""); 4],
        left_running: 0,
        until_ready: false,
        debugged: Reading::Value(vec![launch]),
        facts: Default::default(),
        search: DllSearchPath {
            system: vec![r"C:\Windows\System32".to_owned(), r"C:\Windows".to_owned()],
            working: r"C:\app".to_owned(),
            path: vec![r"C:\tools".to_owned(), r"D:\libs".to_owned()],
        },
        wine: None,
    }
}
