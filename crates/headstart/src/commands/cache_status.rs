//! `headstart cache status`: how much of files is in memory.

use super::cache::{CachedFilesArgs, ChosenFiles};
use crate::output::{self, tell};
use anyhow::Result;
use clap::Args;
use model::{CACHE_STATUS_SCHEMA, CacheStatus, CacheTotals, CachedFile, SkippedPath, text};
use std::process::ExitCode;

/// Show how many pages of files are in memory, and how many of them are changed
///
/// Nothing is read into memory by looking. The kernel tells only the owner of a file, those who may
/// write it, and root which of its pages are in memory; for everybody else it is unknown.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    chosen: CachedFilesArgs,

    /// List every file, also those of which nothing is in memory
    #[arg(long)]
    all: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Looks and prints, then says on stderr which named files could not be read.
///
/// # Errors
/// No files are named, or the command cannot be launched.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let chosen = arguments.chosen.find()?;
    let status = status(chosen);
    output::print_either(arguments.json, &status, |style| {
        report::cache::status_view(&status, style, arguments.all)
    })?;
    Ok(end(&arguments.chosen, &status.skipped))
}

fn status(mut chosen: ChosenFiles) -> CacheStatus {
    let mut files: Vec<CachedFile> = Vec::new();
    for path in &chosen.files {
        match os::cache::status(path) {
            Ok(file) => files.push(file),
            Err(error) => chosen
                .skipped
                .push(SkippedPath { path: text::text(path), reason: error.to_string() }),
        }
    }
    CacheStatus {
        schema: CACHE_STATUS_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        command: chosen.command,
        files_from: chosen.files_from,
        page_bytes: os::cache::page_bytes(),
        totals: CacheTotals::of(&files),
        files,
        skipped: chosen.skipped,
        notes: chosen.notes,
    }
}

/// The answer is no where a file that was named cannot be read.
pub fn end(chosen: &CachedFilesArgs, skipped: &[SkippedPath]) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for one in skipped.iter().filter(|one| chosen.is_named(one)) {
        tell(format_args!("{}: {}; check the path and its permissions", one.path, one.reason));
        code = ExitCode::FAILURE;
    }
    code
}
