//! A program that is truly 3 % slower is called slower.

use super::same::effect;
use crate::context::Context;
use crate::hyperfine;
use crate::report::{Report, Row};
use crate::statistics::{median, percent};
use crate::subjects::c_programs::{SPIN, build};
use anyhow::{Context as _, Result, ensure};
use model::{Effect, Verdict};
use std::path::{Path, PathBuf};
use std::process::Command;

const TRIALS: usize = 30;
const LEAST_FOUND: usize = 27;
const SLOWDOWN: f64 = 0.03;
const PRECISION: &str = "1%";

/// Trials of headstart, and after each one of hyperfine with as many launches.
///
/// # Errors
/// One of them fails.
pub fn check(context: &Context) -> Result<Report> {
    let (programs, turns, base_us) = programs(context)?;
    let commands: Vec<&str> = programs.iter().filter_map(|path| path.to_str()).collect();
    let cpu = context.cpu.to_string();
    let (mut ours, mut theirs) = (Vec::new(), 0);
    for _ in 0..TRIALS {
        let options = ["--precision", PRECISION, "--cpu", &cpu];
        let found = effect(context.headstart.compare(&options, &commands)?)?;
        let runs = found.rounds.max(10);
        let times = hyperfine::run(context.pinned(), runs, &commands)?;
        if let [first, second] = times.as_slice() {
            let verdict = hyperfine::compare(&first.times, &second.times);
            theirs += usize::from(verdict.welch_differs && verdict.ratio > 1.0);
        }
        ours.push(found);
    }
    let built_in = format!("{turns} turns, 3 % of {base_us:.0} µs");
    Ok(report(&ours, theirs, built_in))
}

/// The program and the slower one; the turns built into the latter; the former's median.
fn programs(context: &Context) -> Result<([PathBuf; 2], u64, f64)> {
    let base = build(&context.scratch, "spin-none", SPIN, &["-O2", "-DCOUNT=0"])?;
    let cpu = context.cpu.to_string();
    let options = ["--runs", "500", "--cpu", &cpu];
    let target = base.to_str().context("a path that is not UTF-8")?;
    let results = context.headstart.measure(&options, &[target])?;
    let base_us = results.variants.first().context("no variant")?.summary.median_us;
    let turn_us = turn_us(&base, &cpu)?;
    let turns = |share: f64| (base_us * share / turn_us).round() as u64;
    // Tried tenfold first: in a program that has just started a turn takes longer than in a
    // long spin, and ten times 3 % is easily measured.
    let tenfold = slower(context, turns(10.0 * SLOWDOWN))?;
    let commands = [target, tenfold.to_str().context("a path that is not UTF-8")?];
    let tried = effect(context.headstart.compare(&options, &commands)?)?.ratio - 1.0;
    ensure!(tried > 0.1, "a spin of 30 % was measured as {}", percent(tried));
    let turns = turns(10.0 * SLOWDOWN * SLOWDOWN / tried);
    Ok(([base, slower(context, turns)?], turns, base_us))
}

fn slower(context: &Context, turns: u64) -> Result<PathBuf> {
    build(&context.scratch, "spin-more", SPIN, &["-O2", &format!("-DCOUNT={turns}")])
}

/// What one turn takes, by the program's own clock: median of five.
fn turn_us(program: &Path, cpu: &str) -> Result<f64> {
    let mut times = Vec::new();
    for _ in 0..5 {
        let mut command = Command::new("taskset");
        let output = command.args(["-c", cpu]).arg(program).arg("calibrate").output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        times.push(text.trim().parse::<f64>().with_context(|| format!("spin printed {text}"))?);
    }
    Ok(median(times) / 1000.0)
}

fn report(ours: &[Effect], theirs: usize, built_in: String) -> Report {
    let found = ours.iter().filter(|effect| effect.verdict == Verdict::Slower).count();
    let trials = ours.len();
    let ratios: Vec<f64> = ours.iter().map(|effect| effect.ratio).collect();
    let rounds: Vec<f64> = ours.iter().map(|effect| f64::from(effect.rounds)).collect();
    let rows = vec![
        Row::shown("built in", built_in),
        Row::shown("rounds until ± 1 %, median", format!("{:.0}", median(rounds))),
        Row::shown("slowdown found, median", percent(median(ratios) - 1.0)),
        Row::bar("called slower", format!("{found} of {trials}"), "≥ 27", found >= LEAST_FOUND)
            .beside(format!("Welch script {theirs}")),
    ];
    Report { rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_slower_counts() {
        let effect_of = |verdict| Effect {
            baseline: "a".to_owned(),
            variant: "b".to_owned(),
            ratio: 1.03,
            low: 1.02,
            high: 1.04,
            confidence: 0.99,
            rounds: 200,
            verdict,
            within: 0.04,
        };
        let mut ours = vec![effect_of(Verdict::Slower); 27];
        ours.extend(vec![effect_of(Verdict::Inconclusive); 3]);
        assert!(report(&ours, 0, String::new()).good());
        ours[0] = effect_of(Verdict::Faster);
        assert!(!report(&ours, 0, String::new()).good());
    }

    #[test]
    fn the_spin_takes_its_time() {
        if testkit::tool("cc").is_none() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let program = build(folder.path(), "spin", SPIN, &["-O2", "-DCOUNT=0"]).unwrap();
        let cpu = os::host::quiet_cpu().to_string();
        let turn = turn_us(&program, &cpu).unwrap();
        // Far from optimized away, and far from a microsecond.
        assert!((1e-5..0.1).contains(&turn), "{turn} µs");
    }
}
