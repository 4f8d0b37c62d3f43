//! An explanation adds up, and agrees with untraced launches and with glibc.

pub mod rounds;

use crate::context::{Context, EMACS};
use crate::headstart::Headstart;
use crate::report::{Report, Row};
use crate::statistics::{median, percent};
use anyhow::Result;
use model::{Explanation, PhaseTime};
use rounds::Round;

/// The programs; the total is held against a bar for the first one.
const PROGRAMS: [&[&str]; 4] =
    [&["inkscape", "--version"], &["clang-19", "--version"], &EMACS, &["gdb", "--version"]];
/// Rounds of one launch of each kind. A shared machine changes its speed by half from one second
/// to the next, so only neighbors are compared.
const ROUNDS: &str = "31";
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
    let off = sums(&headstart.explain(&["--cpu", &cpu], command)?);
    let arguments = [&[rounds::COMMAND, ROUNDS, &cpu], command].concat();
    let rounds: Vec<Round> = context.own_program(headstart)?.json(&arguments)?;
    let ratio = |of: fn(&Round) -> (f64, f64)| {
        let logs = rounds.iter().map(of).map(|(one, other)| (one / other).ln()).collect();
        median(logs).exp()
    };
    let middle = |of: fn(&Round) -> f64| median(rounds.iter().map(of).collect());
    let total = ratio(|round| (round.traced_us, round.untraced_us)) - 1.0;
    let relocate = ratio(|round| (round.relocate_us, round.glibc_us)) - 1.0;
    let (total_us, untraced) = (middle(|r| r.traced_us), middle(|r| r.untraced_us));
    let (relocate_us, glibc) = (middle(|r| r.relocate_us), middle(|r| r.glibc_us));
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
        explanation.processes[1].charged_us += 1.0;
        assert!(sums(&explanation) > 0.9);
    }
}
