//! `headstart explain --hot` as a command.
#![allow(clippy::unwrap_used)]

mod common;

use common::{confined, run, stderr, stdout};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Computes for 50 ms of processor time, nearly all of it in the loop of `burn`.
const BURN: &str = r#"
#include <time.h>
volatile unsigned long sum;
__attribute__((noinline)) static void burn(void) {
    for (unsigned long i = 0; i < 1000000; i++) sum += i;
}
int main(void) {
    struct timespec now;
    do { burn(); clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now); }
    while (now.tv_sec == 0 && now.tv_nsec < 50000000);
    return 0;
}"#;

fn burn(folder: &Path, flags: &[&str]) -> Option<PathBuf> {
    let cc = testkit::tool("cc")?;
    let flags = [&["-O1"], flags].concat();
    Some(testkit::compile(&cc, folder, "burn", BURN, &flags))
}

/// The object `hot`; `None`, said loudly, where this machine refuses perf events.
fn hot(command: &[&str]) -> Option<Value> {
    let output = run(&[&["explain", "--hot", "-r", "1", "--json", "--"], command].concat());
    assert!(output.status.success(), "{command:?}: {}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let hot = found["hot"].clone();
    if let Some(reason) = hot["unavailable"].as_str() {
        testkit::skip(reason);
        return None;
    }
    let functions = hot["functions"].as_array().unwrap();
    let samples: u64 = functions.iter().map(|f| f["samples"].as_u64().unwrap()).sum();
    assert_eq!(samples, hot["samples"].as_u64().unwrap());
    let shares: f64 = functions.iter().map(|f| f["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{shares}");
    Some(hot)
}

/// Address, length, samples and text of the hottest function's instructions.
fn instructions(hot: &Value) -> Vec<(u64, u64, u64, &str)> {
    let all = hot["hottest"]["instructions"].as_array().unwrap().iter();
    let number = |value: &Value| value.as_u64().unwrap();
    let fields =
        |i: &'_ Value| (number(&i["address"]), number(&i["length"]), number(&i["samples"]));
    all.map(|i| {
        let (address, length, samples) = fields(i);
        (address, length, samples, i["text"].as_str().unwrap())
    })
    .collect()
}

/// At least 80 % of the samples are in `function` of `program`, and most of those in its loop.
fn check(hot: &Value, program: &Path, function: &str) {
    let first = &hot["functions"][0];
    assert_eq!(first["function"], function, "{first}");
    assert_eq!(first["module"].as_str().unwrap(), program.to_str().unwrap());
    assert!(first["share"].as_f64().unwrap() >= 0.8, "{first}");
    assert_eq!(
        (&hot["hottest"]["function"], &hot["hottest"]["module"]),
        (&first["function"], &first["module"])
    );
    let instructions = instructions(hot);
    let within = |from: u64, to: u64| -> u64 {
        let inside = instructions.iter().filter(|(address, ..)| (from..=to).contains(address));
        inside.map(|(_, _, samples, _)| samples).sum()
    };
    assert_eq!(within(0, u64::MAX), first["samples"].as_u64().unwrap());
    // The loop is what a jump backwards closes.
    let closed = instructions.iter().find_map(|(address, _, _, text)| {
        let target = text.strip_prefix('j')?.split_once("0x")?.1;
        let target = u64::from_str_radix(target, 16).ok()?;
        (target < *address).then_some((target, *address))
    });
    let (from, to) = closed.unwrap_or_else(|| panic!("{instructions:?}"));
    assert!(within(from, to) as f64 > 0.9 * within(0, u64::MAX) as f64, "{instructions:?}");
}

#[test]
fn the_hot_function_and_its_loop_are_found() {
    let folder = tempfile::tempdir().unwrap();
    for flags in [&["-fPIE", "-pie"][..], &["-fno-pie", "-no-pie"], &["-static"]] {
        let Some(program) = burn(folder.path(), flags) else { return };
        let Some(hot) = hot(&[program.to_str().unwrap()]) else { return };
        check(&hot, &program, "burn");
    }
}

#[test]
fn in_a_stripped_program_it_is_known_by_its_address() {
    let folder = tempfile::tempdir().unwrap();
    let Some(readelf) = testkit::tool("readelf") else { return };
    let Some(whole) = burn(folder.path(), &["-fPIE", "-pie"]) else { return };
    let symbols = std::process::Command::new(readelf).arg("-sW").arg(&whole).output().unwrap();
    let symbols = stdout(&symbols);
    let line = symbols.lines().find(|line| line.ends_with(" burn")).unwrap();
    let address = line.split_whitespace().nth(1).unwrap().trim_start_matches('0');
    let Some(program) = burn(folder.path(), &["-fPIE", "-pie", "-s"]) else { return };
    let Some(hot) = hot(&[program.to_str().unwrap()]) else { return };
    check(&hot, &program, &format!("burn+0x{address}"));
}

#[test]
fn names_of_rust_are_as_written() {
    let itself = env!("CARGO_BIN_EXE_headstart");
    let Some(hot) = hot(&[itself, "inspect", itself]) else { return };
    let functions = hot["functions"].as_array().unwrap();
    let names = || functions.iter().map(|function| function["function"].as_str().unwrap());
    assert!(names().any(|name| name.contains("object::") || name.contains("core::")));
    let mangled: Vec<&str> =
        names().filter(|name| name.starts_with("_ZN") || name.starts_with("_R")).collect();
    assert!(mangled.is_empty(), "{mangled:?}");
}

#[test]
fn a_short_program_is_launched_repeatedly() {
    let Some(hot) = hot(&["true"]) else { return };
    assert!(hot["launches"].as_u64().unwrap() > 1, "{hot}");
    assert!(hot["samples"].as_u64().unwrap() >= 200, "{hot}");
    let module = hot["hottest"]["module"].as_str().unwrap();
    assert!(module.starts_with('/'), "{module}");
}

#[test]
fn the_view_ends_in_the_instructions() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = burn(folder.path(), &[]) else { return };
    let output = run(&["explain", "--hot", "-r", "1", program.to_str().unwrap()]);
    let text = stdout(&output);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let (_, text) = text.split_once("\nHot functions\n").unwrap();
    if text.contains("unavailable:") {
        return testkit::skip(text);
    }
    let (functions, listing) = text.split_once("\nHottest: burn\n").unwrap();
    assert!(functions.contains(" burn "), "{functions}");
    assert!(listing.contains("add ") && listing.contains(" %"), "{listing}");
}

#[test]
fn where_perf_is_refused_the_rest_is_explained() {
    let Some(confined) = confined("SYS_perf_event_open") else { return };
    let run = |arguments: &[&str]| stdout(&confined(arguments));
    let found = run(&["explain", "--hot", "-r", "1", "--json", "true"]);
    let found: Value = serde_json::from_str(&found).unwrap();
    let reason = found["hot"]["unavailable"].as_str().unwrap();
    assert!(reason.contains("PERFMON") || reason.contains("sysctl"), "{reason}");
    assert!(found["total_us"].as_f64().unwrap() > 0.0);
    let text = run(&["explain", "--hot", "-r", "1", "true"]);
    let (_, text) = text.split_once("\nHot functions\n").unwrap();
    assert!(text.contains("unavailable: sampling with perf events"), "{text}");
}

#[test]
fn an_ordinary_user_sees_user_mode() {
    let Some(setpriv) = testkit::tool("setpriv") else { return };
    let folder = tempfile::tempdir().unwrap();
    // The build may be in a folder that nobody may enter.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let copy = folder.path().join("headstart");
    std::fs::copy(env!("CARGO_BIN_EXE_headstart"), &copy).unwrap();
    let mut command = std::process::Command::new(setpriv);
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&copy);
    command.args(["explain", "--hot", "-r", "1", "--json", "true"]).current_dir("/");
    let output = command.output().unwrap();
    if !output.status.success() && stderr(&output).starts_with("setpriv:") {
        return testkit::skip(&stderr(&output));
    }
    assert!(output.status.success(), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    if let Some(reason) = found["hot"]["unavailable"].as_str() {
        return testkit::skip(reason);
    }
    let hot = &found["hot"];
    assert!(hot["samples"].as_u64().unwrap() > 0);
    let notes = hot["notes"].as_array().cloned().unwrap_or_default();
    let blind = notes.iter().any(|note| note.as_str().unwrap().contains("not seen"));
    let functions = hot["functions"].as_array().unwrap();
    let in_kernel = functions.iter().any(|function| function["kernel"] == true);
    assert!(blind != in_kernel, "{hot}");
}

#[test]
fn without_the_option_nothing_is_sampled() {
    let found = common::json(&["explain", "-r", "1", "--json", "true"]);
    assert!(found.get("hot").is_none());
}
