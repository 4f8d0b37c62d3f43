//! PE files rewritten one by one: all are thought out before the first is written.

use super::dlls::{SCHEMA, Target, declines, targets};
use crate::args::DllArgs;
use crate::output;
use crate::progress::Counter;
use anyhow::Result;
use dlls::{Declined, signature};
use image::apply::Batch;
use image::pe::edit::{Draft, KeepChecksum};
use image::pe::{Pe, PeFile, spec};
use rayon::prelude::*;
use report::Style;
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

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

impl<T> Rewritten<T> {
    /// The file's path as text.
    pub fn name(&self) -> String {
        self.file.display().to_string()
    }

    /// What is noted of files whatever is done to them.
    pub fn notes(&self) -> Vec<String> {
        let note = "its signature was removed".to_owned();
        self.stripped.then_some(note).into_iter().collect()
    }

    /// The file's JSON object: what a verb has to say of it, with what all of them say.
    pub fn object(&self, own: impl Serialize, notes: Vec<String>) -> Result<Value> {
        let mut object = serde_json::to_value(own)?;
        object["file"] = self.name().into();
        object["written"] = self.written.as_ref().map(|path| path.display().to_string()).into();
        object["changed"] = self.changed.into();
        object["signature_removed"] = self.stripped.into();
        object["notes"] = notes.into();
        Ok(object)
    }
}

/// Rewrites every file by `rewrite`, and writes the results unless this is a dry run. Nothing is
/// written where one of them is declined.
pub fn rewrite<T: Send>(
    arguments: &DllArgs,
    rewrite: impl Fn(&mut Draft, &str) -> Result<T, Declined> + Sync,
) -> Result<Vec<Rewritten<T>>> {
    let targets = targets(arguments)?;
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

/// Prints what was done: as JSON, or a view that says where the results are.
pub fn tell(
    arguments: &DllArgs,
    json: impl FnOnce() -> Result<Value>,
    view: impl FnOnce(Option<&str>, &Style) -> String,
) -> Result<ExitCode> {
    output::print(&if arguments.json {
        report::export::json(&json()?)?
    } else {
        view(place(arguments).as_deref(), &output::style())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What `--json` prints.
pub fn json<T>(
    arguments: &DllArgs,
    files: &[Rewritten<T>],
    object: impl Fn(&Rewritten<T>) -> Result<Value>,
) -> Result<Value> {
    let files: Vec<Value> = files.iter().map(object).collect::<Result<_>>()?;
    Ok(json!({ "schema": SCHEMA, "dry_run": arguments.dry_run, "files": files }))
}

/// Where the results are, in words; `None` for a dry run.
pub fn place(arguments: &DllArgs) -> Option<String> {
    match &arguments.out {
        _ if arguments.dry_run => None,
        Some(folder) => Some(format!("Written to {}", output::quoted(folder))),
        None => Some("Replaced (--undo restores them)".to_owned()),
    }
}

/// Does something with every one, in parallel, and says how far it is.
pub fn each<F: Sync, T: Send>(
    targets: &[F],
    doing: &'static str,
    one: impl Fn(&F) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let counter = Counter::new(doing, targets.len());
    let results = targets.par_iter().map(|target| one(target).inspect(|_| counter.one_more()));
    results.collect()
}
