//! What is tried with every program of /usr/bin and /usr/sbin, on all processors.

use crate::context::Context;
use anyhow::{Context as _, Result};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 2] = ["/usr/bin", "/usr/sbin"];

/// Says to try only one of so many programs, where a whole sweep would take too long. With a second number behind
/// a plus sign as many are left out first, so that a sweep can be made in parts: `20+0`, `20+1` up to `20+19`.
const EVERY: &str = "CHECK_EVERY";

/// One of how many, and how many are left out first.
fn every() -> Result<(usize, usize)> {
    let Ok(text) = std::env::var(EVERY) else { return Ok((1, 0)) };
    let every = parts(&text).filter(|&(every, first)| first < every);
    every.with_context(|| format!("{EVERY} is '{text}'; give a number from 1 on, or 20+3"))
}

fn parts(text: &str) -> Option<(usize, usize)> {
    let (every, first) = text.split_once('+').unwrap_or((text, "0"));
    Some((every.parse().ok()?, first.parse().ok()?))
}

/// One program.
pub struct Turn<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// A folder that is not there yet, and is removed afterwards.
    pub folder: &'a Path,
    /// The processor for its launches, which no other turn uses meanwhile.
    pub cpu: u32,
}

/// What `one` finds of every program but those of some names.
///
/// # Errors
/// The folders cannot be read.
pub fn each<T: Send>(
    context: &Context,
    but: &[&str],
    one: impl Fn(&Turn<'_>) -> T + Sync,
) -> Result<Vec<(PathBuf, T)>> {
    let mut found = BTreeSet::new();
    for folder in FOLDERS {
        found.extend(programs(Path::new(folder))?);
    }
    found.retain(|path| !but.iter().any(|name| path.ends_with(name)));
    let (every, first) = every()?;
    if every > 1 {
        println!("Only one of {every} programs is tried ({EVERY}).");
    }
    let found: Vec<PathBuf> = found.into_iter().skip(first).step_by(every).collect();
    let cpus = os::host::allowed_cpus();
    let tried = found.par_iter().enumerate().map(|(at, path)| {
        let folder = context.scratch.join(format!("program-{at}"));
        let thread = rayon::current_thread_index().unwrap_or(0);
        let cpu = cpus.get(thread % cpus.len().max(1)).copied().unwrap_or(0);
        let outcome = one(&Turn { path, folder: &folder, cpu });
        // Room for the next; what is left goes with the scratch folder.
        let _ = std::fs::remove_dir_all(&folder);
        (path.clone(), outcome)
    });
    Ok(tried.collect())
}

/// Every dynamic program of the folder, links followed.
///
/// # Errors
/// The folder cannot be read.
pub fn programs(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(folder);
    let entries = entries.with_context(|| folder.display().to_string())?.flatten();
    let paths = entries.filter_map(|entry| entry.path().canonicalize().ok());
    let unique: BTreeSet<PathBuf> = paths.filter(|path| is_dynamic(path)).collect();
    Ok(unique.into_iter().collect())
}

/// Whether it is an ELF program that names a loader.
pub fn is_dynamic(path: &Path) -> bool {
    image::elf::facts(path).is_ok_and(|facts| facts.interpreter.is_some())
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_sweep_is_divided() {
        assert_eq!(parts("20"), Some((20, 0)));
        assert_eq!(parts("20+3"), Some((20, 3)));
        assert_eq!(parts("20+"), None);
    }
}
