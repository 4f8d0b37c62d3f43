//! What the guard costs a launch: run alone, on a quiet machine, with
//! `cargo test --release -p os --test startup_guard -- --ignored --nocapture`.

use crate::bench::{Bench, launch};
use os::startup_guard::{Record, Tables};

const LAUNCHES: usize = 201;
/// Of issue 4: when nothing has changed, with a handful of records.
const BAR_NS: u64 = 15_000;

/// Least and median time of the guard, from its own launches.
fn times_ns(bench: &Bench, tables: &Tables) -> (u64, u64) {
    bench.install(tables);
    let time = |_| {
        let launched = launch(&mut bench.command(&["time"]));
        launched.stdout.trim().parse().unwrap()
    };
    let mut times: Vec<u64> = (0..LAUNCHES).map(time).collect();
    times.sort_unstable();
    (times[0], times[LAUNCHES / 2])
}

#[test]
#[ignore = "times need a quiet machine"]
fn the_bar_and_the_cost_of_a_record() {
    let Some(bench) = Bench::new() else { return };
    let library = |number| bench.write(&format!("library{number}"), "library");
    let all: Vec<Record> = (0..500).map(|n| Record::of(&library(n)).unwrap()).collect();
    let environment = bench.tables().environment;
    let tables = Tables { original: "/bin/program".into(), environment, ..bench.tables() };
    let with = |count: usize| Tables { must: all[..count].to_vec(), ..tables.clone() };
    let mut least = Vec::new();
    for count in [0, 8, 137, 500] {
        let (minimum, median) = times_ns(&bench, &with(count));
        eprintln!("{count} records: {minimum} ns at least, {median} ns as a rule");
        least.push((minimum, median));
    }
    let slope = (least[3].1 - least[1].1) as f64 / 492.0;
    eprintln!("{slope:.0} ns a record");
    assert!(least[1].1 <= BAR_NS, "{least:?}");
}
