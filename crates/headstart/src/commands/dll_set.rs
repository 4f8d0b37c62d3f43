//! PE files rewritten as a set: what becomes of one depends on the others.

use super::dlls::{Target, declines, targets};
use super::each_dll::{Rewritten, dry, each, settled};
use crate::args::DllArgs;
use anyhow::Result;
use dlls::{Declined, Files, Set};
use image::apply::Batch;
use image::pe::edit::Draft;
use std::path::PathBuf;

/// What is to be rewritten, and where else DLLs may be.
pub struct Request<'a> {
    /// The files, and what becomes of them.
    pub arguments: &'a DllArgs,
    /// Folders of further DLLs, which are looked at only.
    pub search: &'a [PathBuf],
}

/// What became of a file, or why it stays as it is.
pub type Outcome<T> = Result<T, Declined>;
/// How one image of a set is rewritten.
type Rewrite<'a, T> = dyn Fn(&mut Draft, &Set<'_>, usize) -> Result<T, Declined> + Sync + 'a;

/// Rewrites every file by `rewrite`. `judge` sees what would become of them, and may stop it before
/// the first file is written; `last` gets the set and what was done, in order.
pub fn rewrite<T: Send, R>(
    request: &Request<'_>,
    rewrite: &Rewrite<'_, T>,
    judge: impl FnOnce(Vec<Rewritten<Outcome<T>>>) -> Result<Vec<Rewritten<Outcome<T>>>>,
    last: impl FnOnce(&Set<'_>, Vec<Rewritten<Outcome<T>>>) -> Result<R>,
) -> Result<R> {
    let arguments = request.arguments;
    let files = Files::open(&arguments.files, request.search).map_err(declines)?;
    let set = files.set();
    set.unambiguous().map_err(declines)?;
    let targets = if arguments.dry_run { dry(&arguments.files) } else { targets(arguments)? };
    let batch = Batch::default();
    let numbered: Vec<(usize, Target<'_>)> = targets.into_iter().enumerate().collect();
    let one = |(index, target): &(usize, Target<'_>), write: bool| {
        let Some(member) = set.member(*index) else { anyhow::bail!("no image {index}") };
        let original = member.pe().bytes();
        let thought =
            settled(arguments, member.pe(), &member.name(), &|draft| rewrite(draft, &set, *index));
        let (new, stripped, done) = match thought {
            Ok((new, stripped, done)) => (Some(new), stripped, Ok(done)),
            Err(declined) => (None, false, Err(declined)),
        };
        let new = new.as_deref().unwrap_or(original);
        let written = if write { target.write_in(&batch, original, new)? } else { None };
        let file = target.file.to_owned();
        Ok(Rewritten { file, written, changed: original != new, stripped, done })
    };
    // The files' new bytes are not kept from the first pass: a set may be larger than memory.
    let planned = each(&numbered, "checking", |target| one(target, false))?;
    let planned = judge(planned)?;
    let done = match arguments.dry_run {
        true => planned,
        false => each(&numbered, "writing", |target| one(target, true))?,
    };
    batch.finish()?;
    last(&set, done)
}

/// Stops where a file would be left as it is.
pub fn all_or_none<T>(files: Vec<Rewritten<Outcome<T>>>) -> Result<Vec<Rewritten<Outcome<T>>>> {
    if files.iter().all(|file| file.done.is_ok()) {
        return Ok(files);
    }
    let mut declined = files.into_iter().filter_map(|file| file.done.err());
    Err(declined.next().map_or_else(|| anyhow::anyhow!("no file"), declines))
}

/// The first few of some names, and how many more there are.
pub fn few(names: &[String]) -> String {
    const SHOWN: usize = 4;
    let shown = names.get(..SHOWN).unwrap_or(names).join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What every file's JSON object has.
pub fn object<T>(file: &Rewritten<T>, mut own: serde_json::Value) -> serde_json::Value {
    own["file"] = file.file.display().to_string().into();
    own["written"] = file.written.as_ref().map(|path| path.display().to_string()).into();
    own["changed"] = file.changed.into();
    own["signature_removed"] = file.stripped.into();
    own
}

/// A note of every file that lost its signature.
pub fn stripped<T>(file: &Rewritten<T>) -> Option<String> {
    file.stripped.then(|| "its signature was removed".to_owned())
}
