//! `headstart cache evict`: files leave memory, and what stays is told.

use super::cache::{CachedFilesArgs, ChosenFiles};
use super::cache_status::end;
use crate::exit::{self, WithCode};
use crate::output::{self, tell};
use anyhow::Result;
use clap::{Args, ValueEnum};
use model::{CACHE_EVICTION_SCHEMA, CacheEviction, CacheTotals, EvictionLevel, Reading};
use os::cache::{EvictError, EvictedFiles};
use std::process::ExitCode;

/// Evict files from memory, as before a cold start
///
/// Needs no more than the right to read the files. Pages that running processes have mapped stay,
/// and so do changed pages until they are written, which the kernel begins now; names, inodes and
/// the blocks of the file system itself stay in any case. What stayed, and why, is printed.
#[derive(Debug, Args)]
pub struct Arguments {
    #[command(flatten)]
    chosen: CachedFilesArgs,

    /// How much is evicted
    #[arg(long, value_name = "LEVEL", default_value = "file")]
    level: LevelArg,

    /// Write changed pages first: of your own files, as root of all
    #[arg(long)]
    sync: bool,

    /// List every file, also those of which nothing stayed
    #[arg(long)]
    all: bool,

    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// How much is evicted.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum LevelArg {
    /// The files alone
    File,
    /// Every clean page of the whole machine: all programs read their files anew (root)
    Drop,
    /// Unmount and mount the file systems of the files, if they are not in use (root)
    Remount,
}

impl LevelArg {
    fn level(self) -> EvictionLevel {
        match self {
            LevelArg::File => EvictionLevel::File,
            LevelArg::Drop => EvictionLevel::Drop,
            LevelArg::Remount => EvictionLevel::Remount,
        }
    }
}

/// Evicts and prints, then says on stderr which named files could not be read.
///
/// # Errors
/// No files are named, the command cannot be launched, or the level is not permitted.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let is_drop = matches!(arguments.level, LevelArg::Drop);
    if is_drop {
        os::cache::may_drop().map_err(|error| known(error.into()))?;
    }
    let mut chosen = arguments.chosen.find()?;
    if is_drop {
        tell(
            "note: this empties the page cache of the whole machine: everything that runs reads its \
             files anew",
        );
    }
    let level = arguments.level.level();
    let found = os::cache::evict_files(&chosen.files, level, arguments.sync).map_err(known)?;
    chosen.skipped.extend(found.skipped.iter().cloned());
    let eviction = eviction(chosen, level, found);
    output::print_either(arguments.json, &eviction, |style| {
        report::cache::eviction_view(&eviction, style, arguments.all)
    })?;
    Ok(end(&arguments.chosen, &eviction.skipped))
}

fn known(error: EvictError) -> anyhow::Error {
    let code = if error.is_permission() { exit::NOT_PERMITTED } else { exit::NO };
    WithCode { code, text: error.to_string() }.into()
}

fn eviction(chosen: ChosenFiles, level: EvictionLevel, found: EvictedFiles) -> CacheEviction {
    let known = |totals: &CacheTotals, pages: u64| match totals.unknown_files {
        0 => Reading::Value(pages),
        unknown => Reading::unavailable(
            format!("of {unknown} of {} files the kernel tells only root", totals.files),
            "run headstart as root",
        ),
    };
    let (before, after) = (found.before, found.after);
    CacheEviction {
        schema: CACHE_EVICTION_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        command: chosen.command,
        files_from: chosen.files_from,
        level,
        page_bytes: os::cache::page_bytes(),
        evicted_pages: known(&after, before.resident_pages.saturating_sub(after.resident_pages)),
        left_pages: known(&after, after.resident_pages),
        before,
        after,
        files: found.files,
        hidden_processes: found.hidden_processes,
        metadata: os::cache::metadata(),
        remounted: found.remounted.iter().map(model::text::text).collect(),
        skipped: chosen.skipped,
        notes: chosen.notes,
    }
}
