//! Which sizes of a sweep fit into its budget: each is tried once.

use super::{LEAST_ROUNDS, LeftOut, WARM_UP_ROUNDS};
use model::{Command, figures};
use std::time::Duration;

/// Makes and tries the sizes of a sweep, smallest first.
pub trait Trying<E> {
    /// The command for a size; called only when the size's turn has come, so that what is left
    /// out is never generated.
    fn make(&mut self, n: u64) -> Result<Command, E>;
    /// Seconds of one launch; `None` where it was not over after `limit`.
    fn attempt(&mut self, command: &Command, limit: Duration) -> Result<Option<f64>, E>;
    /// Seconds since the sweep began.
    fn elapsed_s(&self) -> f64;
}

/// What fits into the budget.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// Sizes in ascending order, each with its command.
    pub variants: Vec<(u64, Command)>,
    /// What was left out, and why.
    pub left_out: Option<LeftOut>,
}

/// A first launch reads files from storage; one this quick is made once more to know better.
const QUICK_S: f64 = 0.2;
/// Launches that every size makes at least after it was tried.
const LAUNCHES: f64 = (LEAST_ROUNDS + WARM_UP_ROUNDS) as f64;

/// Tries the sizes (ascending) in turn, as long as the least number of rounds of all of them
/// stays within `budget_s`. The first that would take too long ends it: larger ones take longer.
///
/// # Errors
/// Those of `trying`.
pub fn choose<E>(sizes: &[u64], budget_s: f64, trying: &mut dyn Trying<E>) -> Result<Chosen, E> {
    let mut chosen = Chosen::default();
    let mut round_s = 0.0;
    for (index, &n) in sizes.iter().enumerate() {
        let command = trying.make(n)?;
        let left_s = budget_s - trying.elapsed_s();
        let limit_s = (left_s - LAUNCHES * round_s) / (LAUNCHES + 1.0);
        let Some(took_s) = attempt(&command, limit_s, trying)? else {
            let why = if limit_s > 0.0 {
                let limit = figures::duration(limit_s * 1e6);
                format!("a launch at n = {n} takes longer than {limit}")
            } else {
                format!("no time is left to try n = {n}")
            };
            let why =
                format!("{why}, and {LEAST_ROUNDS} rounds of all sizes must fit into {budget_s} s");
            chosen.left_out = Some(LeftOut { sizes: sizes[index..].to_vec(), why });
            break;
        };
        round_s += took_s;
        chosen.variants.push((n, command));
    }
    Ok(chosen)
}

fn attempt<E>(
    command: &Command,
    limit_s: f64,
    trying: &mut dyn Trying<E>,
) -> Result<Option<f64>, E> {
    let limit = Duration::try_from_secs_f64(limit_s).unwrap_or(Duration::ZERO);
    if limit.is_zero() {
        return Ok(None);
    }
    match trying.attempt(command, limit)? {
        Some(took_s) if took_s > limit_s => Ok(None),
        Some(took_s) if took_s < QUICK_S => Ok(trying.attempt(command, limit)?.or(Some(took_s))),
        took => Ok(took),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch takes n seconds by a clock of its own; the first launch of a size ten times it.
    struct Clock {
        now_s: f64,
        made: Vec<u64>,
        tried: Vec<u64>,
    }

    impl Trying<String> for Clock {
        fn make(&mut self, n: u64) -> Result<Command, String> {
            self.made.push(n);
            match n {
                13 => Err("thirteen".to_owned()),
                n => Ok(Command {
                    argv: vec![n.to_string().into()],
                    program: "/p".into(),
                    directory: None,
                    environment: Vec::new(),
                }),
            }
        }

        fn attempt(&mut self, command: &Command, limit: Duration) -> Result<Option<f64>, String> {
            let n = command.name().parse::<u64>().unwrap();
            let took = n as f64 * 0.001 * if self.tried.contains(&n) { 1.0 } else { 10.0 };
            self.tried.push(n);
            self.now_s += took.min(limit.as_secs_f64());
            Ok((took <= limit.as_secs_f64()).then_some(took))
        }

        fn elapsed_s(&self) -> f64 {
            self.now_s
        }
    }

    fn clock() -> Clock {
        Clock { now_s: 0.0, made: Vec::new(), tried: Vec::new() }
    }

    #[test]
    fn all_sizes_where_there_is_time() {
        let mut clock = clock();
        let chosen = choose(&[0, 1, 10, 100], 60.0, &mut clock).unwrap();
        let sizes: Vec<u64> = chosen.variants.iter().map(|(n, _)| *n).collect();
        assert_eq!((sizes, chosen.left_out), (vec![0, 1, 10, 100], None));
        // Quick ones twice, as the first launch says little.
        assert_eq!(clock.tried, [0, 0, 1, 1, 10, 10, 100]);
    }

    #[test]
    fn what_takes_too_long_is_left_out_and_never_made() {
        let mut clock = clock();
        let chosen = choose(&[0, 1, 10, 1000, 2000], 20.0, &mut clock).unwrap();
        assert_eq!(chosen.variants.len(), 3);
        assert_eq!(clock.made, [0, 1, 10, 1000]);
        assert!(clock.now_s < 20.0, "{}", clock.now_s);
        let note = chosen.left_out.unwrap().to_string();
        assert!(note.contains("n = 1000, 2000 are left out") && note.contains("20 s"), "{note}");
        let note = choose(&[5000], 20.0, &mut clock).unwrap().left_out.unwrap().to_string();
        assert!(note.contains("n = 5000 is left out"), "{note}");
    }

    #[test]
    fn least_rounds_fit_into_the_budget() {
        for budget_s in [1.0, 3.0, 10.0, 47.0] {
            let mut clock = clock();
            let chosen = choose(&[0, 50, 100, 200, 400, 800], budget_s, &mut clock).unwrap();
            let round: f64 = chosen.variants.iter().map(|(n, _)| *n as f64 * 0.001).sum();
            let spent = clock.now_s + LAUNCHES * round;
            assert!(spent <= budget_s, "{spent} of {budget_s}");
        }
    }

    #[test]
    fn errors_pass() {
        assert_eq!(choose(&[1, 13], 60.0, &mut clock()), Err("thirteen".to_owned()));
    }
}
