//! Measure and explain on large programs: each gives an answer, and the program its exit code.

use crate::context::{Context, EMACS};
use crate::headstart::Headstart;
use crate::report::{Report, Row};
use anyhow::{Context as _, Result, bail};
use model::{Explanation, Results};

const PROGRAMS: [&[&str]; 7] = [
    &EMACS,
    &["inkscape", "--version"],
    &["soffice", "--version"],
    &["chromium", "--version", "--no-sandbox"],
    &["clang-19", "--version"],
    &["/usr/bin/python3", "-c", "pass"],
    &["git", "--version"],
];
const SERVER: &str = "redis-server";

/// One row for measuring and one for explaining each program, and one for a server.
///
/// # Errors
/// Nothing that a program does is one: it is a failed row.
pub fn check(context: &Context) -> Result<Report> {
    let mut report = Report::default();
    for command in PROGRAMS {
        let name = command[0].rsplit('/').next().unwrap_or(command[0]);
        if testkit::find(name).is_none() {
            report.rows.push(failed(name, "SKIPPED: not installed"));
            continue;
        }
        report.rows.push(row(&format!("measure {name}"), measured(&context.headstart, command)));
        report.rows.push(row(&format!("explain {name}"), explained(&context.headstart, command)));
    }
    if testkit::find(SERVER).is_some() {
        report.rows.push(row("measure redis-server to its port", server(&context.headstart)));
    } else {
        report.rows.push(failed(SERVER, "SKIPPED: not installed"));
    }
    Ok(report)
}

fn row(figure: &str, outcome: Result<String>) -> Row {
    match outcome {
        Ok(value) => Row::bar(figure, value, "works", true),
        Err(error) => failed(figure, &format!("{error:#}")),
    }
}

fn failed(figure: &str, reason: &str) -> Row {
    Row::bar(figure, reason.to_owned(), "works", false)
}

fn measured(headstart: &Headstart, command: &[&str]) -> Result<String> {
    line(&headstart.measure(&["--runs", "10"], command)?)
}

fn server(headstart: &Headstart) -> Result<String> {
    // A port that is free now.
    let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
    let until = format!("port:{port}");
    let command = [SERVER, "--port", &port, "--save", "", "--appendonly", "no"];
    line(&headstart.measure(&["--runs", "10", "--until", &until], &command)?)
}

/// The times of one variant, of which every launch has to have ended well.
fn line(results: &Results) -> Result<String> {
    let variant = results.variants.first().context("no variant")?;
    if variant.failed() > 0 {
        bail!("{} of {} launches failed", variant.failed(), variant.summary.runs);
    }
    let endings: Vec<String> =
        variant.endings.iter().map(|count| format!("{:?}", count.ending)).collect();
    let rss = match variant.peak_rss_kib.get() {
        Some(kib) => format!("{:.1} MiB", kib as f64 / 1024.0),
        None => "unknown size".to_owned(),
    };
    let (min, median) = (variant.summary.min_us / 1000.0, variant.summary.median_us / 1000.0);
    Ok(format!("min {min:.1} ms, median {median:.1} ms, {rss}, ended {}", endings.join(" ")))
}

/// The total, the two largest phases and the first finding.
fn explained(headstart: &Headstart, command: &[&str]) -> Result<String> {
    let explanation = headstart.explain(&[], command)?;
    let Explanation { total_us, mut phases, findings, modules, .. } = explanation;
    let sum: f64 = phases.iter().map(|phase| phase.us).sum();
    if phases.is_empty() || (sum - total_us).abs() > 0.001 {
        bail!("the phases sum to {sum} µs of {total_us} µs");
    }
    phases.sort_by(|a, b| b.us.total_cmp(&a.us));
    let share = |phase: &model::PhaseTime| {
        format!("{} {:.0} %", phase.phase.name(), 100.0 * phase.us / total_us)
    };
    let shares: Vec<String> = phases.iter().take(2).map(share).collect();
    let first = findings.first().map_or("none", |finding| finding.id.as_str());
    Ok(format!(
        "{:.1} ms: {}; {} modules, {} findings, first: {first}",
        total_us / 1000.0,
        shares.join(", "),
        modules.len(),
        findings.len()
    ))
}
