//! Time in the loader, by its own account (`LD_DEBUG=statistics`): variants in turns.

use super::variants::{Made, Subject};
use super::{Bar, row};
use crate::context::Context;
use crate::loader_statistics::statistics;
use crate::report::Row;
use crate::statistics::{least, median};
use anyhow::{Context as _, Result};
use os::attend::AttendOptions;

const ROUNDS: usize = 31;

/// A row for each variant: ratio of medians, which is judged, and of the fastest launches.
///
/// # Errors
/// A launch fails or gives no account.
pub fn rows(
    context: &Context,
    subject: &Subject,
    arguments: &[&str],
    bars: &[Bar],
) -> Result<Vec<Row>> {
    let all: Vec<&Made> = subject.all().collect();
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); all.len()];
    for round in 0..=ROUNDS {
        for turn in 0..all.len() {
            // Each comes first as often as the others.
            let at = (turn + round) % all.len();
            let cycles = cycles(all[at], arguments, context.cpu)?;
            // The first round only reads files.
            if round > 0 {
                times[at].push(cycles);
            }
        }
    }
    let [base, base_least] = [median(times[0].clone()), least(&times[0])];
    let figures = all.iter().zip(&times).skip(1).map(|(made, times)| {
        let ratio = median(times.clone()) / base;
        let value = format!("{ratio:.3} (fastest {:.3})", least(times) / base_least);
        let figure = format!("loader, {}, {}", subject.name, made.name);
        row(figure, value, ratio, made, bars)
    });
    Ok(figures.collect())
}

/// What the loader prints, as it is: glibc 2.36 loses a digit, always the same one.
fn cycles(made: &Made, arguments: &[&str], cpu: u32) -> Result<f64> {
    let options = AttendOptions { cpu: Some(cpu), ..AttendOptions::default() };
    let command = made.command(arguments);
    let read = statistics(&command, 1, &options)?;
    let account = read.value().with_context(|| format!("{:?}: {:?}", command, read.reason()))?;
    // Programs that start others come first.
    let first = account.launches.first().and_then(|launch| launch.first());
    let first = first.context("no account")?;
    Ok(first.total_us / f64::from(account.factor))
}
