//! `headstart pe rebase`: every real PE file there and back, and its speed beside Cygwin's rebase and
//! beside copying.
//!
//! The peer is not built here: `HEADSTART_PEER_REBASE` names a rebase of Cygwin that was built for
//! this machine. `HEADSTART_PE_FILES` names a folder of further PE files.

mod emitted;
mod speed;

use crate::context::Context;
use crate::report::{Report, Row};
use crate::subjects::pe_files;
use anyhow::Result;
use dlls::rebase::{Problem, RebaseOptions, examine, rebase};
use image::pe::edit::{KeepChecksum, PeDraft};
use image::pe::{Pe, PeFile};
use model::Va;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A folder of PE files.
const FILES: &str = "HEADSTART_PE_FILES";
/// Bases that no file has; below 2 GiB for PE32.
const WIDE: Va = Va(0x31_4159_0000);
const NARROW: Va = Va(0x4567_0000);

/// What became of one file.
enum Outcome {
    /// It went there and back; whether its checksum was right before, and all is well.
    Moved { checksum: bool, same: bool, checksum_kept: bool, stripped: bool },
    /// It cannot be moved for a reason that is documented.
    Stays(&'static str),
    /// It cannot be moved for another reason.
    Failed(String),
}

pub(super) fn check(context: &Context) -> Result<Report> {
    let mut report = Report::default();
    let mut sets: Vec<(String, Vec<PathBuf>)> =
        pe_files::all()?.into_iter().map(|set| (set.name, set.files)).collect();
    if let Some(folder) = std::env::var_os(FILES) {
        let files = files_below(Path::new(&folder));
        sets.push((format!("${FILES}"), files));
    }
    for (name, files) in &sets {
        let outcomes: Vec<Outcome> = files.par_iter().map(|file| there_and_back(file)).collect();
        rows(&mut report, name, &outcomes);
    }
    speed::check(context, &mut report)?;
    Ok(report)
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            files.extend(files_below(&path));
        } else if PeFile::open(&path).is_ok() {
            files.push(path);
        }
    }
    files
}

fn there_and_back(file: &Path) -> Outcome {
    let read = || -> Result<Outcome> {
        let name = file.display().to_string();
        let (original, signed) = unsigned(&name, std::fs::read(file)?)?;
        let pe = Pe::parse(&name, &original)?;
        let options = RebaseOptions::default();
        match examine(&name, &pe, options).obstacle {
            Some(Problem::Stripped { .. }) => return Ok(Outcome::Stays("relocations stripped")),
            Some(problem) => return Ok(Outcome::Failed(problem.to_string())),
            None => {}
        }
        let wide = pe.headers().pe32_plus;
        let there = rebase(&name, original.clone(), if wide { WIDE } else { NARROW }, options);
        let there = there.or_else(|_| rebase(&name, original.clone(), NARROW, options))?;
        let right = |bytes: &[u8]| -> Result<bool> {
            let pe = Pe::parse(&name, bytes)?;
            Ok(pe.headers().checksum != 0 && pe.headers().checksum == pe.computed_checksum())
        };
        let (checksum, checksum_after) = (right(&original)?, right(&there.bytes)?);
        let unbound = there.unbound;
        let back = rebase(&name, there.bytes, pe.headers().base, options)?;
        let same = unbound || back.bytes == original;
        let checksum_kept = checksum == checksum_after && right(&back.bytes)? == checksum;
        Ok(Outcome::Moved { checksum, same, checksum_kept, stripped: signed })
    };
    read().unwrap_or_else(|error| Outcome::Failed(error.to_string()))
}

/// A file as it is without its signature, if it has one, and whether it had.
fn unsigned(name: &str, file: Vec<u8>) -> Result<(Vec<u8>, bool)> {
    if Pe::parse(name, &file)?.certificate_range().is_none() {
        return Ok((file, false));
    }
    let mut draft = PeDraft::read(name, file)?;
    dlls::signature::settle(&mut draft, name, true)?;
    Ok((draft.finish(KeepChecksum::AsItWas), true))
}

fn rows(report: &mut Report, name: &str, outcomes: &[Outcome]) {
    let (mut moved, mut different, mut checksums, mut wrong, mut signed) = (0, 0, 0, 0, 0);
    let (mut failed, mut stay) = (Vec::new(), BTreeMap::<&str, u32>::new());
    for outcome in outcomes {
        match outcome {
            Outcome::Moved { checksum, same, checksum_kept, stripped } => {
                moved += 1;
                different += u32::from(!same);
                checksums += u32::from(*checksum);
                wrong += u32::from(!checksum_kept);
                signed += u32::from(*stripped);
            }
            Outcome::Stays(reason) => *stay.entry(reason).or_default() += 1,
            Outcome::Failed(reason) => failed.push(reason),
        }
    }
    let stay: Vec<String> =
        stay.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    let value = format!(
        "{moved} there and back ({signed} unsigned first), {} failed{}",
        failed.len(),
        if stay.is_empty() { String::new() } else { format!(", {}", stay.join(", ")) }
    );
    let good = failed.is_empty() && different == 0 && !outcomes.is_empty();
    report.rows.push(Row::bar(
        format!("{name}: {} files", outcomes.len()),
        value,
        "0 failed",
        good,
    ));
    let value = format!("{checksums} right before, {wrong} changed that");
    report.rows.push(Row::bar(format!("{name}: checksums"), value, "0", wrong == 0));
    for reason in failed.iter().take(5) {
        println!("  failed: {reason}");
    }
}
