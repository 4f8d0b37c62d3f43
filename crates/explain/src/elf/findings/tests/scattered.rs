//! The finding on scattered functions: what it tells, and whom it advises.

use super::*;
use model::{CalledCode, CalledModule, ModuleCalls, OrderForecast};

fn called(path: &str, [touched_pages, pages]: [u64; 2]) -> CalledModule {
    let calls = ModuleCalls {
        path: path.to_owned(),
        watched: Some(9000),
        called: 1500,
        called_bytes: pages * 4096,
        touched_pages,
        floor_pages: pages,
    };
    CalledModule { calls, ordered: Some(OrderForecast { pages, reads_now: 80, reads: 7 }) }
}

fn scattered(modules: Vec<CalledModule>) -> Case {
    let mut case = quiet();
    let code = CalledCode { watched: 9000, modules, notes: Vec::new() };
    case.explanation.called_code = Reading::Value(code);
    case
}

#[test]
fn the_program_is_linked_again_in_one_go_and_other_modules_by_an_order_file() {
    let found = run(&scattered(vec![called("/bin/p", [1000, 200])])).remove("scattered-code");
    let found = found.unwrap();
    assert!(found.cause.contains("in p are spread over 1,000 pages and would fit into 200"));
    assert_eq!(found.evidence.len(), 1);
    let figures = "p: 1,500 functions in 1,000 pages; predicted with an order: 200 pages, and 7 reads \
                   instead of 80 in a cold launch";
    assert_eq!(found.evidence[0], figures);
    assert!(found.remedy.contains("OrderProgram"), "{}", found.remedy);
    assert_eq!((found.cost_us.get(), found.phase), (None, None));
    let found = run(&scattered(vec![called("/lib/l.so", [1000, 200])])).remove("scattered-code");
    let remedy = found.unwrap().remedy;
    assert!(remedy.contains("OrderModule") && remedy.contains("l.so"), "{remedy}");
}

#[test]
fn several_modules_are_one_finding_and_the_first_has_the_most_to_gain() {
    let sizes = [("/lib/a.so", 400), ("/lib/b.so", 900), ("/lib/c.so", 500), ("/lib/d.so", 600)];
    let modules = sizes.map(|(path, pages)| called(path, [pages, 100])).to_vec();
    let found = run(&scattered(modules)).remove("scattered-code").unwrap();
    assert!(
        found.cause.contains("in 4 modules are spread over 2,400 pages and would fit into 400")
    );
    assert!(found.evidence[0].starts_with("b.so: "), "{:?}", found.evidence);
    assert_eq!(found.evidence[3], "1 more: an order would save 300 pages");
    assert!(found.remedy.contains("b.so"), "{}", found.remedy);
}

#[test]
fn what_gains_little_and_what_nobody_links_is_not_told() {
    let told = |case: &Case| run(case).contains_key("scattered-code");
    assert!(!told(&scattered(vec![called("/bin/p", [1000, 950])])));
    assert!(!told(&scattered(vec![called("/lib/libc.so.6", [1000, 200])])));
    let mut bundle = scattered(vec![called("/bin/p", [1000, 200])]);
    assert!(told(&bundle));
    bundle.inputs.bundles.insert("/bin/p".to_owned(), BTreeSet::new());
    assert!(!told(&bundle));
    let mut unknown = bundle;
    unknown.explanation.called_code = missing();
    assert!(!told(&unknown));
}
