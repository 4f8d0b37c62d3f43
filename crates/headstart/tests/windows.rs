//! Launches by headstart.exe. Under Wine they need no Windows:
//! `CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine64 cargo test --target x86_64-pc-windows-gnu`.
#![cfg(windows)]
#![allow(clippy::unwrap_used)] // Here a panic is a failed test.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

/// Runs headstart, which keeps its runs in `folder` and works there, and ends with this exit code.
/// Wine 8.0 ends one launch in thousands itself: then it is done again.
fn headstart(folder: &Path, arguments: &[&str], code: i32) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headstart"));
    command.args(arguments).env("LOCALAPPDATA", folder).current_dir(folder);
    let mut output = command.output().unwrap();
    for _ in 0..2 {
        if output.status.code() == Some(code) {
            break;
        }
        output = command.output().unwrap();
    }
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", text(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\r', "")
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = headstart(folder, arguments, 0);
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A program that ends by itself, as a line.
fn version() -> String {
    format!("{} --version", env!("CARGO_BIN_EXE_headstart"))
}

#[test]
fn the_same_program_is_compared_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    let line = version();
    let arguments =
        ["compare", "--json", "-r", "10", "-w", "1", "-n", "a", "-n", "b", &line, &line];
    let found = json(folder.path(), &arguments);
    let variants = found["variants"].as_array().unwrap();
    assert_eq!(variants.len(), 2);
    for variant in variants {
        assert_eq!((&variant["runs"], &variant["left_running"]), (&10.into(), &0.into()));
        assert!(variant["min_us"].as_f64().unwrap() > 0.0);
        for counter in ["minor_faults", "major_faults", "read_bytes", "private_kib"] {
            assert!(variant[counter]["unavailable"].is_string(), "{counter}");
        }
    }
    assert_eq!(found["effects"].as_array().unwrap().len(), 1);
    assert!(found["run"].as_str().unwrap().starts_with(&*folder.path().to_string_lossy()));
}

#[test]
fn a_kept_run_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let line = version();
    let measure =
        |arguments: &[&str]| json(folder.path(), &[&["measure", "--json"], arguments].concat());
    measure(&["-i", "-r", "2", "-w", "1", "--save", "run", &line]);
    let longer = measure(&["-r", "4", "--resume", "run"]);
    assert_eq!(longer["variants"][0]["runs"], 4);
    let lines = std::fs::read_to_string(folder.path().join("run/launches.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 5);
}

#[test]
fn what_fails_says_so_with_its_exit_code() {
    let folder = tempfile::tempdir().unwrap();
    let quiet = ["measure", "-r", "2", "-w", "0"];
    // Launches of launches: a job within a job.
    let own = env!("CARGO_BIN_EXE_headstart");
    let endless = ["--timeout", "1s", own, "measure", "-r", "1000000", "cmd", "/c", "exit"];
    for (arguments, code, words) in [
        (&["cmd", "/c", "exit 70000"][..], 4, "ended with exit code 70000"),
        (&["cmd", "/c", "exit -1073741515"], 4, "status c0000135 (a DLL was not found)"),
        (&endless, 5, "did not finish within 1 s"),
        (&["no-such-program-x"], 3, "no program named 'no-such-program-x'"),
        (&["--cold", "cmd", "/c", "exit"], 7, "headstart for Windows has no cold launches"),
        (&["--until", "output:x", "cmd", "/c", "exit 3"], 4, "exit code 3 before it was ready"),
    ] {
        let output = headstart(folder.path(), &[&quiet[..], arguments].concat(), code);
        let told = text(&output.stderr);
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
}

#[test]
fn programs_are_watched_until_they_are_ready() {
    let folder = tempfile::tempdir().unwrap();
    for until in ["output:headstart", "entry"] {
        let arguments = ["measure", "--json", "-r", "2", "-w", "0", "--until", until, &version()];
        let found = json(folder.path(), &arguments);
        assert_eq!(found["variants"][0]["endings"][0]["ending"], "ready", "{until}");
    }
}

#[test]
fn lines_that_need_a_shell_are_run_by_cmd() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["compare", "-r", "1", "-w", "0", "--output", r".\said", "echo one& echo two"];
    let output = headstart(folder.path(), &arguments, 0);
    assert!(text(&output.stderr).contains("cmd runs"), "{}", text(&output.stderr));
    let said = std::fs::read(folder.path().join("said")).unwrap();
    assert_eq!(text(&said), "one\ntwo\n");
}

#[test]
fn sizes_of_generated_images_are_launched_and_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let scale =
        |arguments: &[&str]| json(folder.path(), &[&["scale", "--json"], arguments].concat());
    let small = ["dawson", "--sources", "1", "--classes", "2", "--functions", "0,10,20,40"];
    let found = scale(&[&small[..], &["--runs", "5", "--save", "run"]].concat());
    assert!(found["workload"].as_str().unwrap().starts_with("dawson --sources 1 --classes 2, PE"));
    let again = scale(&["--resume", "run", "--runs", "6"]);
    let points = again["points"].as_array().unwrap();
    let sizes: Vec<u64> = points.iter().map(|point| point["n"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [0, 10, 20, 40]);
    assert!(points.iter().all(|point| point["samples"] == 6), "{again}");
    assert!(folder.path().join(r"run\workloads\functions-40\Dawson.exe").is_file());
    // What nobody asked for does not stay.
    let found =
        scale(&["pietrek", "--functions", "2", "--globals", "1", "--dlls", "0,1,2,3", "-r", "5"]);
    assert!(!Path::new(found["run"].as_str().unwrap()).join("workloads").exists());
    assert_eq!(found["parameter"], "libraries");
}

#[test]
fn what_cannot_grow_on_windows_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (&["scale", "shape", "star"][..], "as PE images there are pietrek and dawson"),
        (&["scale", "dawson", "--count", "syscalls"], "work cannot be counted here"),
    ] {
        let told = text(&headstart(folder.path(), arguments, 2).stderr);
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
    let runs = folder.path().join(r"headstart\runs");
    assert!(!runs.exists() || std::fs::read_dir(runs).unwrap().next().is_none());
}

fn notes(found: &Value) -> String {
    let notes = found["notes"].as_array().unwrap().iter();
    notes.map(|note| note.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

/// Whether this Windows is Wine, by what headstart says of the machine.
fn is_wine(folder: &Path, run: &str) -> bool {
    let experiment = std::fs::read(folder.join(run).join("experiment.json")).unwrap();
    let experiment: Value = serde_json::from_slice(&experiment).unwrap();
    experiment["machine"]["kernel"].as_str().unwrap().starts_with("Wine ")
}

#[test]
fn pietreks_table_has_bound_rows() {
    let folder = tempfile::tempdir().unwrap();
    let small = ["--dlls", "2", "--functions", "5", "--globals", "2", "--runs", "3"];
    let more = [&["experiment", "pietrek", "--json", "--save", "kept"][..], &small].concat();
    let found = json(folder.path(), &more);
    let rows = found["rows"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    let column = ["default", "based", "bound"];
    assert_eq!(names[..3], column);
    assert_eq!(names[3..6], column.map(|name| format!("{name}, by ordinal")));
    assert_eq!(names[6..], ["based, zero hints", "based, page-aligned", "no libraries"]);
    let columns = found["columns"].as_array().unwrap();
    assert_eq!((columns.len(), &columns[0]["cache"]), (1, &"warm".into()));
    for cell in columns[0]["cells"].as_array().unwrap() {
        assert!(cell["fastest_us"].as_f64().unwrap() > 0.0, "{cell}");
    }
    let notes = notes(&found);
    let wine = is_wine(folder.path(), r"kept\warm");
    for words in ["times of Wine's loader", "Wine ignores bound imports"] {
        assert_eq!(notes.contains(words), wine, "{notes}");
    }
    assert!(notes.contains("All launches are warm"), "{notes}");
    assert_eq!(found["published"]["rows"].as_array().unwrap().len(), 6);
    for file in ["pietrek.json", "table.md", "table.csv", "warm.svg"] {
        assert!(folder.path().join("kept").join(file).is_file(), "{file}");
    }
}

#[test]
fn the_creation_of_dawsons_programs_is_timed_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["experiment", "dawson", "--json", "--runs", "5", "--save", "kept"];
    let found = json(folder.path(), &arguments);
    assert_eq!(found["published"]["law"], "quadratic");
    let all = found["points"].as_array().unwrap();
    let created = found["created"]["points"].as_array().unwrap();
    assert_eq!((all.len(), created.len()), (17, 17));
    for (point, created) in all.iter().zip(created) {
        assert_eq!((&point["n"], &point["samples"]), (&created["n"], &created["samples"]));
        assert!(created["median_us"].as_f64().unwrap() < point["median_us"].as_f64().unwrap());
    }
    assert_eq!(notes(&found).contains("law of Windows"), is_wine(folder.path(), "kept"));
    for name in
        ["plain", "root", "log"].map(|name| [format!("{name}.svg"), format!("created-{name}.svg")])
    {
        assert!(name.iter().all(|name| folder.path().join("kept").join(name).is_file()));
    }
    assert!(!folder.path().join(r"kept\workloads").exists());
}

#[test]
fn experiments_for_linux_say_so() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, words) in [
        (&["pagein", "--", "x"][..], "does not have 'experiment pagein'"),
        (&["openoffice", "--help"], "does not have 'experiment openoffice'"),
        (&["pietrek", "--format", "elf"], "cannot be launched on Windows"),
        (&["dawson", "--format", "elf"], "cannot be launched on Windows"),
    ] {
        let told =
            text(&headstart(folder.path(), &[&["experiment"], arguments].concat(), 2).stderr);
        assert!(told.contains(words), "{arguments:?}: {told}");
    }
    let help = text(&headstart(folder.path(), &["experiment", "--help"], 0).stdout);
    assert!(help.contains("dawson") && !help.contains("pagein"), "{help}");
}

#[test]
fn doctor_says_what_wine_only_imitates() {
    let folder = tempfile::tempdir().unwrap();
    let checks = json(folder.path(), &["doctor", "--json"]);
    let checks = checks.as_array().unwrap();
    let check = |id: &str| checks.iter().find(|check| check["id"] == id).unwrap();
    let wine = check("system")["found"].as_str().unwrap().starts_with("Wine ");
    assert_eq!(check("system")["state"], if wine { "note" } else { "good" });
    for id in ["power", "realtime"] {
        assert!(!wine || check(id)["state"] == "unknown", "{}", check(id));
    }
    assert_eq!(check("temp-folder")["state"], "good");
    let mut gone = Command::new(env!("CARGO_BIN_EXE_headstart"));
    gone.args(["doctor", "--strict"]).env("TMP", folder.path().join("gone"));
    let output = gone.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("temp-folder"), "{}", text(&output.stdout));
}

#[test]
fn every_dll_of_a_launch_is_explained_in_the_order_of_loading() {
    let folder = tempfile::tempdir().unwrap();
    let generate = ["generate", "pietrek", "--format", "pe", "--dlls", "30", "--out", "dlls"];
    headstart(folder.path(), &generate, 0);
    let program = r"dlls\LoadTimeTest.exe";
    let found = json(folder.path(), &["explain", "--json", "-r", "2", "--save", "run", program]);
    let us = |value: &Value| value.as_f64().unwrap();
    let sum: f64 = found["phases"].as_array().unwrap().iter().map(|phase| us(&phase["us"])).sum();
    assert!((sum - us(&found["total_us"])).abs() < 0.01, "{found}");
    assert_eq!(found["total_us"], found["untraced_median_us"]);
    let phase = |name: &str| {
        let mut phases = found["phases"].as_array().unwrap().iter();
        phases.find(|phase| phase["phase"] == name).map_or(0.0, |phase| us(&phase["us"]))
    };
    // If stops take long, the other phases may be shorter than one stop and then read as 0.
    for name in ["spawn", "load"] {
        assert!(phase(name) > 0.0, "{name}: {found}");
    }
    let process = found["processes"][0]["phases"].as_array().unwrap();
    let all: Vec<&str> = process.iter().map(|phase| phase["phase"].as_str().unwrap()).collect();
    assert_eq!(all, ["spawn", "load", "initialise", "main", "exit"]);
    assert_eq!(phase("unattributed"), 0.0);
    let modules = found["modules"].as_array().unwrap();
    let names = modules
        .iter()
        .map(|module| module["path"].as_str().unwrap().rsplit('\\').next().unwrap().to_owned());
    let names: Vec<String> = names.collect();
    assert_eq!(names[..2], ["LoadTimeTest.exe", "ntdll.dll"]);
    let own: Vec<&String> = names.iter().filter(|name| name.starts_with("LoadTimeDLL_")).collect();
    let expected: Vec<String> = (1..=30).map(|n| format!("LoadTimeDLL_{n}.dll")).collect();
    assert_eq!(own, expected.iter().collect::<Vec<_>>());
    let loaded: Vec<f64> = modules.iter().map(|module| us(&module["pe"]["loaded_us"])).collect();
    assert!(loaded.is_sorted());
    let findings = found["findings"].as_array().unwrap();
    let ids: Vec<&str> = findings.iter().map(|it| it["id"].as_str().unwrap()).collect();
    // All have the same preferred base, and Wine has no ASLR.
    assert!(ids.contains(&"libraries") && ids.contains(&"collisions"), "{ids:?}");
    assert!(folder.path().join("run/explanation.json").is_file());
    let shown = headstart(folder.path(), &["explain", "-r", "1", "--all", program], 0);
    let shown = text(&shown.stdout);
    assert!(shown.contains("LoadTimeDLL_30.dll") && shown.contains("debug API"), "{shown}");
}

#[test]
fn children_are_explained_and_debuggers_are_not_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let own = env!("CARGO_BIN_EXE_headstart");
    let child = [own, "measure", "-r", "1", "-w", "0", "--no-pin", "cmd", "/c", "exit"];
    let found = json(folder.path(), &[&["explain", "--json", "-r", "1"][..], &child].concat());
    let processes = found["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 2, "{processes:?}");
    assert!(processes[1]["path"].as_str().unwrap().ends_with("cmd.exe"));
    assert_eq!(processes[1]["argv"].as_array().unwrap().last().unwrap(), "exit");
    let charged: f64 = processes.iter().map(|it| it["charged_us"].as_f64().unwrap()).sum();
    assert!((charged - found["total_us"].as_f64().unwrap()).abs() < 0.01);
}

#[test]
fn a_dll_that_is_missing_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let generate = ["generate", "pietrek", "--format", "pe", "--dlls", "3", "--out", "dlls"];
    headstart(folder.path(), &generate, 0);
    std::fs::remove_file(folder.path().join(r"dlls\LoadTimeDLL_2.dll")).unwrap();
    for verb in ["measure", "explain"] {
        let output = headstart(folder.path(), &[verb, "-r", "2", r"dlls\LoadTimeTest.exe"], 4);
        let told = text(&output.stderr);
        assert!(told.contains("c0000135 (a DLL was not found)"), "{told}");
        assert!(told.contains("has LoadTimeDLL_2.dll (imported by LoadTimeTest.exe)"), "{told}");
        assert!(!told.contains("LoadTimeDLL_1") && !told.contains("LoadTimeDLL_3"), "{told}");
    }
}
