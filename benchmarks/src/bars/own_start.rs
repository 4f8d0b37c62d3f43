//! headstart's own start and size, and the files that it writes in hyperfine's place.

use crate::context::Context;
use crate::headstart::Headstart;
use crate::report::{Report, Row};
use anyhow::{Context as _, Result, ensure};
use model::Verdict;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::workspace::SET_BY_CARGO;

const RUNS: &str = "300";
/// Of the stripped release binary.
const MOST_BYTES: u64 = 8_000_000;
/// One invocation for both.
const SAME: [&str; 9] = ["-w", "1", "-r", "5", "-L", "code", "0,1", "-i", "sh -c 'exit {code}'"];
const FILES: [&str; 5] = ["json", "csv", "markdown", "asciidoc", "orgmode"];

/// # Errors
/// One of the programs fails.
pub fn check(context: &Context) -> Result<Report> {
    let peer = testkit::find("hyperfine").context("hyperfine is not installed")?;
    let stripped = context.scratch.join("headstart-stripped");
    let program = &context.headstart.program;
    let status = Command::new("strip").arg("-o").arg(&stripped).arg(program).status()?;
    ensure!(status.success(), "strip failed: {status}");
    let bytes = std::fs::metadata(&stripped)?.len();
    let version = |program: &Path| format!("'{}' --version", program.display());
    let (theirs, ours) = (version(&peer), version(&stripped));
    let cpu = context.cpu.to_string();
    let options = ["--runs", RUNS, "--cpu", &cpu];
    let results = context.headstart.compare(&options, &[&theirs, &ours])?;
    let effect = results.effects.first().context("nothing was compared")?;
    let size = format!("{:.2} MB", bytes as f64 / 1e6);
    let ratio = format!("{:.3} ({:.3} to {:.3})", effect.ratio, effect.low, effect.high);
    let mut rows = vec![
        Row::bar("stripped binary", size, "≤ 8 MB", bytes <= MOST_BYTES),
        Row::bar(
            "--version: time ÷ hyperfine's",
            ratio,
            "not slower",
            effect.verdict != Verdict::Slower,
        ),
    ];
    rows.extend(exports(&context.headstart, &peer)?);
    Ok(Report { rows })
}

/// The same invocation of both: the same keys and the same columns.
fn exports(headstart: &Headstart, peer: &Path) -> Result<Vec<Row>> {
    let folder = headstart.scratch.join("exports");
    std::fs::create_dir_all(&folder)?;
    let path = |who: &str, kind: &str| folder.join(format!("{who}.{kind}")).display().to_string();
    let options = |who: &str| -> Vec<String> {
        FILES.iter().flat_map(|kind| [format!("--export-{kind}"), path(who, kind)]).collect()
    };
    let (ours, theirs) = (options("ours"), options("theirs"));
    let words: Vec<&str> =
        ["compare"].into_iter().chain(SAME).chain(ours.iter().map(|w| &**w)).collect();
    headstart.run(&words)?;
    let mut command = Command::new(peer);
    command.env_remove(SET_BY_CARGO).args(SAME).args(&theirs);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?} failed: {status}");
    let row = |kind: &&str| -> Result<Row> {
        let read = |who| std::fs::read_to_string(path(who, kind)).context("an export is missing");
        let (ours, theirs) = (shape(kind, &read("ours")?)?, shape(kind, &read("theirs")?)?);
        let missing: Vec<&String> = theirs.difference(&ours).collect();
        let value = format!("{} of {}", theirs.len() - missing.len(), theirs.len());
        let figure = format!("--export-{kind}: keys and columns");
        Ok(Row::bar(figure, value, "all", missing.is_empty() && !theirs.is_empty()))
    };
    FILES.iter().map(row).collect()
}

/// What scripts look for in a file: keys of results, or the cells of the head without their unit.
fn shape(kind: &str, text: &str) -> Result<BTreeSet<String>> {
    if kind == "json" {
        let file: Value = serde_json::from_str(text)?;
        let results = file["results"].as_array().context("no results")?;
        let keys = results.iter().flat_map(|result| result.as_object().into_iter().flatten());
        return Ok(keys.map(|(key, _)| key.clone()).collect());
    }
    let head = text.split("Relative").next().unwrap_or(text);
    let head = if kind == "csv" { text.lines().next().unwrap_or("") } else { head };
    let cells =
        head.split([',', '|', '\n']).map(|cell| cell.split('[').next().unwrap_or("").trim());
    Ok(cells
        .filter(|cell| !cell.is_empty() && !cell.starts_with("cols"))
        .map(str::to_owned)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::shape;

    #[test]
    fn heads_are_compared_without_units() {
        let shape = |kind, text| shape(kind, text).unwrap().into_iter().collect::<Vec<_>>();
        assert_eq!(shape("csv", "command,mean\nx,1\n"), ["command", "mean"]);
        assert_eq!(shape("markdown", "| Command | Mean [ms] | Relative |\n"), ["Command", "Mean"]);
        assert_eq!(shape("json", r#"{"results":[{"a":1},{"b":2}]}"#), ["a", "b"]);
    }
}
