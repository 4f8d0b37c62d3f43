//! What the check costs: starts that end after it, with many files to look at and with none.

use super::Bench;
use super::bundles::{self, Bundle};
use super::root::Root;
use crate::report::Row;
use anyhow::{Context as _, Result};
use std::process::Stdio;
use std::time::Instant;

const STARTS: usize = 1000;
/// The share of the fastest of which the slowest counts.
const FASTEST: f64 = 0.02;
/// Paths looked at for which that many starts are enough to tell.
const ENOUGH: f64 = 50.0;
const MOST_US: f64 = 2.0;

pub fn rows(bench: &Bench) -> Result<Vec<Row>> {
    let made = bundles::made(bench)?;
    let of = |program| {
        let all = Bundle::all().into_iter();
        let kinds = ["sealed", "image", "host", "sealed"];
        let find =
            |name: &str| all.clone().find(|one| one.program == program && one.form.name == name);
        kinds.map(find)
    };
    let mut rows = Vec::new();
    for program in bundles::PROGRAMS {
        let found = of(program);
        let [Some(sealed), Some(image), Some(host), Some(again)] = found else { continue };
        let times = times(&made, &[&sealed, &image, &host, &again])?;
        for (kind, us) in [(&image, times[1]), (&host, times[2])] {
            let paths = paths(&kind.start(&made)?.told)?;
            let each = (us - times[0]) / paths;
            let value = format!("{paths} paths, {:.0} µs, {each:.2} µs a path", us - times[0]);
            let figure = format!("{}: the check takes", kind.name());
            let beside = format!("one bundle twice {:.0} µs", times[3] - times[0]);
            rows.push(
                match paths >= ENOUGH {
                    true => Row::bar(figure, value, "≤ 2 µs a path", each <= MOST_US),
                    false => Row::shown(figure, value),
                }
                .beside(beside),
            );
        }
    }
    Ok(rows)
}

/// Microseconds of starts that take turns and end when the check has answered.
fn times(made: &Root, bundles: &[&Bundle]) -> Result<Vec<f64>> {
    let mut times = vec![Vec::new(); bundles.len()];
    // Each follows each of the others as often: one that follows itself finds more in the caches.
    let orders = orders(bundles.len());
    for order in (0..STARTS).map(|start| &orders[start % orders.len()]) {
        for &which in order {
            let mut command = made.command(&bundles[which].run());
            command.env("HEADSTART_TRACE", "verify").stdout(Stdio::null()).stderr(Stdio::null());
            let begin = Instant::now();
            command.status()?;
            times[which].push(begin.elapsed().as_secs_f64() * 1e6);
        }
    }
    Ok(times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[(times.len() as f64 * FASTEST) as usize]
        })
        .collect())
}

/// All orders of so many.
fn orders(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else { return vec![Vec::new()] };
    let shorter = orders(last).into_iter();
    let with_last = shorter.flat_map(|order| {
        (0..count).map(move |at| {
            let mut longer = order.clone();
            longer.insert(at, last);
            longer
        })
    });
    with_last.collect()
}

/// From 'check image: 139 paths and'.
fn paths(told: &str) -> Result<f64> {
    let before = told.split(" paths and ").next().unwrap_or_default();
    let number = before.rsplit(' ').next().unwrap_or_default();
    number.parse().with_context(|| format!("no number of paths in '{told}'"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn all_orders_are_different() {
        let orders = super::orders(4);
        let different: std::collections::BTreeSet<_> = orders.iter().collect();
        assert_eq!((orders.len(), different.len()), (24, 24));
        assert!(orders.iter().all(|order| order.iter().sum::<usize>() == 6));
    }

    #[test]
    fn the_number_of_paths_is_read() {
        let told = "headstart: /r: the bundle is used (check image: 139 paths and 2 build-ids at";
        assert_eq!(super::paths(told).unwrap(), 139.0);
        assert!(super::paths("something else").is_err());
    }
}
