//! What the check costs: starts that end after it, with all that it looks at, and without a look at any file.

use super::Bench;
use super::bundles::{self, Bundle};
use super::root::Root;
use crate::report::Row;
use anyhow::{Context as _, Result};
use std::process::Stdio;
use std::time::Instant;

const ROUNDS: usize = 720;
/// The share of the fastest starts of which the slowest counts.
const FASTEST: f64 = 0.1;
/// Paths looked at for which that many starts are enough to tell.
const ENOUGH: f64 = 50.0;
const MOST_US: f64 = 2.0;
/// With it a bundle is stale before it looks at files; the loader sees that no library is named.
const STALE: (&str, &str) = ("LD_PRELOAD", " ");

pub fn rows(bench: &Bench) -> Result<Vec<Row>> {
    let made = bundles::made(bench)?;
    let mut rows = Vec::new();
    for program in bundles::PROGRAMS {
        let of_kind = |kind| {
            Bundle::all().into_iter().find(|one| (one.program, one.form.name) == (program, kind))
        };
        let kinds: Vec<Bundle> =
            ["image", "host", "sealed"].into_iter().filter_map(of_kind).collect();
        for (kind, us) in kinds.iter().zip(times(&made, &kinds)?) {
            let figure = format!("{}: the looks of a check take", kind.name());
            let told = kind.start(&made)?.told;
            rows.push(match paths(&told)? {
                0.0 => Row::shown(figure, format!("0 paths, {us:.0} µs")),
                paths => {
                    let each = us / paths;
                    let value = format!("{paths} paths, {us:.0} µs, {each:.2} µs a path");
                    match paths >= ENOUGH {
                        true => Row::bar(figure, value, "≤ 2 µs a path", each <= MOST_US),
                        false => Row::shown(figure, value),
                    }
                }
            });
        }
    }
    Ok(rows)
}

/// Microseconds that the looks of each bundle take, of starts in all orders.
fn times(made: &Root, bundles: &[Bundle]) -> Result<Vec<f64>> {
    let starts: Vec<(usize, bool)> =
        (0..bundles.len()).flat_map(|which| [(which, true), (which, false)]).collect();
    let mut times = vec![Vec::new(); starts.len()];
    let orders = orders(starts.len());
    for order in (0..ROUNDS).map(|round| &orders[round % orders.len()]) {
        for &at in order {
            let (which, looks) = starts[at];
            let mut command = made.command(&bundles[which].run());
            command.env("HEADSTART_TRACE", "verify").stdout(Stdio::null()).stderr(Stdio::null());
            if !looks {
                command.env(STALE.0, STALE.1);
            }
            let begin = Instant::now();
            command.status()?;
            times[at].push(begin.elapsed().as_secs_f64() * 1e6);
        }
    }
    let fast = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[(times.len() as f64 * FASTEST) as usize]
    };
    let fast: Vec<f64> = times.iter_mut().map(fast).collect();
    Ok(fast.chunks_exact(2).map(|pair| pair[0] - pair[1]).collect())
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
