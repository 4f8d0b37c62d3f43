//! Each finding on figures made by hand: when it is told, at what cost, and when it is not.

use super::*;
use crate::inputs::ReplayTimes;
use model::{CpuidTax, FaultTotals, FileWork, FolderWork, HashStyle, PhaseTime, Reading};
use std::collections::BTreeMap;

struct Case {
    explanation: Explanation,
    inputs: Inputs,
    misses: Vec<(String, u64)>,
    late: Vec<((String, String), f64)>,
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
        untraced_median_us: missing(),
        total_us: 10_000.0,
        phases: Vec::new(),
        sources: Vec::new(),
        processes: vec![process("/bin/p", 0.0, 10_000.0)],
        modules: Vec::new(),
        faults: FaultTotals {
            minor: missing(),
            major: missing(),
            read_bytes: missing(),
            anonymous: missing(),
        },
        files: missing(),
        cpuid: missing(),
        findings: Vec::new(),
        hot: None,
    };
    Case { explanation, inputs, misses: Vec::new(), late: Vec::new() }
}

fn process(path: &str, started_us: f64, charged_us: f64) -> ProcessReport {
    ProcessReport {
        pid: 1,
        path: path.to_owned(),
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

fn run(case: &Case) -> BTreeMap<String, Finding> {
    let context = Context {
        explanation: &case.explanation,
        inputs: &case.inputs,
        misses: case.misses.clone(),
        late: case.late.clone(),
        finalisers: Vec::new(),
        other_faults: vec![("/data/dump".to_owned(), 400), ("/data/small".to_owned(), 9)],
    };
    all(&context).into_iter().map(|finding| (finding.id.clone(), finding)).collect()
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
    case.late = vec![(("/bin/p".into(), "/lib/plugin.so".into()), 700.0)];
    let found = run(&case);
    assert_eq!(cost(&found, "libraries"), Some(300.0));
    assert_eq!(cost(&found, "plugins"), Some(700.0));
    let start = "not in it: the loader's own start, 500 µs".to_owned();
    assert!(found["libraries"].evidence.contains(&start));
}

#[test]
fn initialisers_from_a_twentieth_or_half_a_millisecond() {
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
    case.misses = vec![("/opt/lib".into(), 60)];
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
    }
}

#[test]
fn file_storms_name_the_folders() {
    let mut case = quiet();
    case.explanation.files = Reading::Value(files(3, 900.0));
    assert!(!run(&case).contains_key("file-storms"));
    case.explanation.files = Reading::Value(files(100, 500.0));
    let scans_us = Reading::Value(20.0);
    case.inputs.replay = Reading::Value(ReplayTimes { failed_us: 500.0, stats_us: 1.0, scans_us });
    let found = run(&case);
    assert_eq!(cost(&found, "file-storms"), Some(521.0));
    assert_eq!(found["file-storms"].evidence, ["/opt/lib: 100 failed, 1 stat, 2 opened"]);
}

#[test]
fn cpuid_is_count_times_cost() {
    let mut case = quiet();
    let by_image = vec![("/lib/ld.so".to_owned(), 68)];
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
fn own_code_gives_way_to_a_known_interpreter() {
    let mut case = quiet();
    case.explanation.phases = vec![PhaseTime { phase: Phase::Main, us: 6000.0 }];
    let found = run(&case);
    assert_eq!(cost(&found, "own-code"), Some(6000.0));
    assert!(!found.contains_key("interpreter"));
    case.explanation.processes = vec![process("/usr/bin/python3.11", 0.0, 8000.0)];
    let found = run(&case);
    assert_eq!(cost(&found, "interpreter"), Some(7200.0));
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
    assert_eq!(cost(&found, "page-faults"), Some(500.0));
    // A data file is named from a twentieth of the faults.
    assert!(found["page-faults"].evidence.contains(&"/data/dump: 400".to_owned()));
    assert!(found["page-faults"].evidence.iter().all(|line| !line.contains("small")));
    assert_eq!(cost(&found, "cold-reads"), None);
    assert!(
        found["cold-reads"].cause.contains("reads 1.0 MiB from storage, and 3 page faults wait")
    );
}

#[test]
fn exit_and_faults_of_linking() {
    let mut case = quiet();
    case.explanation.phases = vec![PhaseTime { phase: Phase::Exit, us: 1200.0 }];
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
    let context = Context {
        explanation: &case.explanation,
        inputs: &case.inputs,
        misses: Vec::new(),
        late: Vec::new(),
        finalisers: Vec::new(),
        other_faults: vec![("/data/dump".to_owned(), 400), ("/data/small".to_owned(), 9)],
    };
    let ids: Vec<String> = all(&context).into_iter().map(|finding| finding.id).collect();
    assert_eq!(ids, ["relocations", "initialisers", "libraries", "cold-reads"]);
}
