//! What eviction without root leaves of a program's files in memory, against `drop_caches`.

use crate::context::{Context, EMACS};
use crate::headstart::Headstart;
use crate::report::{Report, Row};
use anyhow::{Context as _, Result};
use model::{CacheEviction, CacheStatus};
use std::path::Path;

const ROUNDS: usize = 5;
/// How far apart both may be, of the pages that drop_caches leaves.
const MOST_APART: f64 = 0.01;

/// Large programs, launched so that they end by themselves.
const PROGRAMS: [&[&str]; 4] = [
    &EMACS,
    &["inkscape", "--version"],
    &["chromium", "--no-sandbox", "--version"],
    &["clang-19", "--version"],
];

/// Both ways in turns, from files that are wholly in memory.
///
/// # Errors
/// The bar is not run as root, or a program cannot be launched.
pub fn check(context: &Context) -> Result<Report> {
    let users = context.users()?;
    let [(_, root), (_, nobody)] = users.as_slice() else {
        anyhow::bail!("eviction is compared with drop_caches, which needs root");
    };
    let rows = PROGRAMS.iter().map(|command| row(root, nobody, command));
    Ok(Report { rows: rows.collect::<Result<_>>()? })
}

fn row(root: &Headstart, nobody: &Headstart, command: &[&str]) -> Result<Row> {
    let found: CacheStatus =
        root.json(&[&["cache", "status", "--json", "--"], command].concat())?;
    // Files of root's own that nobody may read are left out.
    let home = std::env::home_dir().unwrap_or_else(|| "/root".into());
    let paths = found.files.iter().map(|file| file.path.as_str());
    let files: Vec<&str> = paths.filter(|path| !Path::new(path).starts_with(&home)).collect();
    let (mut evicted, mut dropped) = (u64::MAX, u64::MAX);
    for _ in 0..ROUNDS {
        for (user, options, left) in [
            (nobody, &["--level", "file"], &mut evicted),
            (root, &["--level", "drop"], &mut dropped),
        ] {
            files.iter().try_for_each(|path| warm(Path::new(path)))?;
            let words = [&["cache", "evict", "--json"], &options[..], &files].concat();
            user.json::<CacheEviction>(&words)?;
            // Whatever else runs meanwhile only adds pages.
            *left = left_pages(root, &files)?.min(*left);
        }
    }
    let apart = (evicted as f64 - dropped as f64) / dropped.max(1) as f64;
    let name = command.first().context("no program")?;
    let figure = format!("{name}: pages left of {} in {} files", found.totals.pages, files.len());
    let value = format!("{evicted} ({:+.2} %)", apart * 100.0);
    let row = Row::bar(figure, value, "within 1 %", apart.abs() <= MOST_APART);
    Ok(row.beside(format!("drop_caches {dropped}")))
}

fn warm(path: &Path) -> Result<()> {
    let mut file = std::fs::File::open(path).with_context(|| format!("no {}", path.display()))?;
    std::io::copy(&mut file, &mut std::io::sink())?;
    Ok(())
}

fn left_pages(root: &Headstart, files: &[&str]) -> Result<u64> {
    let status: CacheStatus = root.json(&[&["cache", "status", "--json"], files].concat())?;
    Ok(status.totals.resident_pages)
}
