//! What remains of the start of a bundle.

use super::*;
use model::{BundleContents, BundleRemains, BundleReport, CopiedPages, LibraryRemains, PartWork};

fn library(path: Option<&str>, pages: u64, init_us: f64, initializers: u64) -> LibraryRemains {
    let work = PartWork { relocated_pages: pages, initializers, ..PartWork::default() };
    LibraryRemains {
        path: path.map(str::to_owned),
        work,
        copied: Reading::Value(CopiedPages { relocate: pages, initialize: 0, main: None }),
        relocate_us: missing(),
        init_us: Reading::Value(init_us),
        finalizers: 0,
        finalize_us: missing(),
    }
}

/// A start of 2 ms: 900 µs of copies, 100 µs of adjusting, 600 µs of initializers, 10 µs of mapping.
fn remains(fixed: bool) -> BundleRemains {
    let relocations = if fixed { 5 } else { 5005 };
    BundleRemains {
        fixed,
        starts: 1,
        start_us: 2000.0,
        exec_us: 200.0,
        kernel_parts: Reading::Value(9),
        map_parts_us: Reading::Value(10.0),
        parts: Reading::Value(30),
        relocate_us: Reading::Value(1000.0),
        work: PartWork {
            relocations,
            symbolic_relocations: 5,
            relocated_pages: 1001,
            initializers: 12,
        },
        adjusts_itself: 0,
        found_functions: 3,
        copied: Reading::Value(CopiedPages { relocate: 1001, initialize: 0, main: None }),
        copy_us: Reading::Value(900.0),
        init_us: Reading::Value(600.0),
        exit_us: 100.0,
        finalizers: 2,
        loader_finalizers: 1,
        finalize_us: Reading::Value(20.0),
        free_us: Reading::Value(30.0),
        by_library: vec![
            library(Some("/lib/libfat.so.1"), 900, 100.0, 11),
            library(Some("/lib/libslow.so.2"), 100, 500.0, 1),
            library(None, 1, 0.0, 0),
        ],
    }
}

fn case(fixed: bool, path: &str) -> Case {
    let mut case = quiet();
    case.explanation.bundles = vec![BundleReport {
        path: path.to_owned(),
        original: Some("/bin/p".to_owned()),
        libraries: 2,
        started_original: false,
        difference: None,
        check_us: Reading::Value(99.0),
        read_ahead_us: None,
        remains: Some(Box::new(remains(fixed))),
    }];
    let contents = BundleContents {
        original: Some("/bin/p".to_owned()),
        folder: Some("/b".to_owned()),
        ..BundleContents::default()
    };
    case.inputs.contents.insert(path.to_owned(), contents);
    case
}

#[test]
fn the_biggest_parts_of_a_start_are_told_first() {
    let mut case = case(false, "/b/run");
    case.explanation.modules = vec![module("/lib/l.so", [100.0, 1000.0, 90.0])];
    let found = listed(&case);
    let ids: Vec<&str> = found.iter().map(|finding| finding.id.as_str()).collect();
    assert_eq!(ids, ["bundle-start", "relocations"]);
    let finding = &found[0];
    assert_eq!(finding.cause, "the start of the bundle p, up to main, takes 2.00 ms");
    let expected = [
        "about 900 µs: 1,001 pages are copied because relocations write to them; most are of \
         libfat.so.1",
        "600 µs: 12 initializers of libraries run, most of this time for libslow.so.2",
        "about 100 µs: 5,000 addresses adjusted and 5 references bound by name, without these copies",
    ];
    assert_eq!(finding.evidence, expected);
    // Its phases have costs of their own.
    assert_eq!(finding.cost_us.get(), None);
    let again = ExplainAdvice::RenewBundle {
        folder: "/b".to_owned(),
        program: "/bin/p".to_owned(),
        fixed: true,
    };
    assert!(finding.remedy.contains(&unworded(again)), "{}", finding.remedy);
}

#[test]
fn fixed_addresses_are_advised_only_where_they_change_something() {
    for (case, expected) in [
        (case(true, "/b/run"), false),
        // It stands in the place of its program.
        (case(false, "/b/p"), false),
        (case(false, "/b/run"), true),
    ] {
        let finding = &run(&case)["bundle-start"];
        assert_eq!(finding.remedy.contains("RenewBundle"), expected, "{}", finding.remedy);
    }
    // Nothing is adjusted, or that takes no time.
    for change in [
        |remains: &mut BundleRemains| remains.work.relocations = 5,
        |remains: &mut BundleRemains| remains.relocate_us = Reading::Value(90.0),
    ] {
        let mut case = case(false, "/b/run");
        change(case.explanation.bundles[0].remains.as_mut().unwrap());
        assert!(!run(&case)["bundle-start"].remedy.contains("ASLR"));
    }
}

#[test]
fn a_start_of_which_nothing_is_known_has_no_parts() {
    let mut case = case(true, "/b/run");
    let report = case.explanation.bundles[0].remains.as_mut().unwrap();
    report.starts = 3;
    for us in [&mut report.copy_us, &mut report.init_us, &mut report.map_parts_us] {
        *us = missing();
    }
    case.explanation.bundles[0].check_us = missing();
    let finding = &run(&case)["bundle-start"];
    assert_eq!(finding.cause, "the 3 starts of the bundle p, up to main, take 2.00 ms");
    assert_eq!(
        finding.evidence,
        ["nothing that the bundle itself is known to do takes 5 % of that"]
    );
    assert_eq!(finding.remedy, "What takes the rest of the time is in the other findings.");
}

#[test]
fn what_a_bundle_adjusts_itself_is_counted_as_what_the_loader_adjusts() {
    let mut case = case(false, "/bin/p");
    let mut bundle = module("/bin/p", [0.0, 1000.0, 0.0]);
    bundle.facts = Reading::Value(ElfFacts { bind_now: true, ..facts() });
    bundle.merged = vec!["libfat.so.1".to_owned()];
    case.explanation.modules = vec![bundle];
    let contents = case.inputs.contents.get_mut("/bin/p").unwrap();
    // All of them are among the facts, as long as the file has its sections.
    contents.adjusts_itself = 1000;
    contents.work = Some(PartWork { relocated_pages: 44, ..PartWork::default() });
    let finding = &run(&case)["relocations"];
    let evidence = ["p: 1.00 ms; 500 symbols, 1,000 addresses, 44 pages"];
    assert_eq!(finding.evidence[..1], evidence);
    case.inputs.contents.get_mut("/bin/p").unwrap().adjusts_itself = 5000;
    let finding = &run(&case)["relocations"];
    let cause = "10 % of the launch (1.00 ms): 500 symbol references bound and 5,000 addresses \
                 adjusted in the program";
    assert_eq!(finding.cause, cause);
    let evidence = ["p: 1.00 ms; 500 symbols, 5,000 addresses, 44 pages"];
    assert_eq!(finding.evidence[..1], evidence);
}
