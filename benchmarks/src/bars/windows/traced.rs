//! Which functions headstart.exe sees real programs call under Wine: those that the build for Linux sees, which looks
//! at the same programs from outside of Wine, by another mechanism.

use super::Builds;
use super::explained::tools;
use crate::report::Row;
use crate::subjects::pe_files::Set;
use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Per cent of the functions that may be called in one of the launches only: programs look at the time and at names of
/// temporary files.
const DIFFERENT: usize = 1;

/// A row for each real program that tells its version.
///
/// # Errors
/// A build does not trace one.
pub(super) fn rows(builds: &Builds<'_>, sets: &[Set]) -> Result<Vec<Row>> {
    tools(sets).map(|file| row(builds, file)).collect()
}

fn row(builds: &Builds<'_>, program: &Path) -> Result<Row> {
    let name = program.file_name().and_then(|name| name.to_str()).context("a name")?;
    let path = program.to_str().context("a path that is not UTF-8")?;
    let folder = tempfile::tempdir_in(&builds.context.scratch)?;
    let exe = builds.exe.to_str().context("a path that is not UTF-8")?;
    let words = ["trace", "--out", "windows", "--", path, "--version"];
    let printed = builds.wine.printed(folder.path(), &[&[exe], &words[..]].concat());
    ensure!(printed.code == Some(0), "{name}: {}", printed.stderr);
    let mut command = Command::new(&builds.context.headstart.program);
    let words = ["trace", "--out", "linux", "--", path, "--version"];
    command.args(words).current_dir(folder.path());
    // In the same prefix.
    for (variable, value) in builds.wine.surroundings().1 {
        match value {
            Some(value) => command.env(variable, value),
            None => command.env_remove(variable),
        };
    }
    let output = command.output()?;
    ensure!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    let called = |trace| called(&folder.path().join(trace), name);
    let (windows, linux) = (called("windows")?, called("linux")?);
    let set = |calls: &[u64]| calls.iter().copied().collect::<BTreeSet<u64>>();
    let differ = set(&windows).symmetric_difference(&set(&linux)).count();
    let order = if windows == linux { ", in the same order" } else { "" };
    let value = format!("{} functions, {differ} differ from those on Linux{order}", windows.len());
    let good = !windows.is_empty() && differ * 100 <= windows.len() * DIFFERENT;
    Ok(Row::bar(format!("trace {name}"), value, "≤ 1 % differ", good))
}

/// Where the functions of the program begin that a trace has, in its order.
fn called(trace: &Path, program: &str) -> Result<Vec<u64>> {
    let text = std::fs::read_to_string(trace)?;
    let mut lines = text.lines().map(serde_json::from_str::<Value>);
    let head = lines.next().context("an empty trace")??;
    let modules = head["modules"].as_array().context("no modules")?;
    let is_it = |module: &Value| {
        module["path"].as_str().and_then(|path| path.rsplit(['/', '\\']).next()) == Some(program)
    };
    let place = modules.iter().position(is_it).context("the program is not in its trace")?;
    let mut called = Vec::new();
    for line in lines {
        let line = line?;
        let rva = line[2].as_str().and_then(|rva| rva.strip_prefix("0x"));
        if line[1].as_u64() == Some(place as u64)
            && let Some(rva) = rva
        {
            called.push(u64::from_str_radix(rva, 16)?);
        }
    }
    Ok(called)
}
