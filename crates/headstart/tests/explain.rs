//! `headstart explain` as a command.
#![allow(clippy::unwrap_used)]

mod common;

use common::{confined, headstart, is_running, json, run, stderr, stdout, wait_for};
use explain::ExplainAdvice;
use serde_json::Value;
use std::process::Stdio;

fn sum(found: &Value) -> f64 {
    let phases = found["phases"].as_array().unwrap().iter();
    phases.map(|phase| phase["us"].as_f64().unwrap()).sum()
}

#[test]
fn json_has_what_scripts_rely_on() {
    let found = json(&["explain", "--json", "--", "sh", "-c", "ls / > /dev/null; exit 0"]);
    let total = found["total_us"].as_f64().unwrap();
    assert!((sum(&found) - total).abs() < 1e-3, "{} of {total}", sum(&found));
    let module = &found["modules"][0];
    assert!(module["path"].as_str().unwrap().starts_with('/'));
    for figure in ["map_us", "relocate_us", "init_us"] {
        assert!(module[figure].is_number() || module[figure]["unavailable"].is_string());
    }
    let processes = found["processes"].as_array().unwrap();
    let has = |name: &str| processes.iter().any(|p| p["path"].as_str().unwrap().ends_with(name));
    assert!(has("/ls"), "{processes:?}");
    for finding in found["findings"].as_array().unwrap() {
        for text in ["id", "cause", "remedy"] {
            assert!(!finding[text].as_str().unwrap().is_empty(), "{finding}");
        }
        assert!(finding["evidence"].is_array());
        assert!(finding["cost_us"].is_number() || finding["cost_us"]["unavailable"].is_string());
    }
}

/// What the command says about a program that is no bundle.
fn words_on_a_program(advice: ExplainAdvice) -> String {
    let words = match advice {
        ExplainAdvice::SayWhenReady => "use --until to say when such a program is ready",
        ExplainAdvice::CompareCold => "compare headstart measure with headstart measure --cold",
        ExplainAdvice::CheckMachine => "headstart doctor says what keeps it busy",
        ExplainAdvice::Profile => "headstart explain --hot",
        other => panic!("{other:?}"),
    };
    words.to_owned()
}

#[test]
fn a_saved_run_can_be_explained_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let output = run(&["explain", "-r", "2", "--save", path.to_str().unwrap(), "true"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    let inputs: explain::Inputs = serde_json::from_str(&text("inputs.json")).unwrap();
    let saved: model::Explanation = serde_json::from_str(&text("explanation.json")).unwrap();
    assert_eq!(explain::explain(&inputs, words_on_a_program), saved);
    // A warm-up and two untraced launches before, between and after the traced ones.
    assert_eq!(text("launches.jsonl").lines().count(), 7);
    let again = run(&["explain", "--save", path.to_str().unwrap(), "true"]);
    assert_eq!(again.status.code(), Some(6));
    assert!(!stderr(&again).contains("--resume"), "{}", stderr(&again));
}

#[test]
fn the_view_fits_a_terminal() {
    let output = run(&["explain", "-r", "1", "sh", "-c", "exit 0"]);
    let text = stdout(&output);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // On a busy machine a single launch may be so long that nothing stands out.
    assert!(text.contains("What costs time") || text.contains("Nothing stands out"), "{text}");
    assert!(text.contains("Where the figures come from"), "{text}");
}

#[test]
fn until_entry_nothing_of_main_is_explained() {
    let program = ["explain", "--json", "-r", "2", "--until", "entry", "--", "sleep", "0.2153"];
    let found = json(&program);
    let phases = found["phases"].as_array().unwrap();
    // Where ptrace is refused the phases come from elsewhere.
    if !found["sources"][0]["mechanism"].as_str().unwrap().contains("ptrace") {
        return;
    }
    let names: Vec<&str> = phases.iter().filter_map(|p| p["phase"].as_str()).collect();
    assert!(!names.contains(&"main") && !names.contains(&"exit"), "{phases:?}");
    assert!(names.contains(&"relocate"), "{phases:?}");
    let ids: Vec<&str> =
        found["findings"].as_array().unwrap().iter().filter_map(|f| f["id"].as_str()).collect();
    assert!(!ids.contains(&"own-code"), "{ids:?}");
}

#[test]
fn a_server_is_explained_up_to_the_moment_when_it_is_ready() {
    let program = "echo up; sleep 71.53";
    let found = json(&["explain", "--json", "--until", "output:up", "--", "sh", "-c", program]);
    let total = found["total_us"].as_f64().unwrap();
    assert!(total < 1e6, "{total}");
    assert!((sum(&found) - total).abs() < 1e-3);
    assert!(found["called_code"]["modules"].is_array(), "{}", found["called_code"]);
    assert!(!is_running("71.53"));
}

#[test]
fn a_killed_explanation_leaves_nothing_running() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let arguments = ["explain", "--", "sh", "-c", "sleep 0.0941"];
        let mut command = headstart(folder.path(), &arguments);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        wait_for("the program", || is_running("0.0941"));
        child.kill().unwrap();
        child.wait().unwrap();
        wait_for("the end of the program", || !is_running("0.0941"));
    }
}

#[test]
fn what_sleeps_in_the_background_is_neither_the_program_nor_silently_ended() {
    let script = "sleep 9 & i=0; while [ $i -lt 150000 ]; do i=$((i+1)); done";
    let found = json(&["explain", "-r", "2", "--json", "--", "sh", "-c", script]);
    let findings = found["findings"].as_array().unwrap();
    let ids: Vec<&str> = findings.iter().map(|f| f["id"].as_str().unwrap()).collect();
    assert!(!ids.contains(&"launcher-chain") && !ids.contains(&"helper-processes"), "{ids:?}");
    let note = found["notes"][0].as_str().unwrap();
    assert!(note.contains("left processes running, which headstart ended"), "{note}");
    let processes = found["processes"].as_array().unwrap();
    let sleep = processes.iter().find(|p| p["path"].as_str().unwrap().ends_with("/sleep"));
    let ended = "it was still running when the launch ended, and headstart ended it";
    assert!(sleep.unwrap()["notes"].as_array().unwrap().contains(&ended.into()), "{sleep:?}");
    let tops = findings.iter().filter(|finding| finding["part_of"].is_null());
    let sum: f64 = tops.filter_map(|finding| finding["cost_us"].as_f64()).sum();
    assert!(sum <= found["total_us"].as_f64().unwrap() + 0.1, "{findings:#?}");
}

#[test]
fn where_tracing_is_refused_the_best_remaining_source_is_named() {
    let Some(run) = confined("SYS_ptrace,SYS_perf_event_open") else { return };
    let output = run(&["explain", "-r", "2", "--json", "--", "sh", "-c", "exit 0"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let total = found["total_us"].as_f64().unwrap();
    assert!((sum(&found) - total).abs() < 1e-3);
    let source = |figures: &str| {
        let sources = found["sources"].as_array().unwrap();
        let found = sources.iter().find(|source| source["figures"] == figures).unwrap();
        (found["mechanism"].as_str().unwrap(), found["caveat"].as_str().unwrap())
    };
    assert_eq!(source("phases").0, "LD_DEBUG");
    assert!(source("phases").1.contains("ptrace is not permitted"), "{:?}", source("phases"));
    assert_eq!(source("faults").0, "getrusage, totals only");
    assert_eq!(source("files").0, "none");
    assert_eq!(source("functions").0, "none");
    assert!(source("functions").1.contains("ptrace is not permitted"), "{:?}", source("functions"));
    assert!(found["called_code"]["unavailable"].is_string(), "{}", found["called_code"]);
    assert!(found["files"]["unavailable"].is_string() && found["cpuid"]["unavailable"].is_string());
    assert!(found["faults"]["minor"].as_u64().unwrap() > 10);
    assert!(found["modules"].as_array().unwrap().len() >= 2);
    let text = stdout(&run(&["explain", "-r", "1", "sh", "-c", "exit 0"]));
    assert!(text.contains("unavailable") && text.contains("cap-add"), "{text}");
    let text = stdout(&run(&["measure", "-r", "3", "sh", "-c", "exit 0"]));
    assert!(text.contains("median"), "{text}");
}

/// A program that works for 200 ms, then waits for a child and for a slow server, each for 60 ms;
/// with one word it only works.
const MIXED: &str = r#"
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void nap(void) { struct timespec t = { 0, 60000000 }; nanosleep(&t, 0); }
__attribute__((noinline)) void work(long ms) {
    struct timespec t;
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < ms);
}
__attribute__((noinline)) int ask(int client) { char byte; return recv(client, &byte, 1, 0) + 1; }
int main(int argc, char **argv) {
    struct sockaddr_in address = { AF_INET, 0, { htonl(INADDR_LOOPBACK) } };
    socklen_t length = sizeof address;
    int server, client;
    work(200);
    if (argc > 1) return 0;
    if (fork() == 0) { nap(); _exit(0); }
    wait(0);
    server = socket(AF_INET, SOCK_STREAM, 0);
    bind(server, (struct sockaddr *)&address, length);
    listen(server, 1);
    getsockname(server, (struct sockaddr *)&address, &length);
    if (fork() == 0) { client = accept(server, 0, 0); nap(); send(client, "x", 1, 0); _exit(0); }
    client = socket(AF_INET, SOCK_STREAM, 0);
    connect(client, (struct sockaddr *)&address, length);
    return ask(client) != 2;
}"#;

fn cost(found: &Value, id: &str) -> f64 {
    let findings = found["findings"].as_array().unwrap().iter();
    findings.filter(|finding| finding["id"] == id).filter_map(|f| f["cost_us"].as_f64()).sum()
}

/// No time of a phase is given to two findings, and none to parts of one that exceeds it.
fn costs_fit(found: &Value) {
    let findings = found["findings"].as_array().unwrap();
    let sum = |wanted: &dyn Fn(&Value) -> bool| {
        let costs = findings.iter().filter(|finding| wanted(finding));
        costs.filter_map(|finding| finding["cost_us"].as_f64()).sum::<f64>()
    };
    for time in found["phases"].as_array().unwrap() {
        let top = sum(&|f: &Value| f["phase"] == time["phase"] && f["part_of"].is_null());
        assert!(top <= time["us"].as_f64().unwrap() + 0.1, "{time} {findings:#?}");
    }
    for whole in findings.iter().filter(|finding| finding["phase"].is_string()) {
        let parts = sum(&|f: &Value| f["part_of"] == whole["id"] && f["phase"] == whole["phase"]);
        assert!(parts == 0.0 || parts <= whole["cost_us"].as_f64().unwrap() + 0.1, "{whole}");
    }
}

#[test]
fn waiting_is_not_the_programs_own_code() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&cc, folder.path(), "mixed", MIXED, &["-w", "-O1", "-g"]);
    let program = program.to_str().unwrap();
    let found = json(&["explain", "-r", "3", "--hot", "--json", "--", program]);
    costs_fit(&found);
    // The child's sleep and the server's, while everybody waits for them.
    let (waits, own) = (cost(&found, "waits"), cost(&found, "own-code"));
    assert!((110_000.0..200_000.0).contains(&waits), "{waits}: {:#}", found["findings"]);
    assert!((120_000.0..300_000.0).contains(&own), "{own}: {:#}", found["findings"]);
    let calls = found["waits"]["calls"].as_array().unwrap();
    assert_eq!(calls[0]["on"], "time", "{calls:#?}");
    let functions = calls[0]["callers"][0]["functions"].as_array().unwrap();
    let has = |name: &str| functions.iter().any(|function| function == name);
    assert!(has("nap") || has("main"), "{functions:?}");
    // Only work.
    let found = json(&["explain", "-r", "3", "--json", "--", program, "work"]);
    costs_fit(&found);
    assert!(cost(&found, "own-code") > 120_000.0, "{:#}", found["findings"]);
    assert!(cost(&found, "waits") < 10_000.0, "{:#}", found["findings"]);
    // Where system calls cannot be followed, the processor time tells.
    let Some(run) = confined("SYS_ptrace,SYS_perf_event_open") else { return };
    let output = run(&["explain", "-r", "2", "--json", "--", program]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    costs_fit(&found);
    assert!(found["waits"]["unavailable"].as_str().unwrap().contains("ptrace"), "{found:#}");
    let (waits, own) = (cost(&found, "waits"), cost(&found, "own-code"));
    // A busy machine adds to it.
    assert!(waits > 110_000.0, "{waits}: {:#}", found["findings"]);
    assert!(own < 300_000.0, "{own}: {:#}", found["findings"]);
}

/// Relocations of each file that the launch loads, by its name.
fn relocations(found: &Value) -> Vec<(String, u64)> {
    let modules = found["modules"].as_array().unwrap().iter();
    let count = |module: &Value| {
        let count = |key: &str| module["facts"][key].as_u64().unwrap_or(0);
        let path = module["path"].as_str().unwrap().to_owned();
        (path, count("relative_relocations") + count("symbolic_relocations"))
    };
    let mut counts: Vec<(String, u64)> = modules.map(count).collect();
    counts.sort();
    counts
}

#[test]
fn relocations_are_counted_from_the_files_where_nothing_can_be_traced() {
    let Some(run) = confined("SYS_ptrace,SYS_perf_event_open") else { return };
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let source = "#include <stdio.h>\nint main(void) { puts(\"x\"); return 0; }";
    let program = |name, flags: &[&str]| {
        let program = testkit::compile(&cc, folder.path(), name, source, flags);
        program.to_str().unwrap().to_owned()
    };
    let (dynamic, fixed) = (program("dynamic", &[]), program("static", &["-static"]));
    for command in [&["sh", "-c", "ls /; exit 0"][..], &[&dynamic], &[&fixed]] {
        let arguments = [&["explain", "-r", "1", "--json", "--"], command].concat();
        let (traced, output) = (json(&arguments), run(&arguments));
        let confined: Value = serde_json::from_slice(&output.stdout).unwrap();
        let counted = relocations(&confined);
        assert_eq!(counted, relocations(&traced), "{command:?}");
        assert!(!counted.is_empty(), "{command:?}");
    }
    let output = run(&["explain", "-r", "1", &fixed]);
    assert!(stdout(&output).contains("unavailable"), "{}", stdout(&output));
}

#[test]
fn a_stale_bundle_is_called_by_its_name() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let library = |answer: u8| {
        let source = format!("int answer(void) {{ return {answer}; }}");
        testkit::compile(&cc, folder.path(), "libanswer.so", &source, &["-shared", "-fPIC"]);
    };
    library(0);
    let source = "int answer(void); int main(void) { return answer(); }";
    let rpath = format!("-Wl,-rpath,{}", folder.path().display());
    let flags = [&path("libanswer.so"), rpath.as_str()];
    testkit::compile(&cc, folder.path(), "program", source, &flags);
    let out = path("fast");
    let made = run(&["bundle", "--out", &out, &path("program")]);
    assert!(made.status.success(), "{}", stderr(&made));
    let bundle = path("fast/run");
    // The folder of its libraries tells their names.
    let found = json(&["explain", "-r", "1", "--json", "--", &bundle]);
    let modules = found["modules"].as_array().unwrap();
    let own: Vec<&Value> = modules.iter().filter(|m| m["merged"].is_array()).collect();
    let [own] = own[..] else { panic!("{modules:#?}") };
    assert_eq!(own["merged"][0], "libanswer.so", "{own:#}");
    assert!(modules.iter().all(|module| !module["path"].as_str().unwrap().ends_with("/program")));
    library(0);
    let found = json(&["explain", "-r", "1", "--json", "--", &bundle]);
    let findings = found["findings"].as_array().unwrap();
    let stale = findings.iter().find(|finding| finding["id"] == "stale-bundle").unwrap();
    let cause = stale["cause"].as_str().unwrap();
    assert!(cause.contains("did not run, but started the original"), "{cause}");
    let remedy = stale["remedy"].as_str().unwrap();
    let again = format!("headstart bundle --out {out} {}", path("program"));
    assert!(remedy.contains(&again), "{remedy}");
    assert!(findings.iter().all(|finding| finding["id"] != "launcher-chain"), "{findings:#?}");
    // The command that is named makes it right again.
    let made = run(&["bundle", "--out", &out, &path("program")]);
    assert!(made.status.success(), "{}", stderr(&made));
    let found = json(&["explain", "-r", "1", "--json", "--", &bundle]);
    let findings = found["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["id"] != "stale-bundle"), "{findings:#?}");
}

/// Looks for 40 names in each of 50 folders that do not exist.
const SEARCHER: &str = r#"
#include <fcntl.h>
#include <stdio.h>
int main(int argc, char **argv) {
    char path[4096];
    for (int name = 0; name < 40; name++)
        for (int folder = 0; folder < 50; folder++) {
            snprintf(path, sizeof path, "%s/packages/%d/name%d", argv[1], folder, name);
            open(path, O_RDONLY);
        }
    return 0;
}"#;

#[test]
fn failed_look_ups_of_the_program_are_part_of_main_and_one_group() {
    let Some(cc) = testkit::tool("cc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let program = testkit::compile(&cc, folder.path(), "searcher", SEARCHER, &["-w"]);
    let root = folder.path().to_str().unwrap();
    let arguments = ["explain", "-r", "3", "--json", "--", program.to_str().unwrap(), root];
    let found = json(&arguments);
    costs_fit(&found);
    let findings = found["findings"].as_array().unwrap();
    let storm = findings.iter().find(|finding| finding["id"] == "file-storms").unwrap();
    assert_eq!(storm["phase"], "main", "{storm:#}");
    let line = storm["evidence"][0].as_str().unwrap();
    assert!(line.starts_with(&format!("{root}/packages/…: 2,000 failed look-ups (")), "{line}");
    assert!(line.ends_with(" in 50 folders"), "{line}");
    let group = &found["files"]["groups"][0];
    assert_eq!((group["failed"].as_u64(), group["folders"].as_u64()), (Some(2000), Some(50)));
}
