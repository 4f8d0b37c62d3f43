//! Two copies of one program are not called different.

use crate::context::Context;
use crate::hyperfine;
use crate::report::{Report, Row};
use crate::statistics::{largest, percent, typical};
use anyhow::{Context as _, Result};
use model::{Effect, Results, Verdict};
use std::path::{Path, PathBuf};

const TRIALS: usize = 30;
const RUNS: u32 = 100;
const MOST_WRONG: usize = 2;
/// Typical error of the ratio, which is 1 in truth.
const TYPICAL_ERROR: f64 = 0.015;

/// Trials of headstart and of hyperfine take turns.
///
/// # Errors
/// One of them fails.
pub fn check(context: &Context) -> Result<Report> {
    let git = testkit::find("git").context("git is not installed")?;
    let copies: [String; 2] =
        [copy(&git, &context.scratch, "a")?, copy(&git, &context.scratch, "b")?];
    let commands = copies.each_ref().map(|path| format!("{path} --version"));
    let commands = commands.each_ref().map(String::as_str);
    let (runs, cpu) = (RUNS.to_string(), context.cpu.to_string());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..TRIALS {
        let results = context.headstart.compare(&["--runs", &runs, "--cpu", &cpu], &commands)?;
        ours.push(effect(results)?);
        let times = hyperfine::run(context.pinned(), RUNS, &commands)?;
        let [first, second] = times.as_slice() else { anyhow::bail!("hyperfine lost a command") };
        theirs.push(hyperfine::compare(&first.times, &second.times));
    }
    Ok(report(&ours, &theirs))
}

/// A copy of the program in a folder of its own.
fn copy(program: &Path, scratch: &Path, name: &str) -> Result<String> {
    let folder = scratch.join(name);
    std::fs::create_dir_all(&folder)?;
    let target: PathBuf = folder.join(program.file_name().context("no program")?);
    std::fs::copy(program, &target)
        .with_context(|| format!("{} cannot be copied", program.display()))?;
    Ok(target.to_str().context("a path that is not UTF-8")?.to_owned())
}

/// The one effect of a comparison of two.
///
/// # Errors
/// There is none.
pub fn effect(results: Results) -> Result<Effect> {
    results.effects.into_iter().next().context("a comparison without an effect")
}

fn report(ours: &[Effect], theirs: &[hyperfine::Comparison]) -> Report {
    let wrong = |effect: &&Effect| matches!(effect.verdict, Verdict::Faster | Verdict::Slower);
    let wrong = ours.iter().filter(wrong).count();
    let errors: Vec<f64> = ours.iter().map(|effect| effect.ratio - 1.0).collect();
    let peer_errors: Vec<f64> = theirs.iter().map(|effect| effect.ratio - 1.0).collect();
    let printed = theirs.iter().filter(|effect| effect.printed_differs).count();
    let welch = theirs.iter().filter(|effect| effect.welch_differs).count();
    let plus_minus: Vec<f64> = theirs.iter().map(|effect| effect.plus_minus).collect();
    let same = ours.iter().filter(|effect| effect.verdict == Verdict::Same).count();
    let within: Vec<f64> = ours.iter().map(|effect| effect.within).collect();
    let trials = ours.len();
    let rows = vec![
        Row::shown("trials × launches of each copy", format!("{trials} × {RUNS}")),
        Row::bar("wrong verdicts", format!("{wrong} of {trials}"), "≤ 2", wrong <= MOST_WRONG)
            .beside(format!("Welch script {welch}, printed ± {printed}")),
        Row::bar(
            "typical error of the ratio",
            percent(typical(&errors)),
            "≤ 1.5 %",
            typical(&errors) <= TYPICAL_ERROR,
        )
        .beside(percent(typical(&peer_errors))),
        Row::shown("worst error", percent(largest(&errors))).beside(percent(largest(&peer_errors))),
        Row::shown("typical uncertainty stated", format!("± {}", percent(typical(&within))))
            .beside(format!("± {}", percent(typical(&plus_minus)))),
        Row::shown("called the same", format!("{same} of {trials}")),
    ];
    Report { rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect_of(ratio: f64, verdict: Verdict) -> Effect {
        let (baseline, variant) = ("a".to_owned(), "b".to_owned());
        let (low, high, within) = (ratio - 0.01, ratio + 0.01, 0.01);
        Effect { baseline, variant, ratio, low, high, confidence: 0.99, rounds: 9, verdict, within }
    }

    #[test]
    fn wrong_verdicts_and_errors_are_counted() {
        let mut ours = vec![effect_of(1.01, Verdict::Same); 28];
        ours.push(effect_of(0.99, Verdict::Faster));
        ours.push(effect_of(1.01, Verdict::Slower));
        let peer = hyperfine::compare(&[1.0, 1.1, 1.0], &[1.0, 1.1, 1.0]);
        assert!(report(&ours, &[peer]).good(), "{}", report(&ours, &[peer]));
        ours.push(effect_of(1.01, Verdict::Slower));
        assert!(!report(&ours, &[peer]).good());
        let far = vec![effect_of(1.02, Verdict::Inconclusive); 30];
        assert!(!report(&far, &[peer]).good());
    }
}
