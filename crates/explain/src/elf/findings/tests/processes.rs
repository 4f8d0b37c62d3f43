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
    let main = |us| BTreeMap::from([(Phase::Main, us)]);
    case.charged = vec![main(2000.0), main(3500.0), main(3500.0)];
    let calls = vec![asleep("/bin/sleep", 6800.0), asleep("/bin/sh", 1000.0)];
    case.explanation.waits = Reading::Value(Waits { total_us: 7800.0, calls });
    let all = listed(&case);
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
            .ends_with("The other findings do not count the bundle's own start.")
    );
}

fn difference(subject: &str, variable: bool) -> model::BundleDifference {
    let (subject, reason) = (subject.to_owned(), format!("{subject} is not what it was"));
    model::BundleDifference { subject, reason, variable }
}

#[test]
fn that_a_bundle_did_not_run_comes_first() {
    let mut case = quiet();
    let bundle = "/home/me/fast/run";
    case.explanation.processes =
        vec![process(bundle, 0.0, 100.0), process("/opt/program", 100.0, 9900.0)];
    case.explanation.phases = phases(&[(Phase::Main, 9000.0)]);
    case.inputs.bundles = BTreeMap::from([(bundle.to_owned(), BTreeSet::new())]);
    let mut contents = model::BundleContents {
        original: Some("/opt/program".to_owned()),
        folder: Some("/home/me/fast".to_owned()),
        ..model::BundleContents::default()
    };
    let mut found = |difference| {
        contents.difference = Some(difference);
        case.inputs.contents.insert(bundle.to_owned(), contents.clone());
        let all = listed(&case);
        assert!(all.len() > 1, "{all:#?}");
        assert_eq!(all[0].id, "stale-bundle", "{all:#?}");
        all[0].clone()
    };
    let changed = found(difference("/lib/libz.so.1", false));
    assert_eq!(changed.evidence[0], "/lib/libz.so.1 is not what it was");
    assert!(changed.remedy.starts_with("Make it again: "), "{}", changed.remedy);
    let variable = found(difference("LD_PRELOAD", true));
    assert_eq!(variable.evidence[0], "LD_PRELOAD is not what it was");
    assert!(variable.remedy.starts_with("Set or unset LD_PRELOAD, "), "{}", variable.remedy);
}

/// One that a package manager put in the program's place has no folder of its own.
#[test]
fn a_stale_bundle_elsewhere_is_made_again_without_a_folder() {
    let mut case = quiet();
    let bundle = "/usr/bin/p";
    case.explanation.processes =
        vec![process(bundle, 0.0, 100.0), process("/usr/bin/p.original", 100.0, 9900.0)];
    let contents = model::BundleContents {
        original: Some("/usr/bin/p.original".to_owned()),
        difference: Some(difference("/lib/libz.so.1", false)),
        ..model::BundleContents::default()
    };
    case.inputs.bundles = BTreeMap::from([(bundle.to_owned(), BTreeSet::new())]);
    case.inputs.contents.insert(bundle.to_owned(), contents);
    let finding = &run(&case)["stale-bundle"];
    assert_eq!(finding.evidence.len(), 1, "{finding:#?}");
    let again = "Make it again from /usr/bin/p.original, and put it in the place of /usr/bin/p. ";
    assert!(finding.remedy.starts_with(again), "{}", finding.remedy);
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

#[test]
fn no_program_is_prepared_for_by_what_works_beside_it() {
    let mut case = quiet();
    case.explanation.processes =
        vec![process("/bin/sh", 0.0, 9999.0), process("/bin/sleep", 10.0, 0.0)];
    assert!(run(&case).is_empty(), "{:#?}", run(&case));
}

#[test]
fn a_script_that_runs_programs_in_turn_prepares_for_none_of_them() {
    let mut case = quiet();
    let run_by = |pid, path: &str, at, us| ProcessReport { pid, ..process(path, at, us) };
    case.explanation.processes = vec![
        run_by(1, "/bin/sh", 0.0, 1000.0),
        run_by(2, "/bin/one", 1000.0, 4500.0),
        run_by(3, "/bin/two", 6000.0, 4500.0),
    ];
    let found = run(&case);
    assert!(!found.contains_key("launcher-chain"), "{found:#?}");
    assert_eq!(cost(&found, "helper-processes"), Some(9000.0));
    // One that runs twice.
    case.explanation.processes[1] = run_by(2, "/bin/two", 1000.0, 6000.0);
    let found = run(&case);
    assert!(!found.contains_key("launcher-chain"), "{found:#?}");
    // The only one.
    case.explanation.processes.truncate(2);
    assert_eq!(cost(&run(&case), "launcher-chain"), Some(1000.0));
}

proptest::proptest! {
    #[test]
    fn no_process_is_counted_by_two_findings(
        times in proptest::collection::vec(proptest::array::uniform5(0.0..9000.0_f64), 1..6),
        costs in proptest::array::uniform12(0.0..9000.0_f64),
        stale in proptest::bool::ANY,
        placed in proptest::bool::ANY,
        paths in proptest::array::uniform6(0..4_usize),
    ) {
        let sums: Vec<f64> = (0..5).map(|n| times.iter().map(|time| time[n]).sum()).collect();
        let mut case = greedy([sums[0], sums[1], sums[2], sums[3], sums[4]], costs, false);
        let names = case.explanation.phases.iter().map(|time| time.phase);
        let names: Vec<Phase> = names.collect();
        let charge = |time: &[f64; 5]| names.iter().copied().zip(time.iter().copied()).collect();
        case.charged = times.iter().map(charge).collect();
        let path = |n: usize| format!("/bin/{}", ["p", "q", "sh", "python3"][paths[n]]);
        case.explanation.processes = times.iter().enumerate().map(|(n, time)| ProcessReport {
            pid: 1 + u32::from(n > 2),
            ended_us: 100.0 * n as f64 + 100.0,
            ..process(&path(n), 100.0 * n as f64, time.iter().sum())
        }).collect();
        for (index, module) in case.explanation.modules.iter_mut().enumerate() {
            module.program = path(index);
        }
        if stale {
            case.inputs.bundles = BTreeMap::from([(path(0), ["libz.so.1".to_owned()].into())]);
        }
        if !placed {
            // Where they happen is not known, only their number.
            case.found.faults.clear();
            case.explanation.faults.minor = Reading::Value(100);
        }
        let scopes = Scopes::new(&case.explanation, &case.inputs, &case.charged);
        // Every part claims what the whole launch does.
        let findings = find_all(&case.explanation, &case.inputs, &scopes, unworded, |_| case.found.clone());
        let sum = |part: Option<&str>| {
            let parts = findings.iter().filter(|finding| finding.part_of.as_deref() == part);
            parts.filter_map(|finding| finding.cost_us.get()).sum::<f64>()
        };
        proptest::prop_assert!(sum(None) <= case.explanation.total_us + 0.1, "{findings:#?}");
        for scope in [Scope::Launchers, Scope::Helpers, Scope::StaleBundle] {
            let id = scope.id().unwrap();
            proptest::prop_assert!(sum(Some(id)) <= scopes.cost(scope) + 0.1, "{findings:#?}");
            let told = findings.iter().any(|finding| finding.id == id);
            proptest::prop_assert_eq!(told, !scopes.members(scope).is_empty(), "{}", id);
        }
    }
}
