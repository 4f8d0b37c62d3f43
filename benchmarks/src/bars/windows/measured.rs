//! What headstart.exe measures under Wine: it does not call two copies of one program different, launches vary
//! little, and the fastest one takes as long as it does with a LoadTimer in C.

use super::Builds;
use crate::bars::same::effect;
use crate::report::Row;
use crate::statistics::{largest, least, median, percent};
use anyhow::{Context as _, Result, ensure};
use model::{Effect, Results, Verdict};
use std::path::Path;
use testkit::pe::{Machine, mingw};

const TRIALS: usize = 30;
/// Launches of each copy in a trial.
const LAUNCHES: &str = "40";
const MOST_WRONG: usize = 2;
/// The median launch of a series may take at most this many times as long as the fastest one.
const MOST_SPREAD: f64 = 1.5;
/// How much the fastest launch of the median turn may differ between headstart.exe and LoadTimer, as a fraction.
const APART: f64 = 0.03;
/// headstart.exe and LoadTimer take turns.
const TURNS: usize = 10;
const LOAD_TIMER: &str = include_str!("../../../c/load_timer.c");

/// The rows, about a program of ten DLLs.
///
/// # Errors
/// headstart.exe or the compiler fails.
pub(super) fn rows(builds: &Builds<'_>) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir_in(&builds.context.scratch)?;
    for copy in ["a", "b"] {
        let generate = ["generate", "pietrek", "--format", "pe", "--dlls", "10", "--out", copy];
        builds.run(folder.path(), folder.path(), &generate)?;
    }
    let (mut effects, mut spreads) = (Vec::new(), Vec::new());
    for _ in 0..TRIALS {
        let options = ["compare", "--json", "-r", LAUNCHES, "--"];
        let copies = [r"a\LoadTimeTest.exe", r"b\LoadTimeTest.exe"];
        let results = builds.results(folder.path(), &[&options[..], &copies].concat())?;
        spreads.extend(
            results
                .variants
                .iter()
                .map(|variant| variant.summary.median_us / variant.summary.min_us),
        );
        effects.push(effect(results)?);
    }
    Ok([alike(&effects, &spreads), vec![beside_load_timer(builds, folder.path())?]].concat())
}

fn alike(effects: &[Effect], spreads: &[f64]) -> Vec<Row> {
    let wrong = |effect: &&Effect| matches!(effect.verdict, Verdict::Faster | Verdict::Slower);
    let wrong = effects.iter().filter(wrong).count();
    let errors: Vec<f64> = effects.iter().map(|effect| effect.ratio - 1.0).collect();
    let spread = median(spreads.to_vec());
    let value = format!("{wrong} of {}, worst error {}", effects.len(), percent(largest(&errors)));
    let middle = format!("{spread:.2}, worst {:.2}", largest(spreads));
    vec![
        Row::bar("wrong verdicts about copies", value, "≤ 2", wrong <= MOST_WRONG),
        Row::bar("median ÷ fastest launch", middle, "≤ 1.5", spread <= MOST_SPREAD),
    ]
}

fn beside_load_timer(builds: &Builds<'_>, folder: &Path) -> Result<Row> {
    let program = r"a\LoadTimeTest.exe";
    let timer = mingw(folder, Machine::X86_64, "LoadTimer.exe", LOAD_TIMER, &["-O2"]);
    let timer = timer.context("no mingw-w64: apt-get install gcc-mingw-w64-x86-64-win32")?;
    let timer = timer.to_str().context("a path that is not UTF-8")?;
    // The minimum of all launches depends on a few lucky ones; the median of each turn's minimum varies less.
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let words = ["measure", "--json", "-r", LAUNCHES, "--", program];
        let results = builds.results(folder, &words)?;
        ours.extend(results.variants.iter().map(|variant| variant.summary.min_us));
        let printed = builds.wine.printed(folder, &[timer, LAUNCHES, program]);
        ensure!(printed.code == Some(0), "LoadTimer: {:?}", printed.code);
        let text = String::from_utf8(printed.stdout)?;
        let times: Result<Vec<f64>, _> = text.lines().map(|line| line.trim().parse()).collect();
        let times = times.context("LoadTimer's times")?;
        ensure!(!times.is_empty(), "LoadTimer made no launch");
        theirs.push(least(&times));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    let ratio = ours / theirs;
    let value = format!("{ratio:.3} × LoadTimer's");
    let good = (ratio - 1.0).abs() <= APART;
    Ok(Row::bar("fastest of 40, median turn", value, "within 3 %", good)
        .beside(format!("{:.1} ms", theirs / 1000.0)))
}

impl Builds<'_> {
    /// What headstart.exe prints as JSON about launches.
    fn results(&self, folder: &Path, words: &[&str]) -> Result<Results> {
        let exe = self.exe.to_str().context("a path that is not UTF-8")?;
        let printed = self.wine.printed(folder, &[&[exe], words].concat());
        ensure!(printed.code == Some(0), "{words:?}: {}", printed.stderr);
        serde_json::from_slice(&printed.stdout).with_context(|| format!("{words:?}"))
    }
}
