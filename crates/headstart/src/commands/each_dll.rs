//! PE files rewritten one by one: all are thought out before the first is written.

use super::dll_set::{File, all_or_none, carry};
use super::dlls::{SCHEMA, Target, make_folder, targets};
use crate::args::DllArgs;
use crate::output;
use crate::progress::Counter;
use anyhow::Result;
use dlls::Declined;
use dlls::signature::{self, Signatures};
use image::apply::Batch;
use image::pe::edit::{Draft, KeepChecksum};
use image::pe::{Pe, PeFile};
use model::figures::{count, plural};
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
    /// Signatures that it lost.
    pub stripped: Signatures,
    /// What was done.
    pub done: T,
}

impl<T> File<T> {
    /// The same of a file that was not declined.
    fn settled(self) -> Option<Rewritten<T>> {
        let Rewritten { file, written, changed, stripped, done } = self;
        Some(Rewritten { file, written, changed, stripped, done: done.ok()? })
    }
}

impl<T> Rewritten<T> {
    /// The file's path as text.
    pub fn name(&self) -> String {
        self.file.display().to_string()
    }

    /// What is noted of files whatever is done to them.
    pub fn notes(&self) -> Vec<String> {
        self.stripped.removed().map(str::to_owned).into_iter().collect()
    }

    /// The file's JSON object: what a verb has to say of it, with what all of them say.
    pub fn object(&self, own: impl Serialize, notes: Vec<String>) -> Result<Value> {
        let mut object = serde_json::to_value(own)?;
        object["file"] = self.name().into();
        object["written"] = self.written.as_ref().map(|path| path.display().to_string()).into();
        object["changed"] = self.changed.into();
        object["signature_removed"] = self.stripped.authenticode.into();
        object["strong_name_removed"] = self.stripped.strong_name.into();
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
    // Removed again last, where nothing was written to it.
    let mut folder = None;
    let batch = Batch::for_files(targets.len() + 1);
    let one_of = |target: &Target<'_>, write: bool| -> Result<File<T>> {
        let file = PeFile::open(target.file)?;
        let rewrite = |draft: &mut Draft| rewrite(draft, file.name());
        let done = one(arguments, target, &file.pe(), &rewrite, write.then_some(&batch));
        file.unchanged()?;
        done
    };
    // The files' new bytes are not kept from the first pass: a set may be larger than memory.
    let mut files = each(&targets, "checking", |target| one_of(target, false))?;
    all_or_none(&mut files)?;
    if !arguments.dry_run {
        folder = Some(make_folder(arguments)?);
        carry(arguments, &batch)?;
        files = each(&targets, "writing", |target| one_of(target, true))?;
        all_or_none(&mut files)?;
        batch.finish()?;
    }
    drop(folder);
    Ok(files.into_iter().filter_map(Rewritten::settled).collect())
}

/// Rewrites one image, and writes the result where there is a batch. One that is declined is written
/// as it was: whether that is wanted is for others to say, before the batch gets its names.
pub fn one<T>(
    arguments: &DllArgs,
    target: &Target<'_>,
    file: &Pe<'_>,
    rewrite: &dyn Fn(&mut Draft) -> Result<T, Declined>,
    batch: Option<&Batch>,
) -> Result<File<T>> {
    let original = file.bytes();
    let path = target.file.display().to_string();
    let (new, stripped, done) = match settled(arguments, file, &path, rewrite) {
        Ok((new, stripped, done)) => (Some(new), stripped, Ok(done)),
        Err(declined) => (None, Signatures::default(), Err(declined)),
    };
    let new = new.as_deref().unwrap_or(original);
    let written = match batch {
        Some(batch) => target.write_in(batch, original, new)?,
        None => None,
    };
    let file = target.file.to_owned();
    Ok(Rewritten { file, written, changed: original != new, stripped, done })
}

/// The new bytes of one image, the signatures that it lost, and what was done. An image that stays
/// the same keeps them.
fn settled<T>(
    arguments: &DllArgs,
    file: &Pe<'_>,
    path: &str,
    rewrite: &dyn Fn(&mut Draft) -> Result<T, Declined>,
) -> Result<(Vec<u8>, Signatures, T), Declined> {
    let keep = if arguments.checksum { KeepChecksum::Compute } else { KeepChecksum::AsItWas };
    let mut draft = Draft::of(file);
    if Signatures::of(file).any() {
        let mut trial = draft.clone();
        if let Ok(done) = rewrite(&mut trial) {
            let new = trial.finish(keep);
            if signature::is_kept(file, &new) {
                return Ok((new, Signatures::default(), done));
            }
        }
        // What stands in the way besides the signature is said rather: without it the advice to
        // remove the signature would lead nowhere.
        let mut trial = draft.clone();
        signature::settle(&mut trial, path, true)?;
        rewrite(&mut trial)?;
    }
    let stripped = signature::settle(&mut draft, path, arguments.strip_signature)?;
    let done = rewrite(&mut draft)?;
    Ok((draft.finish(keep), stripped, done))
}

/// Prints what was done: as JSON, or a view that says where the results are.
pub fn tell<T>(
    arguments: &DllArgs,
    files: &[Rewritten<T>],
    json: impl FnOnce() -> Result<Value>,
    view: impl FnOnce(Option<&str>, &Style) -> String,
) -> Result<ExitCode> {
    output::print(&if arguments.json {
        report::export::json(&json()?)?
    } else {
        let written = files.iter().filter(|file| file.written.is_some()).count();
        view(place(arguments, written, files.len()).as_deref(), &output::style())
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

/// Where the results are, in words, and how many of the files they are; `None` for a dry run.
pub fn place(arguments: &DllArgs, written: usize, files: usize) -> Option<String> {
    if arguments.dry_run {
        return None;
    }
    let of = plural(files as u64, "file", "files");
    let written = count(written as u64);
    Some(match (&arguments.out, &*written) {
        (Some(_), "0") => "Nothing was written".to_owned(),
        (Some(folder), _) if written == count(files as u64) => {
            format!("Written to {}", output::quoted(folder))
        }
        (Some(folder), _) => format!("Written to {}: {written} of {of}", output::quoted(folder)),
        (None, "0") => "Nothing was changed".to_owned(),
        (None, "1") if files == 1 => "Replaced (--undo restores it)".to_owned(),
        (None, "1") => format!("1 of {of} was replaced (--undo restores it)"),
        (None, _) => format!("{written} of {of} were replaced (--undo restores them)"),
    })
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
