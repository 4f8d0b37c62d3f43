//! The work of every size of a sweep, counted within its budget.

use super::LeftOut;
use crate::Stop;
use model::{Command, figures};
use std::time::Duration;

/// Counts the work of the sizes of a sweep.
pub trait Counting<E> {
    /// The command for a size; called only when the size's turn has come.
    fn make(&mut self, n: u64) -> Result<Command, E>;
    /// The count of one launch; `None` where it was not over after `limit`.
    fn count(&mut self, command: &Command, limit: Duration) -> Result<Option<u64>, E>;
    /// Keeps what has been counted so far, after each size.
    fn keep(&mut self, counts: &[(u64, u64)]) -> Result<(), E>;
    /// Seconds since the sweep began.
    fn elapsed_s(&self) -> f64;
    /// Whether the user wants to stop.
    fn interrupted(&self) -> bool;
}

/// The median of so many counts stands for a size: one that a random event met does not matter.
const COUNTS: usize = 3;
/// One that took longer is not made again.
const QUICK_S: f64 = 1.0;

/// Counts every size (ascending) that `counts` does not hold yet, within `budget_s`. Gives why it
/// ended, and what was left out.
///
/// # Errors
/// Those of `counting`; what was counted until then is in `counts`.
pub fn count_all<E>(
    sizes: &[u64],
    budget_s: f64,
    counts: &mut Vec<(u64, u64)>,
    counting: &mut dyn Counting<E>,
) -> Result<(Stop, Option<LeftOut>), E> {
    let missing: Vec<u64> =
        sizes.iter().copied().filter(|n| counts.iter().all(|(other, _)| other != n)).collect();
    for (index, &n) in missing.iter().enumerate() {
        if counting.interrupted() {
            return Ok((Stop::Interrupted, None));
        }
        let command = counting.make(n)?;
        let left_s = budget_s - counting.elapsed_s();
        match count(&command, left_s, counting)? {
            Some(count) => {
                counts.push((n, count));
                counts.sort_unstable();
                counting.keep(counts)?;
            }
            None if counting.interrupted() => return Ok((Stop::Interrupted, None)),
            None => {
                let left = figures::duration(left_s.max(0.0) * 1e6);
                let why = format!(
                    "a counted launch did not finish in the {left} that remained of {budget_s} s"
                );
                let left_out = LeftOut { sizes: missing[index..].to_vec(), why };
                return Ok((Stop::Budget, Some(left_out)));
            }
        }
    }
    Ok((Stop::Rounds, None))
}

fn count<E>(
    command: &Command,
    left_s: f64,
    counting: &mut dyn Counting<E>,
) -> Result<Option<u64>, E> {
    let deadline_s = counting.elapsed_s() + left_s;
    let mut found = Vec::new();
    while found.len() < COUNTS {
        let began_s = counting.elapsed_s();
        let limit = Duration::try_from_secs_f64(deadline_s - began_s).unwrap_or(Duration::ZERO);
        if limit.is_zero() {
            break;
        }
        let Some(count) = counting.count(command, limit)? else { break };
        found.push(count);
        if counting.elapsed_s() - began_s > QUICK_S {
            break;
        }
    }
    found.sort_unstable();
    Ok(found.get(found.len().saturating_sub(1) / 2).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts n² in n seconds; every second count is one too high.
    #[derive(Default)]
    struct Clock {
        now_s: f64,
        made: Vec<u64>,
        launches: u64,
        kept: usize,
        interrupt_after: Option<u64>,
    }

    impl Counting<String> for Clock {
        fn make(&mut self, n: u64) -> Result<Command, String> {
            self.made.push(n);
            let argv = vec![n.to_string().into()];
            let program = "/p".into();
            Ok(Command { argv, program, directory: None, environment: Vec::new() })
        }

        fn count(&mut self, command: &Command, limit: Duration) -> Result<Option<u64>, String> {
            let n: u64 = command.name().parse().map_err(|_| "no number".to_owned())?;
            self.now_s += (n as f64).min(limit.as_secs_f64());
            self.launches += 1;
            Ok((n as f64 <= limit.as_secs_f64()).then_some(n * n + self.launches % 2))
        }

        fn keep(&mut self, counts: &[(u64, u64)]) -> Result<(), String> {
            self.kept = counts.len();
            Ok(())
        }

        fn elapsed_s(&self) -> f64 {
            self.now_s
        }

        fn interrupted(&self) -> bool {
            self.interrupt_after.is_some_and(|launches| self.launches >= launches)
        }
    }

    #[test]
    fn the_median_stands_for_a_size_and_slow_ones_are_counted_once() {
        let (mut clock, mut counts) = (Clock::default(), Vec::new());
        let (stop, note) = count_all(&[0, 1, 5], 60.0, &mut counts, &mut clock).unwrap();
        assert_eq!((stop, note), (Stop::Rounds, None));
        assert_eq!(counts, [(0, 1), (1, 1), (5, 26)]);
        assert_eq!((clock.launches, clock.kept), (7, 3));
    }

    #[test]
    fn what_is_known_is_not_counted_again() {
        let (mut clock, mut counts) = (Clock::default(), vec![(1, 1), (5, 25)]);
        count_all(&[1, 3, 5], 60.0, &mut counts, &mut clock).unwrap();
        assert_eq!(clock.made, [3]);
        assert_eq!(counts, [(1, 1), (3, 10), (5, 25)]);
    }

    #[test]
    fn the_budget_and_the_user_end_it() {
        let (mut clock, mut counts) = (Clock::default(), Vec::new());
        let (stop, note) = count_all(&[2, 50, 90, 95], 60.0, &mut counts, &mut clock).unwrap();
        assert_eq!((stop, counts.len()), (Stop::Budget, 2));
        assert!(note.unwrap().to_string().contains("n = 90, 95 are left out"));
        assert!(clock.now_s <= 60.0);
        let mut clock = Clock { interrupt_after: Some(1), ..Clock::default() };
        let mut counts = Vec::new();
        let (stop, _) = count_all(&[2, 3], 60.0, &mut counts, &mut clock).unwrap();
        assert_eq!((stop, counts.len()), (Stop::Interrupted, 1));
    }
}
