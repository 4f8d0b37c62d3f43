//! What headstart.exe explains under Wine: the phases sum, every DLL is named in the order of loading, and
//! the debugger does not make launches much longer. Wine and its server run on one CPU, as `doctor` advises. Otherwise
//! each request goes from one CPU to another; debugged launches make more requests, so they would take longer.

use super::Builds;
use crate::report::Row;
use crate::statistics::median;
use crate::subjects::pe_files::Set;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// DLLs of the largest generated program.
const DLLS: usize = 100;
/// A debugged launch may take so many times what one without a debugger takes.
const LONGEST: f64 = 1.5;
/// Launches under the debugger.
const RUNS: &str = "15";
/// Nanoseconds of rounding in a sum of phases.
const ROUNDING_US: f64 = 0.01;

/// A row for the generated program, and one for each real program that tells its version.
///
/// # Errors
/// headstart.exe does not explain one.
pub(super) fn rows(builds: &Builds<'_>, sets: &[Set]) -> Result<Vec<Row>> {
    let mut rows = vec![generated(builds)?];
    for program in tools(sets) {
        rows.push(real(builds, program)?);
    }
    Ok(rows)
}

/// The same ratio where Wine's server may run on any CPU, without a bar.
///
/// # Errors
/// As there.
pub(super) fn rows_on_any_cpu(builds: &Builds<'_>, sets: &[Set]) -> Result<Vec<Row>> {
    tools(sets)
        .map(|program| {
            let (name, explanation, ratio) = of_program(builds, program)?;
            let value = phases_and_ratio(&explanation, ratio);
            Ok(Row::shown(format!("explain {name}, any CPU"), value))
        })
        .collect()
}

/// Command-line tools of the sets.
pub(super) fn tools(sets: &[Set]) -> impl Iterator<Item = &PathBuf> {
    let is_tool = |file: &&PathBuf| {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        ["ninja.exe", "cmake.exe", "ruff.exe", "rg.exe"].contains(&name)
    };
    sets.iter().filter(|set| set.name != "Wine").flat_map(|set| &set.files).filter(is_tool)
}

fn generated(builds: &Builds<'_>) -> Result<Row> {
    let folder = tempfile::tempdir_in(&builds.context.scratch)?;
    let generate = ["generate", "pietrek", "--format", "pe", "--dlls", "100", "--out", "dlls"];
    builds.run(folder.path(), folder.path(), &generate)?;
    let (explanation, ratio) = explained(builds, folder.path(), &[r"dlls\LoadTimeTest.exe"])?;
    let modules = explanation["modules"].as_array().context("no modules")?;
    let names = modules.iter().filter_map(|module| module["path"].as_str()?.rsplit('\\').next());
    let own: Vec<&str> = names.filter(|name| name.starts_with("LoadTimeDLL_")).collect();
    // The loader goes through the imports of the program in their order.
    let expected: Vec<String> = (1..=DLLS).map(|n| format!("LoadTimeDLL_{n}.dll")).collect();
    let in_order = own == expected;
    let value = format!(
        "{} of {DLLS} DLLs named{}, {}",
        own.len(),
        if in_order { " in order" } else { ", NOT in order" },
        phases_and_ratio(&explanation, ratio)
    );
    let good = in_order && sums(&explanation) && ratio <= LONGEST;
    Ok(Row::bar("explain 100 DLLs, one CPU", value, BAR, good))
}

const BAR: &str = "all in order, phases sum, ≤ 1.5 ×";

fn real(builds: &Builds<'_>, program: &Path) -> Result<Row> {
    let (name, explanation, ratio) = of_program(builds, program)?;
    let modules = explanation["modules"].as_array().map_or(0, Vec::len);
    let value = format!("{modules} modules, {}", phases_and_ratio(&explanation, ratio));
    let good = sums(&explanation) && ratio <= LONGEST;
    Ok(Row::bar(format!("explain {name}, one CPU"), value, "phases sum, ≤ 1.5 ×", good))
}

/// A program's name, the explanation of its launch, and the ratio.
fn of_program<'a>(builds: &Builds<'_>, program: &'a Path) -> Result<(&'a str, Value, f64)> {
    let folder = tempfile::tempdir_in(&builds.context.scratch)?;
    let words = [program.to_str().context("a path that is not UTF-8")?, "--version"];
    let (explanation, ratio) = explained(builds, folder.path(), &words)?;
    let name = program.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    Ok((name, explanation, ratio))
}

fn phases_and_ratio(explanation: &Value, ratio: f64) -> String {
    let sum = if sums(explanation) { "phases sum" } else { "phases do NOT sum" };
    format!("{sum}, debugged {ratio:.2} × undebugged")
}

fn sums(explanation: &Value) -> bool {
    let phases = explanation["phases"].as_array().into_iter().flatten();
    let sum: f64 = phases.filter_map(|phase| phase["us"].as_f64()).sum();
    explanation["total_us"].as_f64().is_some_and(|total| (total - sum).abs() < ROUNDING_US)
}

/// The explanation of a command, and how many times a debugged launch takes what another takes.
fn explained(builds: &Builds<'_>, folder: &Path, command: &[&str]) -> Result<(Value, f64)> {
    let exe = builds.exe.to_str().context("a path that is not UTF-8")?;
    let explain = [exe, "explain", "--json", "-r", RUNS, "--save", "run", "--"];
    let printed = builds.wine.printed(folder, &[&explain[..], command].concat());
    ensure!(printed.code == Some(0), "{command:?}: {}", printed.stderr);
    let inputs = std::fs::read(folder.join("run/inputs.json"))?;
    let inputs: Value = serde_json::from_slice(&inputs)?;
    let middle = |list: &Value, of: fn(&Value) -> Option<f64>| {
        median(list.as_array().into_iter().flatten().filter_map(of).collect())
    };
    let debugged = middle(&inputs["debugged"], |launch| launch["total_us"].as_f64());
    let untraced = middle(&inputs["untraced_us"], Value::as_f64);
    Ok((serde_json::from_slice(&printed.stdout)?, debugged / untraced))
}
