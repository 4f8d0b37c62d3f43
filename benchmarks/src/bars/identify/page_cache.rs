//! What a look leaves in memory: nothing less of a cached file, little of one that is not.

use crate::context::Context;
use crate::report::Row;
use anyhow::{Context as _, Result, bail};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a look may bring in.
const MOST_KIB: u64 = 64;
const PAGE_KIB: u64 = 4;

/// The largest ELF and PE files, copied so that nobody else uses them.
pub(super) fn rows(context: &Context, all: &[PathBuf]) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (kind, magic) in [("ELF", &b"\x7fELF"[..]), ("PE", b"MZ")] {
        let Some(largest) = largest(all, magic) else {
            rows.push(Row::shown(format!("large {kind} file"), "SKIPPED: none here".to_owned()));
            continue;
        };
        let copy = context.scratch.join(format!("large-{kind}"));
        fs::copy(&largest, &copy).with_context(|| format!("no {}", copy.display()))?;
        let name = largest.file_name().unwrap_or_default().to_string_lossy().into_owned();
        rows.extend(of(&context.headstart.program, &copy, &format!("{kind} {name}"))?);
        fs::remove_file(&copy)?;
    }
    Ok(rows)
}

fn of(headstart: &Path, file: &Path, name: &str) -> Result<Vec<Row>> {
    let ours = || look(Command::new(headstart).arg("identify").arg(file));
    let theirs = || look(Command::new("file").arg(file));
    fs::File::open(file)?.sync_all()?;
    let (total, _) = resident(file)?;
    fs::read(file)?;
    let (_, before) = resident(file)?;
    ours()?;
    let (_, after) = resident(file)?;
    let cached = Row::bar(
        format!("{name}, cached: pages in memory after a look"),
        format!("{after} of {total}"),
        "as before",
        after == before && before > 0,
    );
    let brought_kib = |look: &dyn Fn() -> Result<()>| -> Result<u64> {
        os::cache::evict(&[file]);
        let (_, before) = resident(file)?;
        look()?;
        Ok((resident(file)?.1 - before) * PAGE_KIB)
    };
    let (kib, peer_kib) = (brought_kib(&ours)?, brought_kib(&theirs)?);
    let cold = Row::bar(
        format!("{name}, not cached: brought in"),
        format!("{kib} KiB"),
        "≤ 64 KiB",
        kib <= MOST_KIB && kib > 0,
    );
    Ok(vec![cached.beside(format!("before {before}")), cold.beside(format!("file {peer_kib} KiB"))])
}

fn look(command: &mut Command) -> Result<()> {
    let status = command.stdout(Stdio::null()).status();
    let status = status.with_context(|| format!("{command:?} cannot be run"))?;
    if status.success() { Ok(()) } else { bail!("{command:?} failed: {status}") }
}

/// Pages of the file, and those in memory.
fn resident(file: &Path) -> Result<(u64, u64)> {
    let (total, resident) = os::residency::resident_pages(file)?;
    let reason = resident.reason().unwrap_or_default().to_owned();
    Ok((total, resident.get().with_context(|| format!("no residency: {reason}"))?))
}

/// The largest file that begins so.
fn largest(all: &[PathBuf], magic: &[u8]) -> Option<PathBuf> {
    let begins = |path: &&PathBuf| {
        let mut start = vec![0; magic.len()];
        let read = fs::File::open(path).and_then(|file| file.read_exact_at(&mut start, 0));
        read.is_ok() && start == magic
    };
    let images = all.iter().filter(begins);
    images.max_by_key(|path| path.metadata().map_or(0, |metadata| metadata.len())).cloned()
}
