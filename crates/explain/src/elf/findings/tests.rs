//! Each finding on figures made by hand: when it is told, at what cost, and when it is not.

use super::*;
use crate::advice::{ExplainAdvice, unworded};
use model::{
    CpuidTax, FaultTotals, FileWork, HashStyle, PhaseTime, Reading, WaitFor, WaitReport, Waits,
};
use std::collections::{BTreeMap, BTreeSet};

struct Case {
    explanation: Explanation,
    inputs: Inputs,
    found: ScopeRecords,
    /// What each process is charged; the launched program all of it where nothing is said.
    charged: Vec<BTreeMap<Phase, f64>>,
}

const NOT_HERE: &str = "not part of this test";

fn missing<T>() -> Reading<T> {
    Reading::unavailable(NOT_HERE, "")
}

/// A launch of 10 ms in which nothing stands out.
fn quiet() -> Case {
    let command = model::Command {
        argv: vec!["p".into()],
        program: "/bin/p".into(),
        directory: None,
        environment: Vec::new(),
    };
    let inputs = Inputs::nothing(command.clone(), NOT_HERE);
    let explanation = Explanation {
        schema: model::EXPLANATION_SCHEMA,
        command,
        bundles: Vec::new(),
        untraced_median_us: missing(),
        untraced_cpu_us: missing(),
        total_us: 10_000.0,
        phases: phases(&[]),
        notes: Vec::new(),
        sources: Vec::new(),
        processes: vec![process("/bin/p", 0.0, 10_000.0)],
        modules: vec![module("/lib/quiet.so", [1.0, 1.0, 1.0])],
        faults: FaultTotals {
            minor: missing(),
            major: missing(),
            read_bytes: missing(),
            anonymous: missing(),
        },
        files: missing(),
        cpuid: missing(),
        waits: missing(),
        called_code: missing(),
        findings: Vec::new(),
        hot: None,
    };
    let other_faults = vec![("/data/dump".to_owned(), 400), ("/data/small".to_owned(), 9)];
    let found = ScopeRecords { other_faults, ..ScopeRecords::default() };
    Case { explanation, inputs, found, charged: Vec::new() }
}

/// Phases that leave room for what the tests put into them, with these changed.
fn phases(changes: &[(Phase, f64)]) -> Vec<PhaseTime> {
    let usual = [
        (Phase::Map, 3000.0),
        (Phase::Relocate, 4000.0),
        (Phase::Initialize, 2000.0),
        (Phase::Main, 900.0),
        (Phase::Exit, 400.0),
    ];
    let changed = |phase| changes.iter().find(|(other, _)| *other == phase).map(|(_, us)| *us);
    usual.map(|(phase, us)| PhaseTime { phase, us: changed(phase).unwrap_or(us) }).to_vec()
}

fn process(path: &str, started_us: f64, charged_us: f64) -> ProcessReport {
    ProcessReport {
        pid: 1,
        path: path.to_owned(),
        bundle_of: None,
        argv: vec![path.to_owned(), "argument".to_owned()],
        loader: "glibc".to_owned(),
        started_us,
        ended_us: started_us + charged_us,
        charged_us,
        phases: vec![PhaseTime { phase: Phase::Main, us: charged_us * 0.9 }],
        notes: Vec::new(),
    }
}

fn module(path: &str, times: [f64; 3]) -> ModuleReport {
    ModuleReport {
        path: path.to_owned(),
        program: "/bin/p".to_owned(),
        map_us: Reading::Value(times[0]),
        relocate_us: Reading::Value(times[1]),
        init_us: Reading::Value(times[2]),
        minor_faults: missing(),
        major_faults: missing(),
        read_bytes: missing(),
        search_misses: Reading::Value(0),
        facts: missing(),
        pe: None,
        merged: Vec::new(),
        merged_in: None,
        work: None,
    }
}

fn facts() -> ElfFacts {
    let json = r#"{
        "path": "/lib/l.so", "format": "elf", "kind": "shared_library", "machine": "x86_64",
        "bits": 64, "little_endian": true, "file_bytes": 1, "interpreter": null, "soname": null,
        "build_id": null, "needed": [], "search_paths": [], "relocations": {},
        "relative_relocations": 1000, "symbolic_relocations": 500, "plt_relocations": 300,
        "irelative_relocations": 0, "copy_relocations": 0, "tls_relocations": 0,
        "relocation_table_bytes": 36000, "relocated_pages": 10, "imports": 5, "exports": 7,
        "hash_style": "gnu", "relr": false, "bind_now": false, "relro": "partial",
        "text_relocations": false, "symbolic": false, "static_tls": false, "initialisers": 3,
        "finalisers": 2, "version_needs": [], "version_definitions": [], "load_file_bytes": 1,
        "load_memory_bytes": 1, "load_segments": 4, "code_bytes": 1, "executable_stack": false,
        "has_symbol_table": false, "has_debug_info": false, "problems": []
    }"#;
    serde_json::from_str(json).unwrap()
}

/// What is known of the launch is known of its program.
fn listed(case: &Case) -> Vec<Finding> {
    let scopes = Scopes::new(&case.explanation, &case.inputs, &case.charged);
    find_all(&case.explanation, &case.inputs, &scopes, unworded, |scope| match scope {
        Scope::Program => case.found.clone(),
        _ => ScopeRecords::default(),
    })
}

fn run(case: &Case) -> BTreeMap<String, Finding> {
    listed(case).into_iter().map(|finding| (finding.id.clone(), finding)).collect()
}

fn cost(found: &BTreeMap<String, Finding>, id: &str) -> Option<f64> {
    found.get(id).unwrap_or_else(|| panic!("no {id}")).cost_us.get()
}

#[test]
fn a_quiet_launch_has_no_findings() {
    assert!(run(&quiet()).is_empty());
    let mut case = quiet();
    case.explanation.modules = vec![module("/lib/l.so", [100.0, 100.0, 90.0])];
    assert!(run(&case).is_empty());
}

#[test]
fn relocations_count_what_is_bound_before_main() {
    let mut case = quiet();
    let mut lazy = module("/lib/l.so", [0.0, 1000.0, 0.0]);
    lazy.facts = Reading::Value(facts());
    let mut now = module("/lib/n.so", [0.0, 1000.0, 0.0]);
    now.facts = Reading::Value(ElfFacts { bind_now: true, ..facts() });
    case.explanation.modules = vec![lazy, now];
    let found = run(&case);
    assert_eq!(cost(&found, "relocations"), Some(2000.0));
    let finding = &found["relocations"];
    let cause = "20 % of the launch (2.00 ms): the loader binds 700 symbol references and adjusts \
                 2,000 addresses in the program and 2 libraries";
    assert_eq!(finding.cause, cause);
    assert!(
        finding.evidence.contains(&"n.so: 1.00 ms; 500 symbols, 1,000 addresses, 10 pages".into())
    );
    // 300 of the 500 look-ups of one module that took 1000 µs.
    let bind_now = "BIND_NOW in 1 module: 300 functions bound before main, at most 600 µs";
    assert!(finding.evidence.contains(&bind_now.into()), "{:?}", finding.evidence);
    assert!(finding.remedy.contains("-Wl,-z,lazy"));
}

#[test]
fn libraries_leave_out_the_loader_and_what_dlopen_loads() {
    let mut case = quiet();
    case.explanation.modules = vec![
        module("/lib/ld-linux-x86-64.so.2", [500.0, 0.0, 0.0]),
        module("/lib/a.so", [300.0, 0.0, 0.0]),
        module("/lib/plugin.so", [700.0, 0.0, 0.0]),
    ];
    case.found.late = vec![(("/bin/p".into(), "/lib/plugin.so".into()), 700.0)];
    let found = run(&case);
    assert_eq!(cost(&found, "libraries"), Some(300.0));
    assert_eq!(cost(&found, "plugins"), Some(700.0));
    let start = "not included: the loader's own start, 500 µs".to_owned();
    assert!(found["libraries"].evidence.contains(&start));
}

#[test]
fn initializers_from_a_twentieth_or_half_a_millisecond() {
    let mut case = quiet();
    case.explanation.modules = vec![module("/lib/l.so", [0.0, 0.0, 499.0])];
    assert!(run(&case).is_empty());
    case.explanation.modules = vec![module("/lib/l.so", [0.0, 0.0, 501.0])];
    assert_eq!(cost(&run(&case), "initialisers"), Some(501.0));
}

#[test]
fn search_misses_cost_what_failed_look_ups_cost_here() {
    let mut case = quiet();
    let mut library = module("/lib/l.so", [0.0, 0.0, 0.0]);
    library.search_misses = Reading::Value(60);
    case.explanation.modules = vec![library];
    case.found.misses = vec![("/opt/lib".into(), 60)];
    // Without a price: told from fifty.
    assert_eq!(cost(&run(&case), "search-misses"), None);
    case.explanation.files = Reading::Value(files(100, 500.0));
    let found = run(&case);
    assert_eq!(cost(&found, "search-misses"), Some(300.0));
    assert!(found["search-misses"].evidence.contains(&"/opt/lib: 60 misses".to_owned()));
}

fn files(failed: u64, failed_us: f64) -> FileWork {
    let folder = "/opt/lib".to_owned();
    FileWork {
        opens: 2,
        failed,
        stats: 1,
        scans: 0,
        failed_us: Reading::Value(failed_us),
        stats_us: Reading::Value(1.0),
        folders: vec![FolderWork { folder, opens: 2, failed, stats: 1, scans: 0 }],
        groups: Vec::new(),
    }
}

#[test]
fn file_storms_of_main_are_part_of_it_and_named_by_common_parents() {
    let mut case = quiet();
    let folder = |folder: &str, failed| FolderWork {
        folder: folder.to_owned(),
        opens: 1,
        failed,
        stats: 0,
        scans: 0,
    };
    let searched: Vec<FolderWork> =
        (0..37).map(|n| folder(&format!("/usr/lib/python3/dist-packages/{n}"), 5)).collect();
    case.found.calls = BTreeMap::from([
        (Phase::Main, [searched, vec![folder("/etc", 15)]].concat()),
        // The loader's own search is told elsewhere.
        (Phase::Map, vec![folder("/opt/lib", 800)]),
    ]);
    case.explanation.files = Reading::Value(files(3, 900.0));
    case.explanation.files = Reading::Value(files(1000, 2000.0));
    let found = run(&case);
    let finding = &found["file-storms"];
    assert_eq!(finding.cost_us, Reading::Value(400.0));
    assert_eq!(finding.phase, Some(Phase::Main));
    let cause = "4.0 % of the launch (400 µs), in main: 200 failed look-ups, to open 38 files";
    assert_eq!(finding.cause, cause);
    let evidence = [
        "/usr/lib/python3/dist-packages/…: 185 failed look-ups (370 µs) in 37 folders",
        "/etc: 15 failed look-ups (30 µs)",
    ];
    assert_eq!(finding.evidence, evidence);
    // A few dear ones are no storm.
    case.found.calls = BTreeMap::from([(Phase::Main, vec![folder("/etc", 3)])]);
    case.explanation.files = Reading::Value(files(3, 900.0));
    assert!(!run(&case).contains_key("file-storms"));
}

#[test]
fn waits_are_no_code_of_the_program() {
    let mut case = quiet();
    case.explanation.phases = phases(&[(Phase::Main, 8000.0), (Phase::Exit, 100.0)]);
    let call = |phase, call: &str, on, us| WaitReport {
        phase,
        program: "/bin/p".to_owned(),
        call: call.to_owned(),
        on,
        target: None,
        calls: 2,
        us,
        callers: Vec::new(),
    };
    let calls = vec![
        call(Phase::Main, "clock_nanosleep", WaitFor::Time, 5000.0),
        call(Phase::Initialize, "read", WaitFor::File, 300.0),
    ];
    case.explanation.waits = Reading::Value(Waits { total_us: 5300.0, calls });
    let all = listed(&case);
    let waits: Vec<&Finding> = all.iter().filter(|finding| finding.id == "waits").collect();
    let costs: Vec<_> =
        waits.iter().map(|f| (f.phase.unwrap(), f.cost_us.get().unwrap())).collect();
    assert_eq!(costs, [(Phase::Main, 5000.0), (Phase::Initialize, 300.0)]);
    let line = "5.00 ms sleeping for a fixed time (clock_nanosleep, 2 waits)";
    assert_eq!(waits[0].evidence, [line]);
    let own = all.iter().find(|finding| finding.id == "own-code").unwrap();
    assert_eq!(own.cost_us, Reading::Value(3000.0));
    assert!(own.evidence.contains(&"excluded from main: 5.00 ms waiting".to_owned()));
}

#[test]
fn own_code_is_never_more_than_processor_time() {
    let mut case = quiet();
    case.explanation.phases = phases(&[(Phase::Main, 8000.0)]);
    case.explanation.untraced_median_us = Reading::Value(10_000.0);
    case.explanation.untraced_cpu_us = Reading::Value(4500.0);
    let found = run(&case);
    // 4.5 of 10 ms on the processor, and so of the 8 ms of main.
    assert_eq!(cost(&found, "own-code"), Some(3600.0));
    let told = found["own-code"]
        .evidence
        .iter()
        .any(|line| line.contains("4.40 ms that untraced launches do not spend"));
    assert!(told, "{:?}", found["own-code"].evidence);
    assert!(!found.contains_key("waits"), "the launches say nothing");
    // Where waits could not be recorded, the least that any launch was off the processor is one.
    case.inputs.untraced_us = vec![10_000.0, 10_000.0, 14_000.0];
    case.inputs.untraced_cpu_us = [4500.0, 5000.0, 4500.0].map(Reading::Value).to_vec();
    let found = run(&case);
    assert_eq!(cost(&found, "waits"), Some(5000.0));
    assert_eq!(cost(&found, "own-code"), Some(2700.0));
    let unknown = "the system calls are not known: the source line on waits says why";
    assert!(found["waits"].evidence.contains(&unknown.to_owned()));
    // Several processors at work: nothing is known of waits.
    case.inputs.untraced_cpu_us = [4500.0, 10_000.0, 4500.0].map(Reading::Value).to_vec();
    assert!(!run(&case).contains_key("waits"));
}

#[test]
fn a_start_is_off_the_processor_a_little_without_waiting() {
    let mut case = quiet();
    case.explanation.phases = phases(&[(Phase::Main, 8000.0)]);
    case.inputs.untraced_us = vec![10_000.0];
    case.inputs.untraced_cpu_us = [9_100.0].map(Reading::Value).to_vec();
    assert!(!run(&case).contains_key("waits"));
}

#[test]
fn faults_are_part_of_what_takes_them() {
    let mut case = quiet();
    case.explanation.phases = phases(&[(Phase::Main, 5000.0)]);
    case.explanation.modules = vec![module("/lib/l.so", [0.0, 1000.0, 0.0])];
    case.inputs.minor_fault_us = Reading::Value(0.5);
    let faults = |minor| {
        let files = BTreeMap::from([(("/bin/p".to_owned(), "/lib/l.so".to_owned()), minor / 2)]);
        PhaseFaults { minor, anonymous: minor / 2, files }
    };
    case.found.faults = BTreeMap::from([
        (Phase::Relocate, faults(1200)),
        (Phase::Main, faults(3000)),
        (Phase::Exit, faults(6)),
    ]);
    let all = listed(&case);
    let told: Vec<(Phase, Option<&str>, f64)> = all
        .iter()
        .filter(|finding| finding.id == "page-faults")
        .map(|f| (f.phase.unwrap(), f.part_of.as_deref(), f.cost_us.get().unwrap()))
        .collect();
    let expected = [(Phase::Main, None, 1500.0), (Phase::Relocate, Some("relocations"), 600.0)];
    assert_eq!(told, expected);
    let own = all.iter().find(|finding| finding.id == "own-code").unwrap();
    assert_eq!(own.cost_us, Reading::Value(3500.0));
}

proptest::proptest! {
    #[test]
    fn no_phase_is_given_out_twice(
        times in proptest::array::uniform5(0.0..9000.0_f64),
        costs in proptest::array::uniform12(0.0..9000.0_f64),
        late in proptest::bool::ANY,
    ) {
        let case = greedy(times, costs, late);
        let findings = listed(&case);
        for time in &case.explanation.phases {
            let of_phase = |f: &&Finding| f.phase == Some(time.phase);
            let sum = |part: Option<&str>| {
                let parts = findings.iter().filter(of_phase);
                let parts = parts.filter(|finding| finding.part_of.as_deref() == part);
                parts.filter_map(|finding| finding.cost_us.get()).sum::<f64>()
            };
            proptest::prop_assert!(sum(None) <= time.us + 0.1, "{:?}: {findings:#?}", time);
            for whole in findings.iter().filter(of_phase).filter(|f| f.part_of.is_none()) {
                let cost = whole.cost_us.get().unwrap_or(0.0);
                proptest::prop_assert!(sum(Some(&whole.id)) <= cost + 0.1, "{findings:#?}");
            }
        }
        for part in findings.iter().filter_map(|finding| finding.part_of.as_ref()) {
            proptest::prop_assert!(findings.iter().any(|finding| finding.id == *part));
        }
    }
}

/// A launch in which every cause claims what it likes.
fn greedy(times: [f64; 5], costs: [f64; 12], late: bool) -> Case {
    let mut case = quiet();
    let names = [Phase::Map, Phase::Relocate, Phase::Initialize, Phase::Main, Phase::Exit];
    let pairs: Vec<(Phase, f64)> = names.into_iter().zip(times).collect();
    case.explanation.phases = phases(&pairs);
    case.explanation.total_us = times.iter().sum();
    let mut text = module("/lib/t.so", [costs[0], costs[1], costs[2]]);
    text.facts = Reading::Value(ElfFacts { text_relocations: true, ..facts() });
    case.explanation.modules = vec![text, module("/lib/late.so", [10.0, costs[3], 10.0])];
    if late {
        case.found.late = vec![(("/bin/p".into(), "/lib/late.so".into()), costs[3])];
    }
    let by_image = vec![("/lib/ld-linux.so".to_owned(), 40), ("/bin/p".to_owned(), 9)];
    let each_us = costs[4] / 40.0;
    case.explanation.cpuid = Reading::Value(CpuidTax { count: 49, each_us, by_image });
    case.explanation.modules[0].search_misses = Reading::Value(90);
    case.explanation.files = Reading::Value(files(100, costs[5]));
    let folder = FolderWork { folder: "/a".into(), opens: 0, failed: 80, stats: 0, scans: 0 };
    case.found.calls = names.map(|phase| (phase, vec![folder.clone()])).into();
    let calls = names.iter().zip(&costs[6..11]).map(|(phase, us)| WaitReport {
        phase: *phase,
        program: "/bin/p".to_owned(),
        call: "read".to_owned(),
        on: WaitFor::Pipe,
        target: None,
        calls: 1,
        us: *us,
        callers: Vec::new(),
    });
    case.explanation.waits = Reading::Value(Waits { total_us: 1.0, calls: calls.collect() });
    case.inputs.minor_fault_us = Reading::Value(costs[11] / 100.0);
    let faults = PhaseFaults { minor: 100, ..PhaseFaults::default() };
    case.found.faults = names.map(|phase| (phase, faults.clone())).into();
    case
}

#[test]
fn cpuid_is_count_times_cost() {
    let mut case = quiet();
    let by_image = vec![("/lib/ld-linux.so.2".to_owned(), 68)];
    case.explanation.cpuid = Reading::Value(CpuidTax { count: 68, each_us: 8.0, by_image });
    case.inputs.hypervisor = Some("KVM".to_owned());
    let found = run(&case);
    assert_eq!(cost(&found, "cpuid"), Some(544.0));
    assert!(found["cpuid"].cause.contains("68 CPUID instructions, each answered by"));
}

#[test]
fn a_chain_costs_the_time_until_the_program_starts() {
    let mut case = quiet();
    case.explanation.processes = vec![
        process("/bin/sh", 0.0, 1000.0),
        process("/bin/dirname", 500.0, 1500.0),
        process("/opt/program", 2500.0, 7000.0),
        process("/opt/helper", 5000.0, 500.0),
    ];
    let found = run(&case);
    assert_eq!(cost(&found, "launcher-chain"), Some(2500.0));
    assert!(found["launcher-chain"].cause.contains("2 programs run before program starts"));
    assert!(found["launcher-chain"].remedy.contains("${0%/*} for dirname"));
    assert_eq!(cost(&found, "helper-processes"), Some(500.0));
}

#[test]
fn a_script_that_sleeps_prepares_for_nothing() {
    let mut case = quiet();
    let mut sleep = process("/bin/sleep", 1000.0, 8000.0);
    sleep.pid = 2;
    case.explanation.processes = vec![process("/bin/sh", 0.0, 2000.0), sleep];
    assert!(run(&case).contains_key("launcher-chain"), "the program may be no sleep");
    let call = WaitReport {
        phase: Phase::Main,
        program: "/bin/sleep".to_owned(),
        call: "clock_nanosleep".to_owned(),
        on: WaitFor::Time,
        target: None,
        calls: 1,
        us: 7000.0,
        callers: Vec::new(),
    };
    case.explanation.waits = Reading::Value(Waits { total_us: 7000.0, calls: vec![call] });
    let found = run(&case);
    assert!(!found.contains_key("launcher-chain"));
    assert_eq!(cost(&found, "helper-processes"), Some(8000.0));
}

#[test]
fn a_bundle_that_starts_its_original_is_no_launcher() {
    let mut case = quiet();
    let bundle = process("/home/me/fast/run", 0.0, 1000.0);
    case.explanation.processes = vec![bundle, process("/opt/program", 1000.0, 9000.0)];
    // Somebody else's file.
    let found = run(&case);
    assert!(found.contains_key("launcher-chain") && !found.contains_key("stale-bundle"));
    let libraries = ["libz.so.1".to_owned()].into();
    case.inputs.bundles = BTreeMap::from([("/home/me/fast/run".to_owned(), libraries)]);
    let found = run(&case);
    assert!(!found.contains_key("launcher-chain"), "{found:#?}");
    let finding = &found["stale-bundle"];
    let cause = "10 % of the launch (1.00 ms): the bundle /home/me/fast/run did not run, but \
                 started the original, /opt/program";
    assert_eq!(finding.cause, cause);
    let folder = "/home/me/fast".to_owned();
    let program = "/opt/program".to_owned();
    let renew = ExplainAdvice::RenewBundle { folder: folder.clone(), program, fixed: false };
    assert!(finding.remedy.contains(&unworded(renew)), "{}", finding.remedy);
    assert_eq!(finding.evidence[1], unworded(ExplainAdvice::VerifyBundle { folder }));
    // A bundled shell that executes another program is none.
    case.explanation.processes[1].argv = vec!["program".to_owned()];
    assert!(!run(&case).contains_key("stale-bundle"));
}

#[test]
fn own_code_gives_way_to_a_known_interpreter() {
    let mut case = quiet();
    case.explanation.phases = phases(&[(Phase::Main, 6000.0)]);
    let found = run(&case);
    assert_eq!(cost(&found, "own-code"), Some(6000.0));
    assert!(!found.contains_key("interpreter"));
    case.explanation.processes = vec![process("/usr/bin/python3.11", 0.0, 8000.0)];
    let found = run(&case);
    assert_eq!(cost(&found, "interpreter"), Some(6000.0));
    assert!(!found.contains_key("own-code"));
}

#[test]
fn faults_and_reads() {
    let mut case = quiet();
    case.explanation.faults.minor = Reading::Value(1000);
    assert!(run(&case).is_empty(), "the cost of a fault is unknown");
    case.inputs.minor_fault_us = Reading::Value(0.5);
    case.explanation.faults.major = Reading::Value(3);
    case.explanation.faults.read_bytes = Reading::Value(1 << 20);
    let found = run(&case);
    assert!(found["page-faults"].cause.starts_with("5.0 % of the launch (500 µs), spread over"));
    // The time of faults that may lie in any phase is part of other findings.
    assert_eq!(cost(&found, "page-faults"), None);
    assert_eq!(cost(&found, "cold-reads"), None);
    assert!(
        found["cold-reads"].cause.contains("reads 1.0 MiB from storage, and 3 page faults wait")
    );
}

#[test]
fn exit_and_faults_of_linking() {
    let mut case = quiet();
    case.explanation.phases = phases(&[(Phase::Exit, 1200.0)]);
    let mut library = module("/lib/l.so", [0.0, 40.0, 0.0]);
    library.facts = Reading::Value(ElfFacts {
        text_relocations: true,
        executable_stack: true,
        hash_style: HashStyle::Sysv,
        ..facts()
    });
    case.explanation.modules = vec![library];
    let found = run(&case);
    assert_eq!(cost(&found, "exit"), Some(1200.0));
    assert_eq!(cost(&found, "text-relocations"), Some(40.0));
    assert_eq!(cost(&found, "executable-stack"), None);
    assert_eq!(cost(&found, "old-hash"), None);
}

#[test]
fn findings_are_ranked_by_cost() {
    let mut case = quiet();
    case.explanation.modules = vec![module("/lib/l.so", [1000.0, 3000.0, 2000.0])];
    case.explanation.faults.major = Reading::Value(1);
    let ids: Vec<String> = listed(&case).into_iter().map(|finding| finding.id).collect();
    assert_eq!(ids, ["relocations", "initialisers", "libraries", "cold-reads"]);
}

mod bundled;
mod processes;
mod scattered;
mod unpacked;
mod unseen;
