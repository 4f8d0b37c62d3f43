//! Findings about whole processes.

use super::*;

fn asleep(program: &str, us: f64) -> WaitReport {
    WaitReport {
        phase: Phase::Main,
        program: program.to_owned(),
        call: "clock_nanosleep".to_owned(),
        on: WaitFor::Time,
        target: None,
        calls: 1,
        us,
        callers: Vec::new(),
    }
}

#[test]
fn waits_of_helpers_are_part_of_what_the_helpers_take() {
    let mut case = quiet();
    let helper = |pid, at| ProcessReport { pid, ..process("/bin/sleep", at, 3500.0) };
    case.explanation.processes =
        vec![process("/bin/sh", 0.0, 3000.0), helper(2, 1000.0), helper(3, 5000.0)];
    case.explanation.phases = phases(&[(Phase::Main, 9000.0)]);
    let calls = vec![asleep("/bin/sleep", 6800.0), asleep("/bin/sh", 1000.0)];
    case.explanation.waits = Reading::Value(Waits { total_us: 7800.0, calls });
    let context = Context::new(&case.explanation, &case.inputs, case.found.clone());
    let all = all(&context);
    let waits: Vec<(Option<&str>, Option<f64>)> = all
        .iter()
        .filter(|finding| finding.id == "waits")
        .map(|finding| (finding.part_of.as_deref(), finding.cost_us.get()))
        .collect();
    assert_eq!(waits, [(Some("helper-processes"), Some(6800.0)), (None, Some(1000.0))]);
    let tops = all.iter().filter(|f| f.part_of.is_none() && f.id != "own-code");
    let sum: f64 = tops.filter_map(|finding| finding.cost_us.get()).sum();
    assert!(sum <= 10_000.0, "{all:#?}");
    let helpers = all.iter().find(|finding| finding.id == "helper-processes").unwrap();
    assert_eq!(helpers.evidence[0], "sleep (2 times)");
    assert!(helpers.remedy.contains("only wait"), "{}", helpers.remedy);
}

#[test]
fn waits_of_a_program_that_is_also_a_helper_are_not_told_as_the_helpers() {
    let mut case = quiet();
    let helper = ProcessReport { pid: 2, ..process("/bin/sh", 1000.0, 2000.0) };
    case.explanation.processes = vec![process("/bin/sh", 0.0, 8000.0), helper];
    case.explanation.phases = phases(&[(Phase::Main, 9000.0)]);
    let calls = vec![asleep("/bin/sh", 1000.0)];
    case.explanation.waits = Reading::Value(Waits { total_us: 1000.0, calls });
    let found = run(&case);
    assert_eq!(found["waits"].part_of, None);
    assert!(found["helper-processes"].remedy.contains("Do the work in the program itself"));
}

#[test]
fn the_original_of_a_stale_bundle_is_no_helper() {
    let mut case = quiet();
    // The bundle takes longer than the original does.
    case.explanation.processes =
        vec![process("/home/me/fast/run", 0.0, 5900.0), process("/opt/program", 5900.0, 4100.0)];
    let libraries = ["libz.so.1".to_owned()].into();
    case.inputs.bundles = BTreeMap::from([("/home/me/fast/run".to_owned(), libraries)]);
    let found = run(&case);
    assert!(!found.contains_key("helper-processes"), "{found:#?}");
    assert!(!found.contains_key("launcher-chain"), "{found:#?}");
    assert!(
        found["stale-bundle"]
            .remedy
            .ends_with("are about both, the bundle's own start and the original's.")
    );
}

#[test]
fn callers_stand_behind_their_wait() {
    let mut case = quiet();
    let callers = vec![model::WaitCaller { functions: vec!["nap".to_owned()], us: 2000.0 }];
    let calls = vec![WaitReport { callers, ..asleep("/bin/p", 2000.0) }];
    case.explanation.phases = phases(&[(Phase::Main, 9000.0)]);
    case.explanation.waits = Reading::Value(Waits { total_us: 2000.0, calls });
    let line =
        "2.00 ms sleeping for a fixed time (clock_nanosleep, 1 wait): 2.00 ms called from nap";
    assert_eq!(run(&case)["waits"].evidence, [line]);
}
