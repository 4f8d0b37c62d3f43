//! The bars that headstart has to reach, one file or folder each, and running them.

mod alone;
pub mod bundle;
mod bundle_ahead;
mod checks;
pub mod cold;
pub mod containers;
mod eviction;
mod experiments;
pub mod explain;
mod generate;
mod growth;
mod hints;
mod hot;
mod identify;
mod inspect;
mod install;
mod launcher;
mod list;
mod load;
mod memory;
mod namespace;
mod optimize;
mod order;
mod own_start;
mod pe;
mod programs;
mod realign;
mod rebase;
mod same;
mod sharing;
mod simulate;
mod slowdown;
mod toolchains;
mod windows;
mod wine;

use crate::context::Context;
use anyhow::{Result, bail};
use list::{BARS, Bar};
use testkit::{Tool, packages};

/// Runs those of these names, or all. True if every bar was reached.
///
/// # Errors
/// There is no such check, or headstart cannot be built.
pub fn run(names: &[&str]) -> Result<bool> {
    for name in names {
        if !BARS.iter().any(|bar| bar.name == *name) {
            let known: Vec<String> =
                BARS.iter().map(|bar| format!("  {:<10} {}", bar.name, bar.about)).collect();
            bail!("there is no check '{name}'; there are:\n{}", known.join("\n"));
        }
    }
    let chosen = BARS.iter().filter(|bar| names.is_empty() || names.contains(&bar.name));
    let chosen: Vec<&Bar> = chosen.collect();
    let tools: Vec<&'static Tool> = testkit::TOOLS
        .iter()
        .filter(|tool| chosen.iter().any(|bar| bar.tools.contains(&tool.name)))
        .collect();
    packages::ensure(&tools)?;
    let folder = tempfile::tempdir()?;
    let context = Context::new(folder.path())?;
    let mut good = true;
    for bar in chosen {
        warn_if_busy();
        println!("\n== {}: {} (CPU {})", bar.name, bar.about, context.cpu);
        match (bar.check)(&context) {
            Ok(report) => {
                print!("{report}");
                good &= report.good();
            }
            Err(error) => {
                println!("FAIL: {error:#}");
                good = false;
            }
        }
    }
    Ok(good)
}

/// Times that are compared across minutes mean little beside other work.
fn warn_if_busy() {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let last_minute = load.split(' ').next().and_then(|word| word.parse::<f64>().ok());
    let cpus = os::host::allowed_cpus().len() as f64;
    if let Some(load) = last_minute.filter(|load| *load > cpus / 2.0) {
        println!(
            "\nWARNING: this machine is busy (load {load} on {cpus} CPUs); bars may fail for that"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_all_bars_are_known() {
        for tool in BARS.iter().flat_map(|bar| bar.tools) {
            assert!(testkit::known(tool).is_some(), "{tool} has no package");
        }
    }

    #[test]
    fn an_unknown_name_is_refused_with_a_list_of_the_known_ones() {
        let error = run(&["no-such"]).unwrap_err().to_string();
        assert!(error.contains("no-such") && error.contains("slowdown"), "{error}");
    }
}
