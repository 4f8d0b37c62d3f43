//! Golden views of recorded launches, and what holds for every view.

use super::*;
use model::{
    BundleDifference, BundleRemains, BundleReport, CalledCode, CalledModule, CopiedPages,
    FaultTotals, Finding, LibraryRemains, ModuleCalls, ModuleReport, PartWork, Phase, PhaseTime,
    Reading, Source, Waits,
};

const FIXTURES: [&str; 6] = ["inkscape", "soffice", "python", "static", "musl", "windows"];

fn fixture(name: &str) -> Explanation {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/explanations");
    let json = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
    serde_json::from_str(&json).unwrap()
}

const PLAIN: Style = Style { color: false, width: 80, unicode: true };
const SOME: Option<usize> = Some(ROWS);

/// A launch of which only the total is known.
fn nothing() -> Explanation {
    let mut explanation = fixture("musl");
    let (reason, remedy) = ("ptrace is not permitted", "docker run --cap-add SYS_PTRACE");
    explanation.phases = vec![PhaseTime { phase: Phase::Unattributed, us: explanation.total_us }];
    explanation.processes.clear();
    explanation.modules.clear();
    explanation.findings.clear();
    explanation.faults = FaultTotals {
        minor: Reading::unavailable("perf events are refused", "sysctl perf_event_paranoid=2"),
        major: Reading::unavailable("perf events are refused", ""),
        read_bytes: Reading::unavailable("perf events are refused", ""),
        anonymous: Reading::unavailable("perf events are refused", ""),
    };
    explanation.files = Reading::unavailable(reason, remedy);
    explanation.cpuid = Reading::unavailable(reason, "");
    for source in &mut explanation.sources {
        "none".clone_into(&mut source.mechanism);
        source.caveat = format!("{reason}; {remedy}");
    }
    explanation
}

// Command lines are quoted as the host's shells take them.
#[cfg(unix)]
#[test]
fn golden_views() {
    for name in FIXTURES {
        insta::assert_snapshot!(name, view(&fixture(name), &PLAIN, SOME));
    }
    insta::assert_snapshot!("nothing", view(&nothing(), &PLAIN, SOME));
    let ascii = Style { unicode: false, width: 72, ..PLAIN };
    insta::assert_snapshot!("soffice_ascii", view(&fixture("soffice"), &ascii, Some(4)));
}

#[test]
fn parts_stand_below_their_whole_and_what_has_none_for_itself() {
    let mut explanation = fixture("musl");
    let finding = |id: &str, cost_us, phase, part_of: Option<&str>| Finding {
        id: id.to_owned(),
        cause: format!("{cost_us} µs: the cause of {id}"),
        evidence: vec!["a figure".to_owned(), "a figure ".repeat(12)],
        cost_us: Reading::Value(cost_us),
        phase: Some(phase),
        part_of: part_of.map(str::to_owned),
        remedy: "what to do ".repeat(9),
    };
    explanation.findings = vec![
        finding("relocations", 90.0, Phase::Relocate, None),
        finding("page-faults", 70.0, Phase::Main, None),
        finding("page-faults", 60.0, Phase::Relocate, Some("relocations")),
        finding("waits", 5.0, Phase::Relocate, Some("relocations")),
        finding("waits", 4.0, Phase::Exit, Some("exit")),
    ];
    explanation.untraced_cpu_us = Reading::Value(1234.0);
    explanation.waits = Reading::Value(Waits { total_us: 9.0, calls: Vec::new() });
    explanation.modules[0].merged = vec!["libz.so.1".to_owned()];
    insta::assert_snapshot!("parts", view(&explanation, &PLAIN, SOME));
}

/// The musl program as a bundle of one library.
fn bundle(started_original: bool) -> Explanation {
    let mut explanation = fixture("musl");
    let path = explanation.processes[0].path.clone();
    explanation.processes[0].bundle_of = Some("/usr/bin/original".to_owned());
    explanation.bundles = vec![BundleReport {
        path: path.clone(),
        original: Some("/usr/bin/original".to_owned()),
        libraries: 1,
        started_original,
        difference: started_original.then(|| BundleDifference {
            subject: "/lib/libz.so.1".to_owned(),
            reason: "/lib/libz.so.1 is not what it was".to_owned(),
            variable: false,
        }),
        check_us: Reading::Value(12.0),
        read_ahead_us: Some(Reading::unavailable("it was not seen", "")),
        remains: None,
    }];
    let mut merged = explanation.modules[0].clone();
    merged.path = "/lib/libz.so.1".to_owned();
    merged.merged_in = Some(path.clone());
    merged.init_us = Reading::Value(50.0);
    merged.work = Some(PartWork { relocations: 9, ..PartWork::default() });
    explanation.modules = vec![ModuleReport { path, ..explanation.modules[0].clone() }, merged];
    explanation
}

#[test]
fn a_bundle_has_the_name_of_its_original_and_its_libraries_have_rows() {
    let text = view(&bundle(false), &PLAIN, SOME);
    assert!(text.contains("\n  original (bundle) "), "{text}");
    let row = text.lines().find(|line| line.starts_with("  + libz.so.1 ")).unwrap();
    assert!(row.contains(" 50 µs ") && row.ends_with(" 9"), "{row}");
    assert!(text.contains("\n  + merged into the bundle, which is mapped"), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = "Bundle 1 library merged; its check at the start 12 µs of initialize; the time of \
                reading ahead is unavailable: it was not seen Page faults";
    assert!(flat.contains(line), "{text}");
    assert!(!text.contains("Stale"), "{text}");
}

/// What remains of its start.
fn remains() -> BundleRemains {
    let pages =
        |relocate, initialize| Reading::Value(CopiedPages { relocate, initialize, main: Some(2) });
    let work = |relocations, initializers| PartWork {
        relocations,
        symbolic_relocations: 0,
        relocated_pages: 3,
        initializers,
    };
    let row = |path: Option<&str>, work, copied| LibraryRemains {
        path: path.map(str::to_owned),
        work,
        copied,
        relocate_us: Reading::Value(150.0),
        init_us: Reading::Value(50.0),
        finalizers: 1,
        finalize_us: Reading::Value(2.0),
    };
    BundleRemains {
        fixed: false,
        starts: 2,
        start_us: 900.0,
        exec_us: 80.0,
        kernel_parts: Reading::Value(12),
        map_parts_us: Reading::Value(9.0),
        parts: Reading::Value(31),
        relocate_us: Reading::Value(300.0),
        work: PartWork { symbolic_relocations: 4, ..work(1009, 7) },
        adjusts_itself: 5,
        found_functions: 44,
        copied: pages(1200, 30),
        copy_us: Reading::Value(120.0),
        init_us: Reading::Value(50.0),
        exit_us: 70.0,
        finalizers: 1,
        loader_finalizers: 2,
        finalize_us: Reading::Value(2.0),
        free_us: Reading::Value(40.0),
        by_library: vec![
            row(Some("/lib/libz.so.1"), work(1000, 7), pages(1199, 29)),
            row(None, work(9, 0), pages(1, 1)),
        ],
    }
}

#[test]
fn what_a_start_of_a_bundle_still_does_is_told_by_phase_and_by_library() {
    let mut explanation = bundle(false);
    explanation.bundles[0].remains = Some(Box::new(remains()));
    let of = |explanation: &Explanation| {
        let text = view(explanation, &PLAIN, SOME);
        let (_, text) = text.split_once("What each start").unwrap();
        text.split_once("\nPage faults").unwrap().0.to_owned()
    };
    insta::assert_snapshot!("remains", of(&explanation));
    let known = explanation.bundles[0].remains.as_mut().unwrap();
    let missing = || Reading::unavailable("ptrace is not permitted", "");
    (known.kernel_parts, known.parts) = (missing().map(|()| 0), missing().map(|()| 0));
    known.copied = missing().map(|()| CopiedPages::default());
    for us in [&mut known.map_parts_us, &mut known.copy_us, &mut known.init_us] {
        *us = missing().map(|()| 0.0);
    }
    (known.free_us, known.finalize_us) = (missing().map(|()| 0.0), missing().map(|()| 0.0));
    for row in &mut known.by_library {
        row.copied = missing().map(|()| CopiedPages::default());
        row.relocate_us = missing().map(|()| 0.0);
    }
    insta::assert_snapshot!("remains_unavailable", of(&explanation));
}

#[test]
fn that_a_bundle_did_not_run_is_said_before_all_else() {
    let text = view(&bundle(true), &PLAIN, SOME);
    let first = text.split("\n\n").next().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    let path = &bundle(true).bundles[0].path;
    let why = "/lib/libz.so.1 is not what it was";
    let said = format!("Stale bundle: {path} did not run, but started /usr/bin/original: {why}");
    assert_eq!(first, said);
    assert!(!text.contains("\nBundle "), "{text}");
}

#[test]
fn called_functions_are_a_line_where_they_were_recorded() {
    let mut explanation = fixture("musl");
    assert!(!view(&explanation, &PLAIN, SOME).contains("Functions"));
    let caveat = "the program is set-user-ID".to_owned();
    let source = Source { figures: "functions".to_owned(), mechanism: "none".to_owned(), caveat };
    explanation.sources.push(source);
    let text = view(&explanation, &PLAIN, SOME);
    assert!(text.contains("Functions    unavailable: see below"), "{text}");
    assert!(text.contains("functions unavailable: the program is set-user-ID"), "{text}");
    let calls = ModuleCalls {
        path: "/bin/p".to_owned(),
        watched: Some(5000),
        called: 1234,
        called_bytes: 99,
        touched_pages: 1,
        floor_pages: 1,
    };
    let modules = vec![CalledModule { calls, ordered: None }; 2];
    let code = CalledCode { watched: 10_000, modules, notes: Vec::new() };
    explanation.called_code = Reading::Value(code);
    let text = view(&explanation, &PLAIN, SOME);
    let line = "Functions    2,468 of 10,000 called, in 2 pages (fewest possible: 2)\n";
    assert!(text.contains(line), "{text}");
}

#[test]
fn only_a_traced_launch_is_called_one() {
    let mut explanation = fixture("musl");
    assert!(view(&explanation, &PLAIN, SOME).contains(" traced launch, "));
    "LD_DEBUG".clone_into(&mut explanation.sources[0].mechanism);
    let text = view(&explanation, &PLAIN, SOME);
    assert!(text.contains(" launch with the loader's log, "), "{text}");
    "none".clone_into(&mut explanation.sources[0].mechanism);
    let text = view(&explanation, &PLAIN, SOME);
    assert!(!text.contains("traced launch, "), "{text}");
    assert!(text.contains("untraced launches"), "{text}");
}

#[test]
fn a_reason_is_given_once() {
    let mut explanation = nothing();
    let reason = "ptrace is not permitted; docker run --cap-add SYS_PTRACE";
    explanation.sources[0].mechanism = "LD_DEBUG".to_owned();
    explanation.sources[0].caveat = format!("{reason}; the log shows less");
    let text = view(&explanation, &Style { width: 300, ..PLAIN }, SOME);
    assert_eq!(text.matches("ptrace is not permitted").count(), 1, "{text}");
    let figures = explanation.sources[0].figures.as_str();
    assert!(text.contains(&format!("unavailable: see {figures}")), "{text}");
    assert!(text.contains("Files        unavailable: see below"), "{text}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let mut explanations: Vec<Explanation> = FIXTURES.map(fixture).into();
    explanations.push(nothing());
    let mut bundle = bundle(false);
    bundle.bundles[0].original = Some(format!("/usr/bin/{}", "long".repeat(30)));
    bundle.bundles[0].remains = Some(Box::new(remains()));
    explanations.push(bundle);
    for explanation in &explanations {
        for width in [60, 72, 80, 132] {
            for unicode in [true, false] {
                for line in view(explanation, &Style { width, unicode, ..PLAIN }, SOME).lines() {
                    assert!(line.chars().count() <= width, "{width}: {line}");
                    assert!(unicode || line.is_ascii(), "{line}");
                }
            }
        }
    }
}

#[test]
fn color_changes_nothing_but_color() {
    for explanation in FIXTURES.map(fixture) {
        let colored = view(&explanation, &Style { color: true, ..PLAIN }, SOME);
        assert!(colored.contains("\u{1b}["));
        let mut stripped = String::new();
        let mut escape = false;
        for c in colored.chars() {
            match c {
                '\u{1b}' => escape = true,
                'm' if escape => escape = false,
                _ if escape => {}
                c => stripped.push(c),
            }
        }
        let lines: Vec<&str> = stripped.lines().map(str::trim_end).collect();
        assert_eq!(lines.join("\n") + "\n", view(&explanation, &PLAIN, SOME));
    }
}

#[test]
fn all_lists_every_module_and_the_limit_counts_the_rest() {
    let explanation = fixture("inkscape");
    let all = view(&explanation, &Style { width: 132, ..PLAIN }, None);
    for module in &explanation.modules {
        let name = module.path.rsplit('/').next().unwrap();
        assert!(all.contains(name), "{name}");
    }
    let some = view(&explanation, &PLAIN, SOME);
    assert!(some.contains(&format!("  {} more ", explanation.modules.len() - 10)));
    assert!(some.contains(&format!("  all {} ", explanation.modules.len())));
}

#[test]
fn a_command_that_runs_again_and_again_is_one_row() {
    let mut explanation = fixture("soffice");
    let mut again = explanation.processes[1].clone();
    again.started_us = explanation.total_us * 0.9;
    again.ended_us = explanation.total_us;
    again.charged_us = 1_000_000.0;
    explanation.processes.extend([again.clone(), again]);
    let text = view(&explanation, &PLAIN, SOME);
    let row = text.lines().find(|line| line.contains("3 × dirname")).unwrap();
    assert!(row.ends_with("2.00 s"), "{row}");
    // Alive at its first start and again at the end.
    let line = row.trim_end_matches("2.00 s").trim_end();
    assert!(line.contains("━ ") && line.ends_with('━'), "{row}");
    assert_eq!(text.matches("dirname /usr/bin/soffice").count(), 1, "{text}");
}

#[test]
fn what_is_charged_nothing_is_explained() {
    let mut explanation = fixture("soffice");
    let said = "one that sleeps in the background is not";
    assert!(!view(&explanation, &PLAIN, SOME).contains(said));
    explanation.processes[1].charged_us = 0.0;
    let wide = Style { width: 120, ..PLAIN };
    assert!(view(&explanation, &wide, SOME).contains(said));
}

#[test]
fn names_cannot_move_the_cursor() {
    let mut explanation = fixture("musl");
    explanation.command.argv.push("\u{1b}[2J".into());
    explanation.modules[0].path = "/tmp/\u{1b}]0;x\u{7}".to_owned();
    explanation.findings[0].evidence.push("\u{1b}[1A".to_owned());
    explanation.processes[0].notes.push("\r\n\u{9b}5A".to_owned());
    let text = view(&explanation, &PLAIN, SOME);
    assert!(text.chars().all(|c| c == '\n' || !c.is_control()), "{text}");
}
