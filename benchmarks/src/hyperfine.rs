//! hyperfine, the peer: its samples and its verdicts.

use crate::statistics::moments;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::workspace::SET_BY_CARGO;

#[derive(Deserialize)]
struct Export {
    results: Vec<Times>,
}

/// One command's launches.
#[derive(Clone, Debug, Deserialize)]
pub struct Times {
    /// In order, in seconds.
    pub times: Vec<f64>,
}

/// How hyperfine runs.
#[derive(Clone, Copy, Debug)]
pub struct Pinned<'a> {
    /// Where its export is kept.
    pub scratch: &'a Path,
    /// Its CPU, and that of what it launches.
    pub cpu: u32,
    /// Without environment variables.
    pub empty_environment: bool,
}

/// hyperfine without a shell, pinned to one CPU; times of each command in its order.
///
/// # Errors
/// It cannot be run, fails, or writes something else.
pub fn run(pinned: Pinned, runs: u32, commands: &[&str]) -> Result<Vec<Times>> {
    let Pinned { scratch, cpu, empty_environment } = pinned;
    let export = scratch.join("hyperfine.json");
    let program = testkit::find("hyperfine").context("hyperfine is not installed")?;
    let mut command = Command::new("/usr/bin/taskset");
    command.env_remove(SET_BY_CARGO);
    if empty_environment {
        command.env_clear();
    }
    command.args(["-c", &cpu.to_string()]).arg(program);
    command.args(["-N", "--warmup", "5", "--runs", &runs.to_string(), "--export-json"]);
    command.arg(&export).args(commands).stdout(Stdio::null()).stderr(Stdio::null());
    let status = command.status().with_context(|| format!("{command:?} cannot be run"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    let text =
        std::fs::read(&export).with_context(|| format!("{} cannot be read", export.display()))?;
    Ok(serde_json::from_slice::<Export>(&text)?.results)
}

/// How hyperfine compares a second command with a first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Mean ÷ mean.
    pub ratio: f64,
    /// The `±` it prints: standard deviations carried through the division.
    pub plus_minus: f64,
    /// Whether 1 lies outside of `ratio ± plus_minus`.
    pub printed_differs: bool,
    /// Whether the means differ by Welch's test, the one its own `scripts/welch_ttest.py` makes
    /// at the 5 % level. Samples are large: the normal distribution stands for Student's.
    pub welch_differs: bool,
}

/// The comparison it prints ("1.02 ± 0.10 times faster") and the one its script makes.
pub fn compare(first: &[f64], second: &[f64]) -> Comparison {
    let ((mean_a, variance_a), (mean_b, variance_b)) = (moments(first), moments(second));
    let ratio = mean_b / mean_a;
    let relative = variance_a / mean_a.powi(2) + variance_b / mean_b.powi(2);
    let plus_minus = ratio * relative.sqrt();
    let (count_a, count_b) = (first.len() as f64, second.len() as f64);
    let t = (mean_b - mean_a) / (variance_a / count_a + variance_b / count_b).sqrt();
    Comparison {
        ratio,
        plus_minus,
        printed_differs: (ratio - 1.0).abs() > plus_minus,
        welch_differs: t.abs() > 1.96,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons() {
        let first: Vec<f64> = (0..100).map(|i| 1.0 + 0.01 * f64::from(i % 10)).collect();
        let shifted: Vec<f64> = first.iter().map(|time| time + 0.02).collect();
        let same = compare(&first, &first);
        assert_eq!((same.ratio, same.printed_differs, same.welch_differs), (1.0, false, false));
        // 0.02 is 4.9 standard errors and 0.7 standard deviations.
        let other = compare(&first, &shifted);
        assert!(other.welch_differs && !other.printed_differs, "{other:?}");
        assert!((other.ratio - 1.0191).abs() < 1e-4 && (other.plus_minus - 0.0394).abs() < 1e-3);
        let far: Vec<f64> = first.iter().map(|time| time * 2.0).collect();
        assert!(compare(&first, &far).printed_differs);
    }
}
