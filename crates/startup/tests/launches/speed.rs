//! What the preamble costs a launch: run alone, on a quiet machine, with
//! `cargo test --release -p startup --test launches -- --ignored --nocapture`.

use crate::bench::{Bench, launch, named};
use startup::{FileRecord, Tables};
use std::process::Command;

const LAUNCHES: usize = 201;
/// The most that the preamble may cost when nothing has changed, with a handful of records.
const BAR_NS: u64 = 15_000;

/// Least and median time of the preamble, from its own launches.
fn times_ns(bench: &Bench, change: impl Fn(&mut Command)) -> (u64, u64) {
    let time = |_| {
        let mut command = bench.command(&["time"]);
        change(&mut command);
        launch(&mut command).stdout.trim().parse().unwrap()
    };
    let mut times: Vec<u64> = (0..LAUNCHES).map(time).collect();
    times.sort_unstable();
    (times[0], times[LAUNCHES / 2])
}

/// What other work of the machine adds is not the preamble's: the least of many launches counts.
#[test]
#[ignore = "times need a quiet machine"]
fn the_bar_and_the_cost_of_a_record() {
    let Some(bench) = Bench::new() else { return };
    let library = |number| bench.write(&format!("library{number}"), "library");
    let all: Vec<FileRecord> = (0..500).map(|n| FileRecord::of(&library(n)).unwrap()).collect();
    let tables = Tables { original: "/bin/program".into(), ..bench.tables() };
    let mut least = Vec::new();
    for count in [0, 8, 137, 500] {
        bench.install(&Tables { must: all[..count].to_vec(), ..tables.clone() });
        let (minimum, median) = times_ns(&bench, |_| ());
        eprintln!("{count} records: {minimum} ns at least, {median} ns as a rule");
        least.push(minimum);
    }
    eprintln!("{} ns a record of a folder", (least[3] - least[1]) / 492);
    assert!(least[1] <= BAR_NS, "{least:?}");

    let apart: Vec<FileRecord> =
        ["/lib64", "/etc/ld.so.cache", "/usr/lib/x86_64-linux-gnu/libc.so.6"]
            .into_iter()
            .chain([
                "/usr/lib",
                "/usr/bin/env",
                "/usr/local/lib",
                "/usr/share",
                "/usr/lib/x86_64-linux-gnu",
            ])
            .map(|path| FileRecord::of(path.as_ref()).unwrap())
            .collect();
    bench.install(&Tables { must: apart, ..tables.clone() });
    let (minimum, median) = times_ns(&bench, |_| ());
    eprintln!("8 records of many folders: {minimum} ns at least, {median} ns as a rule");
    assert!(minimum <= BAR_NS);

    bench.install(&tables);
    let crowd = |command: &mut Command| {
        command.envs((0..60).map(|number| (format!("LC_{number}"), "a value of thirty letters")));
    };
    let (minimum, _) = times_ns(&bench, crowd);
    eprintln!("60 variables: {minimum} ns at least");
    let (minimum, _) = times_ns(&bench, |command| _ = named(command, "run"));
    eprintln!("arguments moved: {minimum} ns at least");
}
