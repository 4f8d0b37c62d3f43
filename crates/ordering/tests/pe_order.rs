//! A DLL is traced under Wine, its functions are ordered by its map, and it is linked again: then
//! they are in memory as they are called.
#![allow(clippy::unwrap_used)]

use model::{Command, Ending, Format, FunctionTrace, ModuleId, Rva, Until};
use ordering::maps::{self, LinkerMap};
use ordering::plan::{self, FunctionOrderPlan};
use ordering::record;
use ordering::subject::Subject;
use ordering::trace::{native, openoffice};
use ordering::write::{self, InputSections, Linker, Relinker, UnlistedReason};
use ordering::{Algorithm, summary};
use os::launcher::Stdio;
use os::trace::{FunctionRequest, RecordUntil};
use std::ffi::OsStr;
use std::fmt::Write;
use std::fs::File;
use std::path::Path;
use std::time::Duration;
use testkit::pe::{Image, Tools, Wine};

/// Functions of each kind: exported, static, and neither.
const EACH: usize = 120;
const KINDS: [(&str, &str); 3] =
    [("__declspec(dllexport)", "shown"), ("static", "hidden"), ("", "inner")];

/// A number below `EACH` for each, without a repetition.
fn scrambled(seed: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..EACH).collect();
    numbers.sort_by_key(|number| (number * 7919 + seed * 104_729) % 1_000_003 % 997);
    numbers
}

/// Each exported function calls a static one and another, in no order of theirs.
fn library() -> String {
    let mut source = String::from("volatile int sink;\n");
    for number in 0..EACH {
        for (kind, name) in &KINDS[1..] {
            let keep = "__attribute__((noinline))";
            writeln!(
                source,
                "{kind} {keep} int {name}{number}(int x) {{ sink = x + {number}; \
                 return sink * {}; }}",
                name.len()
            )
            .unwrap();
        }
    }
    let (hidden, inner) = (scrambled(1), scrambled(2));
    for number in 0..EACH {
        writeln!(
            source,
            "__declspec(dllexport) int shown{number}(int x) {{ sink = x; \
             return hidden{}(x) + inner{}(x) + sink; }}",
            hidden[number], inner[number]
        )
        .unwrap();
    }
    source
}

fn program() -> String {
    let order = scrambled(3);
    let declared = order.iter().map(|n| format!("__declspec(dllimport) int shown{n}(int x);\n"));
    let called = order.iter().map(|n| format!("  sum += shown{n}({n});\n"));
    format!(
        "{}void start(void) {{\n  int sum = 0;\n{}  say(\"called\\n\"); leave(sum & 63);\n}}\n",
        declared.collect::<String>(),
        called.collect::<String>()
    )
}

/// The DLL with its map, in an order if there is one.
fn link(tools: &Tools, folder: &Path, order: Option<&str>) -> LinkerMap {
    let dll = Image::new("big.dll", &library()).compile("-ffunction-sections");
    let dll = dll.compile("-g").compile("-gcodeview").link("/debug").link("/map:big.map");
    let dll = match order {
        Some(order) => {
            std::fs::write(folder.join("order.txt"), order).unwrap();
            dll.link("/order:@order.txt")
        }
        None => dll,
    };
    tools.build(folder, &dll.link("/dll").link("/noentry"));
    maps::read("big.map", &std::fs::read(folder.join("big.map")).unwrap()).unwrap()
}

fn trace(wine: &Wine, folder: &Path) -> FunctionTrace {
    let program = folder.join("p.exe");
    let (loader, command) = wine.beneath(&program);
    let variable = |(name, value): (&OsStr, Option<&OsStr>)| {
        (name.to_str().unwrap().to_owned(), value.map(OsStr::to_owned))
    };
    let command = Command {
        argv: vec!["wine64".into(), program.into()],
        program: loader,
        directory: None,
        environment: command.get_envs().map(variable).collect(),
    };
    let output = folder.join("output");
    let file = File::create(&output).unwrap();
    let request = FunctionRequest {
        until: RecordUntil::Launch(Until::Exit),
        first: None,
        count_limit: None,
        timeout: Duration::from_secs(60),
        cpu: Some(os::host::quiet_cpu()),
        stdio: Stdio::null().unwrap().with_output(file),
    };
    let recorded = os::trace::functions(&command, &request).unwrap();
    assert_eq!(std::fs::read_to_string(&output).unwrap(), "called\n");
    assert!(matches!(recorded.ending, Ending::Code(_)), "{:?}", recorded.ending);
    record::trace(recorded, &command)
}

fn module(trace: &FunctionTrace) -> ModuleId {
    let found = trace.modules.iter().position(|module| module.path.ends_with("/big.dll"));
    let id = ModuleId::at(found.unwrap());
    assert_eq!(trace.modules[id.index()].format, Format::Pe);
    id
}

/// First calls of the DLL.
fn calls(trace: &FunctionTrace) -> (Vec<Rva>, Vec<String>) {
    let id = module(trace);
    let calls = trace.calls.iter().filter(|call| call.module == id);
    calls.map(|call| (call.rva, call.name.clone())).unzip()
}

fn planned(subject: &Subject, trace: &FunctionTrace, linker: Linker) -> FunctionOrderPlan {
    let relinker = Relinker { linker, sections: &InputSections::usual([]) };
    plan::plan(subject, std::slice::from_ref(trace), Algorithm::FirstCall, &relinker)
}

fn order(map: &LinkerMap, trace: &FunctionTrace) -> (Subject, FunctionOrderPlan) {
    let path = trace.modules[module(trace).index()].path.clone();
    let subject = Subject::of_map(path, map).with_movable_statics();
    let plan = planned(&subject, trace, Linker::LldLink);
    (subject, plan)
}

#[test]
fn a_dll_that_is_linked_in_order_of_its_trace_is_called_in_order_of_address() {
    let (Some(tools), Some(wine)) = (Tools::find(), Wine::shared()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let map = link(&tools, folder, None);
    tools.build(folder, &Image::new("p.exe", &program()).speaking().against("big.dll"));
    let before = trace(&wine, folder);
    let (addresses, names) = calls(&before);
    assert_eq!(names.len(), KINDS.len() * EACH, "every function, and each once");
    assert!(!addresses.is_sorted());
    let expected = scrambled(3).into_iter().flat_map(|number| {
        let hidden = format!("hidden{}", scrambled(1)[number]);
        [format!("shown{number}"), hidden, format!("inner{}", scrambled(2)[number])]
    });
    assert_eq!(names, expected.collect::<Vec<_>>());

    let (subject, plan) = order(&map, &before);
    let functions = summary::ordered_functions(&subject, &plan.order);
    let file = write::write(Linker::LldLink, &functions, None);
    assert_eq!((file.functions, file.left_out.len()), (KINDS.len() * EACH, 0));
    assert_eq!(file.text.lines().collect::<Vec<_>>(), names);
    let map = link(&tools, folder, Some(&file.text));
    let after = trace(&wine, folder);
    let (addresses, same) = calls(&after);
    assert_eq!(same, names);
    assert!(addresses.is_sorted_by(|one, next| one < next), "{addresses:?}");
    for (rva, name) in addresses.iter().zip(&names) {
        assert_eq!(&map.at_rva(*rva).functions().next().unwrap().name, name);
    }
}

#[test]
fn openoffices_own_pipeline_makes_the_same_order() {
    let (Some(tools), Some(wine)) = (Tools::find(), Wine::shared()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let map = link(&tools, folder, None);
    tools.build(folder, &Image::new("p.exe", &program()).speaking().against("big.dll"));
    let trace = trace(&wine, folder);
    assert_eq!(native::read("trace", &native::write(&trace)).unwrap(), trace);
    // The trace of the DLL, and that of all modules, Wine's own among them.
    let whole = openoffice::write(&trace);
    let one = openoffice::write_module(&trace, module(&trace));
    for written in [&whole, &one] {
        let read = openoffice::read("trace.log", written).unwrap();
        assert!(read.notes.is_empty(), "{:?}", read.notes);
        assert_eq!(&openoffice::write(&read), written);
    }
    let read = openoffice::read("trace.log", &one).unwrap();
    let text = |trace: &FunctionTrace| {
        let (subject, plan) = order(&map, trace);
        let functions = summary::ordered_functions(&subject, &plan.order);
        write::write(Linker::LldLink, &functions, None).text
    };
    assert_eq!(text(&read), text(&trace));
    // Microsoft's linker moves what is not static only, and says so.
    let path = read.modules[0].path.clone();
    let subject = Subject::of_map(path, &map);
    let plan = planned(&subject, &read, Linker::Msvc);
    let functions = summary::ordered_functions(&subject, &plan.order);
    let file = write::write(Linker::Msvc, &functions, None);
    assert_eq!((file.functions, file.left_out.len()), (2 * EACH, 0));
    assert!(!file.text.contains("hidden"));
    let statics = write::statics(&subject, &plan.matched);
    assert_eq!(statics.len(), EACH);
    let is_static = |left: &write::UnlistedFunction| {
        left.reason == UnlistedReason::Static && left.name.starts_with("hidden")
    };
    assert!(statics.iter().all(is_static));
}
