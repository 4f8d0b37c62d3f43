//! Bar 5: an explanation adds up, and agrees with untraced launches and with glibc.

use super::figures::{median, percent};
use super::headstart::Headstart;
use super::report::{Report, Row};
use super::{Context, EMACS};
use crate::cargo::SET_BY_CARGO;
use anyhow::{Context as _, Result};
use model::{Explanation, Phase, PhaseTime};
use os::attend::Options;
use os::loader_log::statistics::statistics;

/// The programs; the total is held against a bar for the first one.
const PROGRAMS: [&[&str]; 4] =
    [&["inkscape", "--version"], &["clang-19", "--version"], &EMACS, &["gdb", "--version"]];
/// Explanations of each program, with launches of the other kinds around each: two of glibc's
/// accounts, ten in all, and six untraced.
const ROUNDS: usize = 5;
const TOTAL_WITHIN: f64 = 0.10;
const RELOCATE_WITHIN: f64 = 0.15;
/// Sums of some numbers of microseconds in JSON: a nanosecond is far below any of them.
const EXACT_US: f64 = 0.001;

/// Every program as the present user, and as `nobody` where that is permitted.
///
/// # Errors
/// A launch fails.
pub fn check(context: &Context) -> Result<Report> {
    let mut report = Report::default();
    for (index, command) in PROGRAMS.into_iter().enumerate() {
        if testkit::find(command[0]).is_none() {
            let missing = "SKIPPED: not installed".to_owned();
            report.rows.push(Row { good: Some(false), ..Row::shown(command[0], missing) });
            continue;
        }
        for (user, headstart) in context.users()? {
            let rows = program(context, &headstart, command, index == 0)?;
            let named = |row: Row| Row {
                figure: format!("{} ({user}): {}", command[0], row.figure),
                ..row
            };
            report.rows.extend(rows.into_iter().map(named));
        }
    }
    Ok(report)
}

fn program(
    context: &Context,
    headstart: &Headstart,
    command: &[&str],
    judge_total: bool,
) -> Result<Vec<Row>> {
    let cpu = context.cpu.to_string();
    let cpu = ["--cpu", &cpu];
    let (mut glibc, mut untraced) = (Vec::new(), Vec::new());
    let (mut totals, mut relocate, mut off) = (Vec::new(), Vec::new(), 0.0_f64);
    for _ in 0..ROUNDS {
        glibc.push(glibc_relocate_us(context, command)?);
        untraced.extend(untraced_us(context, headstart, command)?);
        let explanation = headstart.explain(&cpu, command)?;
        totals.push(explanation.total_us);
        relocate.push(phase(&explanation.phases, Phase::Relocate));
        off = off.max(sums(&explanation));
        glibc.push(glibc_relocate_us(context, command)?);
    }
    let (untraced, glibc) = (median(untraced), median(glibc));
    let (total_us, relocate_us) = (median(totals), median(relocate));
    let (total, relocate) = (total_us / untraced - 1.0, relocate_us / glibc - 1.0);
    let total_row = if judge_total {
        Row::bar("total against untraced", percent(total), "± 10 %", total.abs() <= TOTAL_WITHIN)
    } else {
        Row::shown("total against untraced", percent(total))
    };
    let ms = |us: f64| format!("{:.2} ms", us / 1000.0);
    Ok(vec![
        Row::bar("phases less total", format!("{off:.4} µs"), "0", off <= EXACT_US),
        total_row.beside(format!("{} of {}", ms(total_us), ms(untraced))),
        Row::bar(
            "relocate against LD_DEBUG",
            percent(relocate),
            "± 15 %",
            relocate.abs() <= RELOCATE_WITHIN,
        )
        .beside(format!("{} of {}", ms(relocate_us), ms(glibc))),
    ])
}

/// The largest gap between a total and the sum of what it is divided into.
fn sums(explanation: &Explanation) -> f64 {
    let sum = |phases: &[PhaseTime]| phases.iter().map(|phase| phase.us).sum::<f64>();
    let charged: f64 = explanation.processes.iter().map(|process| process.charged_us).sum();
    let mut worst = (sum(&explanation.phases) - explanation.total_us).abs();
    if !explanation.processes.is_empty() {
        worst = worst.max((charged - explanation.total_us).abs());
    }
    for process in &explanation.processes {
        let lasted = process.ended_us - process.started_us;
        worst = worst.max((sum(&process.phases) - lasted).abs());
    }
    worst
}

fn phase(phases: &[PhaseTime], wanted: Phase) -> f64 {
    phases.iter().filter(|phase| phase.phase == wanted).map(|phase| phase.us).sum()
}

fn untraced_us(context: &Context, headstart: &Headstart, command: &[&str]) -> Result<Vec<f64>> {
    let options = ["--runs", "6", "--cpu", &context.cpu.to_string()];
    let results = headstart.measure(&options, command)?;
    Ok(results.variants.first().context("no variant")?.times_us.clone())
}

/// glibc's own account of one launch, its lost digit put back.
fn glibc_relocate_us(context: &Context, command: &[&str]) -> Result<f64> {
    let argv: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
    let mut command = os::program::resolve(&argv)?;
    command.environment.push((SET_BY_CARGO.to_owned(), None));
    let options = Options { cpu: Some(context.cpu), ..Options::default() };
    let read = statistics(&command, 1, &options)?;
    let account = read.value().with_context(|| format!("{}: {:?}", argv[0], read.reason()))?;
    Ok(account.launches.iter().flatten().map(|image| image.relocation_us).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_between_sums_is_found() {
        let path = "../crates/report/tests/explanations/soffice.json";
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let mut explanation: Explanation =
            serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        assert!(explanation.processes.len() > 1 && sums(&explanation) <= EXACT_US);
        let relocate = phase(&explanation.phases, Phase::Relocate);
        assert!(relocate > 0.0 && relocate < explanation.total_us);
        explanation.processes[1].charged_us += 1.0;
        assert!(sums(&explanation) > 0.9);
    }
}
