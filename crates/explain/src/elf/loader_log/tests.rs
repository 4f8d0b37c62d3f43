//! Tests of reading loader logs.

use super::*;
use crate::elf::test_logs::log;

fn module<'a>(run: &'a Run, base: &str) -> &'a LoggedModule {
    let has = |module: &&LoggedModule| {
        module.path.as_deref().is_some_and(|path| crate::names::base_name(path) == base)
    };
    run.modules.iter().find(has).unwrap_or_else(|| panic!("no {base}"))
}

fn sum(run: &Run, time: impl Fn(&LoggedModule) -> Option<i64>) -> i64 {
    run.modules.iter().filter(|module| !module.late).filter_map(time).sum()
}

#[test]
fn a_small_program_in_full() {
    let runs = runs(&log("true"));
    let [run] = &runs[..] else { panic!("{} runs", runs.len()) };
    assert_eq!(run.program, "true");
    assert_eq!(run.loader(), Some("/lib64/ld-linux-x86-64.so.2"));
    let names: Vec<&str> = run.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["libc.so.6", "true", "/lib64/ld-linux-x86-64.so.2"]);
    let libc = module(run, "libc.so.6");
    assert_eq!(libc.path.as_deref(), Some("/lib/x86_64-linux-gnu/libc.so.6"));
    assert_eq!(libc.misses, Some(0));
    assert!(libc.map.is_some() && libc.relocate.is_some() && libc.init.is_some());
    let (Some(mapped), Some(relocated), Some(main)) = (run.mapped, run.relocated, run.main) else {
        panic!("{run:?}")
    };
    // Every instant between the first line and main belongs to a module or to the checks.
    assert_eq!(sum(run, |module| module.map), mapped - run.first);
    assert_eq!(sum(run, |module| module.relocate), relocated - mapped - run.checking);
    assert_eq!(sum(run, |module| module.init), main - relocated);
}

#[test]
fn a_large_program_is_attributed_without_gaps() {
    let runs = runs(&log("inkscape"));
    let [run] = &runs[..] else { panic!("{} runs", runs.len()) };
    let text = std::fs::read_to_string(crate::elf::test_logs::path("inkscape")).unwrap();
    let lines = |what: &str| text.lines().filter(|line| line.contains(what)).count();
    let early = |m: &&LoggedModule| !m.late;
    let mapped = run.modules.iter().filter(early).filter(|module| module.map.is_some()).count();
    assert_eq!(mapped, lines("generating link map"));
    let tried: u64 = run.modules.iter().filter_map(|module| module.misses).sum();
    assert_eq!(tried as usize, lines("trying file=") - lines("generating link map"));
    assert_eq!(run.misses.values().sum::<u64>(), tried);
    let relocated = run.modules.iter().filter(|module| module.relocate.is_some()).count();
    assert_eq!(relocated, lines("relocation processing"));
    assert_eq!(sum(run, |module| module.map), run.mapped.unwrap() - run.first);
    let relocating = run.relocated.unwrap() - run.mapped.unwrap();
    assert_eq!(sum(run, |module| module.relocate), relocating - run.checking);
    assert_eq!(sum(run, |module| module.init), run.main.unwrap() - run.relocated.unwrap());
}

#[test]
fn a_chain_of_images_gives_one_run_each() {
    let runs = runs(&log("soffice"));
    let programs: Vec<&str> =
        runs.iter().map(|run| crate::names::base_name(&run.program)).collect();
    let expected =
        ["sh", "dirname", "basename", "sed", "ls", "dirname", "grep", "uname", "oosplash"];
    assert_eq!(programs[..9], expected, "{programs:?}");
    assert_eq!(programs.last(), Some(&"soffice.bin"));
    // The shell and oosplash are one process: execve without fork.
    assert_eq!(runs[0].pid, runs[8].pid);
    let office = runs.last().unwrap();
    let plugin = module(office, "libgcc3_uno.so");
    assert!(plugin.late && plugin.relocate.is_some() && plugin.init.is_some());
    assert!(module(office, "libuno_sal.so.3").misses >= Some(7));
    assert!(runs.iter().all(|run| run.main.is_some()));
}

#[test]
fn modules_loaded_by_dlopen_are_late() {
    let runs = runs(&log("python"));
    let late: Vec<&str> = runs[0]
        .modules
        .iter()
        .filter(|m| m.late)
        .map(|m| crate::names::base_name(&m.name))
        .collect();
    assert_eq!(late, ["_ctypes.cpython-311-x86_64-linux-gnu.so", "libffi.so.8"]);
    // Main goes on after dlopen: its time is nobody's.
    let total: i64 = runs[0].modules.iter().filter(|m| m.late).filter_map(|m| m.init).sum();
    assert!(total < 5_000_000, "{total}");
}

/// The one run of a log with a line each microsecond.
fn only_run(text: &[&str]) -> Run {
    let lines = text.iter().enumerate().map(|(i, text)| model::LoaderLine {
        pid: 7,
        at_us: i as f64,
        text: (*text).to_owned(),
    });
    let log = LoaderLog { total_us: 30.0, pid: 7, lines: lines.collect() };
    let mut runs = runs(&log);
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

#[test]
fn a_dlopen_inside_an_initializer_interrupts_it() {
    let text = [
        "file=liba.so [0];  needed by p [0]",
        "find library=liba.so [0]; searching",
        "trying file=/x/liba.so",
        "trying file=/y/liba.so",
        "file=liba.so [0];  generating link map",
        "dynamic: 0x1  base: 0x1   size: 0x1",
        "relocation processing: /y/liba.so",
        "relocation processing: p",
        "calling init: /y/liba.so",
        "file=/z/b.so [0];  dynamically loaded by /y/liba.so [0]",
        "file=/z/b.so [0];  generating link map",
        "dynamic: 0x1  base: 0x1   size: 0x1",
        "relocation processing: /z/b.so",
        "calling init: /z/b.so",
        "opening file=/z/b.so [0]; direct_opencount=1",
        "opening file=/z/b.so [0]; direct_opencount=2",
        "file=/none.so [0];  dynamically loaded by /y/liba.so [0]",
        "initialize program: p",
        "transferring control: p",
        "file=/none.so [0];  dynamically loaded by p [0]",
        "calling fini:  [0]",
    ];
    let run = &only_run(&text);
    // liba: init from 8 to 9 and, after the inner one, from 14 to 17.
    assert_eq!(module(run, "liba.so").init, Some(4_000));
    assert_eq!(module(run, "liba.so").misses, Some(1));
    assert_eq!(run.misses, BTreeMap::from([("/x".to_owned(), 1)]));
    let inner = module(run, "b.so");
    assert_eq!((inner.map, inner.relocate, inner.init), (Some(3_000), Some(1_000), Some(1_000)));
    assert!(inner.late);
    assert_eq!(run.checking, 1_000);
    assert!(run.modules.iter().all(|module| module.name != "/none.so"));
    assert_eq!(run.finalizing, Some(20_000));
}

#[test]
fn a_library_bound_to_the_plug_in_that_needs_it_is_mapped_once() {
    // As numpy's: the library that it needs is bound to something in the plug-in.
    let text = [
        "file=libc.so.6 [0];  needed by p [0]",
        "file=libc.so.6 [0];  generating link map",
        "dynamic: 0x1  base: 0x1   size: 0x1",
        "relocation processing: libc.so.6",
        "calling init: libc.so.6",
        "transferring control: p",
        "file=/z/b.so [0];  dynamically loaded by p [0]",
        "file=/z/b.so [0];  generating link map",
        "dynamic: 0x1  base: 0x1   size: 0x1",
        "file=liba.so [0];  needed by /z/b.so [0]",
        "find library=liba.so [0]; searching",
        "trying file=/y/liba.so",
        "file=liba.so [0];  generating link map",
        "dynamic: 0x1  base: 0x1   size: 0x1",
        "relocation processing: /y/liba.so",
        "file=/z/b.so [0];  needed by /y/liba.so [0] (relocation dependency)",
        "relocation processing: /z/b.so",
        "calling init: /y/liba.so",
        "calling init: /z/b.so",
        "opening file=/z/b.so [0]; direct_opencount=1",
        "",
        "calling fini:  [0]",
    ];
    let run = &only_run(&text);
    let late: Vec<&LoggedModule> = run.modules.iter().filter(|module| module.late).collect();
    let times = |module: &LoggedModule| (module.map, module.relocate, module.init);
    let [plugin, library] = late[..] else { panic!("{late:?}") };
    assert_eq!(times(plugin), (Some(3_000), Some(1_000), Some(1_000)));
    assert_eq!(times(library), (Some(5_000), Some(2_000), Some(1_000)));
}

#[test]
fn a_name_with_origin_is_the_file_that_it_leads_to() {
    let text = [
        "file=libc.so.6 [0];  needed by p [0]",
        "file=libc.so.6 [0];  generating link map",
        "dynamic: 0x1  base: 0x1   size: 0x1",
        "relocation processing: libc.so.6",
        "calling init: libc.so.6",
        "transferring control: p",
        "file=$ORIGIN/lib-1/b.so [0];  dynamically loaded by p [0]",
        "file=$ORIGIN/lib-1/b.so [0];  generating link map",
        "dynamic: 0x1  base: 0x1   size: 0x1",
        "relocation processing: /z/lib-1/b.so",
        "calling init: /z/lib-1/b.so",
        "opening file=/z/lib-1/b.so [0]; direct_opencount=1",
        "",
        "calling fini:  [0]",
    ];
    let run = &only_run(&text);
    let late: Vec<&LoggedModule> = run.modules.iter().filter(|module| module.late).collect();
    let [plugin] = late[..] else { panic!("{late:?}") };
    assert_eq!(plugin.path.as_deref(), Some("/z/lib-1/b.so"));
    let times = (plugin.map, plugin.relocate, plugin.init);
    assert_eq!(times, (Some(3_000), Some(1_000), Some(1_000)));
}

#[test]
fn a_program_that_changes_its_name_before_it_starts_is_one_module() {
    // A bundle takes its original's name.
    let text = [
        "file=libc.so.6 [0];  needed by fast/run [0]",
        "find library=libc.so.6 [0]; searching",
        "  trying file=/lib/libc.so.6",
        "file=libc.so.6 [0];  generating link map",
        "dynamic: 0x1  base: 0x1   size: 0x1",
        "relocation processing: /lib/libc.so.6",
        "relocation processing: fast/run",
        "calling init: /lib/libc.so.6",
        "initialize program: /usr/bin/git",
        "transferring control: /usr/bin/git",
        "calling fini:  [0]",
    ];
    let run = &only_run(&text);
    assert_eq!(run.program, "fast/run");
    let names: Vec<&str> = run.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["libc.so.6", "fast/run"]);
    // Its libraries are initialized before it says that it begins.
    assert_eq!((run.modules[0].init, run.modules[1].init), (None, Some(2_000)));
    assert!(run.modules[1].path.is_none());
    assert_eq!(run.finalizing, Some(10_000));
}

#[test]
fn a_bundle_that_starts_its_original_is_another_image() {
    let runs = runs(&log("stale"));
    let [bundle, original] = &runs[..] else { panic!("{} runs", runs.len()) };
    assert_eq!(bundle.program, "git/run");
    assert_eq!(original.program, "/usr/bin/git");
    assert!(bundle.main.is_none() && original.main.is_some());
    // What it was preloaded with is the bundle's, what the original needs is not.
    let names = |run: &Run| -> Vec<String> {
        run.modules.iter().map(|module| module.name.clone()).collect()
    };
    assert!(!names(bundle).contains(&"libpcre2-8.so.0".to_owned()), "{:?}", names(bundle));
    assert!(names(original).contains(&"libpcre2-8.so.0".to_owned()), "{:?}", names(original));
    assert!(!names(original).contains(&"git/run".to_owned()), "{:?}", names(original));
}

#[test]
fn a_bundle_that_runs_is_one_image() {
    let runs = runs(&log("bundle"));
    let [run] = &runs[..] else { panic!("{} runs", runs.len()) };
    assert_eq!(run.program, "git/run");
    assert!(run.main.is_some());
}
