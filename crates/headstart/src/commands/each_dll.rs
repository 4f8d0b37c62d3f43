//! PE files rewritten one by one: all are thought out before the first is written.

use super::dlls::{Target, declines, targets};
use crate::args::DllArgs;
use crate::output;
use crate::progress::Line;
use anyhow::Result;
use dlls::{Declined, signature};
use image::apply::Batch;
use image::pe::edit::{Draft, KeepChecksum};
use image::pe::{Pe, PeFile, spec};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What became of one file.
pub struct Rewritten<T> {
    /// The file.
    pub file: PathBuf,
    /// Where its new version is; `None` where nothing was written.
    pub written: Option<PathBuf>,
    /// Whether the new version differs.
    pub changed: bool,
    /// Whether its signature was removed.
    pub stripped: bool,
    /// What was done.
    pub done: T,
}

/// Rewrites every file by `rewrite`, and writes the results unless this is a dry run. Nothing is
/// written where one of them is declined.
pub fn rewrite<T: Send>(
    arguments: &DllArgs,
    rewrite: impl Fn(&mut Draft, &str) -> Result<T, Declined> + Sync,
) -> Result<Vec<Rewritten<T>>> {
    let targets = if arguments.dry_run { dry(&arguments.files) } else { targets(arguments)? };
    let batch = Batch::default();
    let one = |target: &Target<'_>, write: bool| -> Result<Rewritten<T>> {
        let file = PeFile::open(target.file)?;
        let pe = file.pe();
        let (new, stripped, done) =
            settled(arguments, &pe, file.name(), &|draft| rewrite(draft, file.name()))
                .map_err(declines)?;
        let changed = pe.bytes() != new;
        let written = if write { target.write_in(&batch, pe.bytes(), &new)? } else { None };
        Ok(Rewritten { file: target.file.to_owned(), written, changed, stripped, done })
    };
    // The files' new bytes are not kept from the first pass: a set may be larger than memory.
    let planned = each(&targets, "checking", |target| one(target, false))?;
    if arguments.dry_run {
        return Ok(planned);
    }
    let written = each(&targets, "writing", |target| one(target, true))?;
    batch.finish()?;
    Ok(written)
}

/// The new bytes of one image, whether it lost its signature, and what was done. An image that
/// stays the same keeps its signature.
pub fn settled<T>(
    arguments: &DllArgs,
    file: &Pe<'_>,
    path: &str,
    rewrite: &dyn Fn(&mut Draft) -> Result<T, Declined>,
) -> Result<(Vec<u8>, bool, T), Declined> {
    let keep = if arguments.checksum { KeepChecksum::Compute } else { KeepChecksum::AsItWas };
    let mut draft = Draft::of(file);
    let integrity = spec::IMAGE_DLLCHARACTERISTICS_FORCE_INTEGRITY;
    let guarded = file.headers().dll_characteristics & integrity != 0;
    if guarded || file.certificate_range().is_some() {
        let mut trial = draft.clone();
        if let Ok(done) = rewrite(&mut trial) {
            let new = trial.finish(keep);
            if new == file.bytes() {
                return Ok((new, false, done));
            }
        }
    }
    let stripped = signature::settle(&mut draft, path, arguments.strip_signature)?;
    let done = rewrite(&mut draft)?;
    Ok((draft.finish(keep), stripped, done))
}

/// Where the results are, in words; `None` for a dry run.
pub fn place(arguments: &DllArgs) -> Option<String> {
    match &arguments.out {
        _ if arguments.dry_run => None,
        Some(folder) => Some(format!("Written to {}", output::quoted(folder))),
        None => Some("Replaced (--undo restores them)".to_owned()),
    }
}

/// Files of a dry run, which go nowhere.
pub fn dry(files: &[PathBuf]) -> Vec<Target<'_>> {
    files.iter().map(|file: &PathBuf| Target { file: Path::new(file), out: None }).collect()
}

/// Does something with every one, in parallel, and says how far it is.
pub fn each<F: Sync, T: Send>(
    targets: &[F],
    doing: &str,
    one: impl Fn(&F) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let (line, done) = (Line::new(), AtomicUsize::new(0));
    let results = targets.par_iter().map(|target| {
        let result = one(target)?;
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        let share = done as f64 / targets.len() as f64;
        line.show(share, format!("{doing} {done} of {} files", targets.len()));
        Ok(result)
    });
    results.collect()
}
