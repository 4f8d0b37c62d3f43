//! Findings on a launch that was made up, with what they need to be told.

use super::*;
use crate::advice::unworded;
use crate::pe::{explain, test_launch};
use model::{DebuggedDll, GuardFacts, PeFlags, Va};

fn found(inputs: &PeInputs) -> Vec<Finding> {
    explain(inputs, unworded).findings
}

fn ids(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.id.as_str()).collect()
}

/// Facts of a file of which only that matters which `change` sets.
fn facts(
    path: &str,
    base: u64,
    change: impl FnOnce(&mut PeFacts),
) -> (String, Result<PeFacts, String>) {
    let mut facts: PeFacts = serde_json::from_value(serde_json::json!({
        "path": path, "kind": "library", "machine": "x86_64", "bits": 64, "file_bytes": 4096,
        "subsystem": "console", "base": base, "size_of_image": 8192, "file_alignment": 512,
        "section_alignment": 4096, "time_stamp": 0, "flags": PeFlags::default(),
        "checksum": { "stored": 0, "computed": 0 }, "sections": [], "relocations": { "DIR64": 7 },
        "relocation_table_bytes": 0, "relocated_pages": 2, "imports": 3, "imports_by_ordinal": 0,
        "delay_imports": 0, "wrong_hints": null, "hints_checked": 0, "imported": [], "exports": 0,
        "ordinals_only": 0, "forwarders": 0, "export_names": 0, "export_name": null, "guard": null,
        "bound": [], "tls": null, "load_configuration_bytes": 0, "debug": [],
        "exception_functions": 0, "certificates": 0, "clr": false, "problems": [],
    }))
    .unwrap();
    change(&mut facts);
    (path.to_owned(), Ok(facts))
}

const OWN: &str = r"D:\libs\own.dll";

#[test]
fn costs_divide_the_launch() {
    let inputs = test_launch::inputs();
    let findings = found(&inputs);
    assert_eq!(ids(&findings)[..2], ["libraries", "initialisers"], "{findings:?}");
    assert!(ids(&findings).contains(&"helper-processes"));
    let sum: f64 = findings.iter().filter_map(|finding| finding.cost_us.get()).sum();
    assert!(sum <= 1100.0, "{sum}");
    let misses = findings.iter().find(|finding| finding.id == "search-misses").unwrap();
    assert_eq!(misses.part_of.as_deref(), Some("libraries"));
    assert!(misses.cause.contains("4 folders were searched"), "{}", misses.cause);
    assert!(!ids(&findings).contains(&"collisions"));
}

#[test]
fn a_dll_at_another_base_is_a_collision_unless_aslr_chose_it() {
    let mut inputs = test_launch::inputs();
    inputs.facts.extend([facts(OWN, 0x1_8000_0000, |_| ())]);
    let findings = found(&inputs);
    let collision = findings.iter().find(|finding| finding.id == "collisions").unwrap();
    assert!(collision.evidence[1].starts_with("7 base relocations are applied, on 2 pages"));
    assert_eq!(collision.remedy, "Give each a base of its own: Rebase.");
    inputs.facts.extend([facts(OWN, 0x1_8000_0000, |facts| facts.flags.dynamic_base = true)]);
    assert!(!ids(&found(&inputs)).contains(&"collisions"));
    // Wine has no ASLR.
    inputs.wine = Some("8.0".to_owned());
    assert!(ids(&found(&inputs)).contains(&"collisions"));
    inputs.facts.extend([facts(OWN, 0x1_9000_0000, |_| ())]);
    assert!(!ids(&found(&inputs)).contains(&"collisions"));
}

#[test]
fn hints_sections_and_guard_tables_are_told() {
    let mut inputs = test_launch::inputs();
    inputs.facts.extend([facts(OWN, 0, |facts| {
        facts.base = Va(0x1_9000_0000);
        facts.wrong_hints = Some(30);
        facts.hints_checked = 90;
        facts.sections = serde_json::from_value(serde_json::json!([{
            "name": ".text", "rva": 4096, "memory_bytes": 100_000, "offset": 1024,
            "file_bytes": 100_000, "access": "rx"
        }]))
        .unwrap();
    })]);
    let guard = GuardFacts {
        functions: 2 * GuardFacts::MANY,
        stride: 0,
        flags: 0,
        sorted: true,
        outside_code: 0,
        bitmap_bytes: 0,
        address_taken_imports: 0,
        long_jump_targets: 0,
        exception_continuations: 0,
    };
    let program = test_launch::PROGRAM;
    inputs.facts.extend([facts(program, 0x1_4000_0000, |facts| facts.guard = Some(guard))]);
    let findings = found(&inputs);
    assert!(!ids(&findings).contains(&"file-alignment"));
    let hints = findings.iter().find(|finding| finding.id == "wrong-hints").unwrap();
    assert!(hints.cause.starts_with("30 of 90 import hints"), "{}", hints.cause);
    let guard = findings.iter().find(|finding| finding.id == "guard").unwrap();
    assert!(guard.evidence[0].contains("about 4.0 times"), "{:?}", guard.evidence);
    inputs.wine = Some("8.0".to_owned());
    assert!(ids(&found(&inputs)).contains(&"file-alignment"));
}

#[test]
fn many_dlls_that_are_loaded_late_are_told() {
    let mut inputs = test_launch::inputs();
    assert!(!ids(&found(&inputs)).contains(&"late-loading"));
    if let Reading::Value(launches) = &mut inputs.debugged {
        let late = |name: &str| DebuggedDll {
            path: format!(r"C:\app\{name}.dll"),
            base: 0,
            loaded_us: 760.0,
            initialized_us: None,
            returned_us: None,
        };
        launches[0].processes[0].dlls.extend(["a", "b"].map(late));
    }
    let findings = found(&inputs);
    let late = findings.iter().find(|finding| finding.id == "late-loading").unwrap();
    assert!(late.cause.starts_with("3 DLLs are loaded"), "{}", late.cause);
}
