//! What could not be recorded is not told as if it had been.

use super::*;

/// A launch that is only known to be off the processor, as in a container.
fn unseen() -> Case {
    let mut case = quiet();
    case.explanation.phases = phases(&[(Phase::Main, 8000.0)]);
    case.explanation.untraced_median_us = Reading::Value(10_000.0);
    case.explanation.untraced_cpu_us = Reading::Value(4500.0);
    case.inputs.untraced_us = vec![10_000.0, 10_000.0];
    case.inputs.untraced_cpu_us = [4500.0, 5000.0].map(Reading::Value).to_vec();
    case
}

#[test]
fn what_no_record_shows_is_not_called_waiting() {
    let own = run(&unseen()).remove("own-code").unwrap();
    let lines = own.evidence.join("\n");
    assert!(!lines.contains(" waiting\n") && !lines.contains("calls that wait"), "{lines}");
    let off = "excluded from main: 5.00 ms off the CPU (waiting, or other programs ran)";
    assert!(own.evidence.contains(&off.to_owned()), "{lines}");
    let missing = "not told apart, as they could not be recorded: waits by their system calls, \
                   look-ups of files and page faults";
    assert!(own.evidence.contains(&missing.to_owned()), "{lines}");
    assert!(!own.remedy.contains("perf record"), "{}", own.remedy);
}

#[test]
fn the_sources_alone_say_why_nothing_is_known() {
    let mut case = unseen();
    let mut program = module("/bin/p", [0.0, 1000.0, 0.0]);
    program.facts = Reading::Value(ElfFacts { needed: vec!["libc.so.6".to_owned()], ..facts() });
    case.explanation.modules = vec![program];
    let found = run(&case);
    assert!(found.contains_key("waits") && found.contains_key("relocations"));
    for line in found.values().flat_map(|finding| &finding.evidence) {
        assert!(!line.contains(NOT_HERE), "{line}");
    }
}

#[test]
fn children_that_no_record_shows_are_not_called_the_program() {
    let mut case = unseen();
    let own = run(&case).remove("own-code").unwrap();
    assert!(own.cause.contains("child processes that the loader's log does not show"), "{own:?}");
    case.inputs.phase_traces = Reading::Value(Vec::new());
    let own = run(&case).remove("own-code").unwrap();
    assert!(own.cause.ends_with("the program's own code, from main to exit"), "{own:?}");
}

#[test]
fn no_advice_needs_what_is_refused() {
    let waits = run(&unseen()).remove("waits").unwrap();
    assert!(!waits.remedy.contains("strace -f"), "{}", waits.remedy);
    assert!(waits.remedy.contains("where ptrace is permitted"), "{}", waits.remedy);
}

#[test]
fn own_code_takes_no_longer_than_untraced_launches_are_on_the_processor() {
    let mut case = quiet();
    // Traced it takes twice as long.
    case.explanation.phases = phases(&[(Phase::Main, 8000.0)]);
    case.explanation.untraced_median_us = Reading::Value(5000.0);
    case.explanation.untraced_cpu_us = Reading::Value(4000.0);
    let found = run(&case);
    // 4 of the 10 ms explained, and so of the 8 ms of main.
    assert_eq!(cost(&found, "own-code"), Some(3200.0));
    let lines = found["own-code"].evidence.join("\n");
    assert!(lines.contains("or tracing made the launch longer"), "{lines}");
}

#[test]
fn a_program_that_never_called_exit_has_no_exit_handlers() {
    let mut case = quiet();
    case.explanation.phases = phases(&[(Phase::Exit, 1200.0)]);
    let finding = run(&case).remove("exit").unwrap();
    assert!(!finding.cause.contains("call of exit"), "{}", finding.cause);
    assert!(!finding.remedy.contains("_exit"), "{}", finding.remedy);
    case.found.exit_called = true;
    let finding = run(&case).remove("exit").unwrap();
    assert!(finding.cause.contains("from the call of exit"), "{}", finding.cause);
    assert!(finding.remedy.contains("_exit"), "{}", finding.remedy);
}

#[test]
fn libraries_that_no_record_names_are_not_counted_as_none() {
    let mut case = quiet();
    let mut program = module("/bin/p", [0.0, 1000.0, 0.0]);
    program.facts = Reading::Value(ElfFacts { needed: vec!["libc.so.6".to_owned()], ..facts() });
    case.explanation.modules = vec![program.clone()];
    let finding = run(&case).remove("relocations").unwrap();
    assert!(finding.cause.ends_with("in the program"), "{}", finding.cause);
    let lines = finding.evidence.join("\n");
    assert!(lines.contains("its libraries are not counted, as no record names them"), "{lines}");
    // A program that needs none misses none.
    program.facts = Reading::Value(facts());
    case.explanation.modules = vec![program];
    let finding = run(&case).remove("relocations").unwrap();
    assert!(!finding.evidence.join("\n").contains("not counted"), "{:?}", finding.evidence);
}

#[test]
fn data_that_is_read_is_no_matter_of_linking() {
    let mut case = quiet();
    case.explanation.faults.major = Reading::Value(0);
    case.explanation.faults.read_bytes = Reading::Value(20 << 20);
    let mut library = module("/lib/l.so", [0.0; 3]);
    library.read_bytes = Reading::Value(1 << 20);
    case.explanation.modules = vec![library.clone()];
    let finding = run(&case).remove("cold-reads").unwrap();
    assert_eq!(finding.cause, "the launch reads 20.0 MiB from storage");
    assert!(!finding.remedy.contains("relocation"), "{}", finding.remedy);
    assert!(finding.evidence.iter().any(|line| line.starts_with("19.0 MiB of files")));
    library.read_bytes = Reading::Value(19 << 20);
    case.explanation.modules = vec![library];
    let finding = run(&case).remove("cold-reads").unwrap();
    assert!(finding.remedy.contains("relocation"), "{}", finding.remedy);
}

#[test]
fn a_main_that_a_busy_machine_keeps_waiting_stands_out() {
    let mut case = quiet();
    case.explanation.phases = phases(&[(Phase::Main, 7700.0)]);
    case.explanation.untraced_median_us = Reading::Value(10_000.0);
    case.explanation.untraced_cpu_us = Reading::Value(300.0);
    case.explanation.waits = Reading::Value(Waits { total_us: 0.0, calls: Vec::new() });
    let finding = run(&case).remove("off-cpu").unwrap();
    assert_eq!(finding.cost_us, Reading::Value(7469.0));
    assert_eq!(finding.phase, Some(Phase::Main));
    let cause =
        "75 % of the launch (7.47 ms): main is off the CPU for reasons that no record shows";
    assert_eq!(finding.cause, cause);
    case.explanation.untraced_cpu_us = Reading::Value(9500.0);
    assert!(!run(&case).contains_key("off-cpu"));
}
