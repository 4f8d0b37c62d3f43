//! `headstart verify` of a toolchain: every tool in one line.

use crate::commands::bundle_again;
use crate::output;
use crate::phrases::VIEW_WORDS;
use anyhow::Result;
use bundle::VerifiedToolchain;
use std::path::Path;
use std::process::ExitCode;

/// Looks at all tools and tells.
pub fn run(folder: &Path, json: bool) -> Result<ExitCode> {
    let VerifiedToolchain { mut found, again } = bundle::verify_toolchain(folder)?;
    let command = again.iter().flatten().next().map(bundle_again::command);
    for (tool, again) in found.tools.iter_mut().zip(&again) {
        let Some(of_bundle) = &mut tool.found else { continue };
        let next = again.as_ref().map(bundle_again::command);
        of_bundle.remedy = match (of_bundle.remedy.take(), next) {
            (Some(begun), Some(next)) => Some(format!("{begun}: {next}")),
            (begun, next) => begun.or(next),
        };
    }
    let first = found.tools.iter().find_map(|tool| tool.found.as_ref()?.remedy.clone());
    let linked = || {
        let text = "Move away what stands in the place of links, and make the toolchain again.";
        (!found.current).then(|| text.to_owned())
    };
    found.remedy = match command {
        Some(command) => Some(format!("Make the toolchain again: {command}")),
        None => first.or_else(linked),
    };
    output::print_either(json, &found, |style| {
        report::toolchain::verified(&found, &VIEW_WORDS, style)
    })?;
    Ok(super::code(found.current))
}
