//! Bundles, optimized programs and toolchains.

use super::{Arguments, code, expect_record, toolchain};
use crate::commands::bundle_again;
use crate::output;
use crate::phrases::VIEW_WORDS;
use anyhow::Result;
use bundle::BundleError;
use model::quoted;
use optimize::keep::{self, FolderVerification, NextStep};
use std::process::ExitCode;

/// Looks and tells.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let unread = |source| BundleError::Io { path: arguments.folder.clone(), source };
    let folder = std::path::absolute(&arguments.folder).map_err(unread)?;
    if bundle::is_toolchain(&folder) {
        return toolchain::run(&folder, arguments.json);
    }
    expect_record(&arguments.folder)?;
    let FolderVerification { mut found, next } = keep::verify(&folder)?;
    let next = next.as_ref().map(remedy);
    found.remedy = match (found.remedy, next) {
        (Some(begun), Some(next)) => Some(format!("{begun}: {next}")),
        (begun, next) => begun.or(next),
    };
    output::print_either(arguments.json, &found, |style| {
        report::bundle::verified(&found, &VIEW_WORDS, style)
    })?;
    Ok(code(found.current && found.used))
}

fn remedy(next: &NextStep) -> String {
    match next {
        NextStep::MendOnly => "Fix that; the files are as they were made.".to_owned(),
        NextStep::PutBack { program, folder } => format!(
            "Put the original back in the place of {}, or remove {}.",
            quoted(program),
            quoted(folder)
        ),
        NextStep::BundleAgain(again) => bundle_again::command(again),
        NextStep::OptimizeAgain { command, without_aslr, cold } => {
            let allow = if *without_aslr { "--allow no-aslr " } else { "" };
            let cold = if *cold { "--cold " } else { "" };
            format!(
                "Make it again in a new folder, with the other options that it had: headstart \
                 optimize {allow}{cold}--out NEW -- {command}"
            )
        }
        NextStep::SelfBindAgain { program } => format!(
            "Make it again in a new folder, with the options that it had: headstart elf selfbind \
             --out NEW {}",
            quoted(program)
        ),
    }
}
