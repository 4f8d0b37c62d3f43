//! PE files rewritten as a set: what becomes of one depends on the others.

use super::beside;
use super::dlls::{Target, declines, make_folder, targets};
use super::each_dll::{Rewritten, each, one};
use crate::args::DllArgs;
use anyhow::Result;
use dlls::{Declined, Files, Set};
use image::apply::Batch;
use image::pe::edit::Draft;
use model::figures::plural;
use report::dll_set::SetRow;
use std::path::PathBuf;

/// What became of a file, or why it stays as it is.
pub type Outcome<T> = Result<T, Declined>;
/// One file of a set.
pub type File<T> = Rewritten<Outcome<T>>;
/// How one image of a set is rewritten.
type Rewrite<'a, T> = dyn Fn(&mut Draft, &Set<'_>, usize) -> Result<T, Declined> + Sync + 'a;

/// Rewrites every file by `rewrite`. `before` sees what will become of them, in order, before the
/// first file is written, and may stop it.
pub fn rewrite<T: Send>(
    arguments: &DllArgs,
    search: &[PathBuf],
    rewrite: &Rewrite<'_, T>,
    before: impl FnOnce(&Set<'_>, &mut Vec<File<T>>, &Batch) -> Result<()>,
) -> Result<Vec<File<T>>> {
    let files = Files::open(&arguments.files, search).map_err(declines)?;
    let set = files.set();
    set.unambiguous().map_err(declines)?;
    // Removed again last, where nothing was written to it.
    let mut folder = None;
    let batch = Batch::for_files(arguments.files.len() + 1);
    let numbered: Vec<(usize, Target<'_>)> = targets(arguments)?.into_iter().enumerate().collect();
    let one_of = |(index, target): &(usize, Target<'_>), write: bool| {
        let Some(member) = set.member(*index) else { anyhow::bail!("no image {index}") };
        let rewrite = |draft: &mut Draft| rewrite(draft, &set, *index);
        one(arguments, target, member.pe(), &rewrite, write.then_some(&batch))
    };
    // The files' new bytes are not kept from the first pass: a set may be larger than memory.
    let mut planned = each(&numbered, "checking", |target| one_of(target, false))?;
    if !arguments.dry_run {
        folder = Some(make_folder(arguments)?);
    }
    before(&set, &mut planned, &batch)?;
    if arguments.dry_run {
        return Ok(planned);
    }
    let written = each(&numbered, "writing", |target| one_of(target, true));
    files.unchanged()?;
    let written = written?;
    batch.finish()?;
    drop(folder);
    Ok(written)
}

/// Takes the record of imports by ordinal along to another folder.
pub fn carry(arguments: &DllArgs, batch: &Batch) -> Result<()> {
    if let Some((place, text)) = beside::carried(arguments)? {
        batch.write_first(&place, text.as_bytes(), 0o644)?;
    }
    Ok(())
}

/// Stops where a file would be left as it is: with the first such file's reason, and how many more
/// there are.
pub fn all_or_none<T>(files: &mut Vec<File<T>>) -> Result<()> {
    let refused = files.iter().filter(|file| file.done.is_err()).count() as u64;
    let Some(index) = files.iter().position(|file| file.done.is_err()) else { return Ok(()) };
    let Err(mut declined) = files.swap_remove(index).done else { return Ok(()) };
    if let Declined::Refused { reason, .. } = &mut declined
        && !files.is_empty()
    {
        *reason += &match refused {
            1 => ". Nothing was written, including the other files".to_owned(),
            more => format!(
                ". Nothing was written; {} refused too",
                plural(more - 1, "other file is", "other files are")
            ),
        };
    }
    Err(declines(declined))
}

/// Rows of the table of a set.
pub fn rows<T, const N: usize>(
    files: &[Rewritten<T>],
    figures: impl Fn(&Rewritten<T>) -> [u64; N],
    notes: impl Fn(&Rewritten<T>) -> Vec<String>,
) -> Vec<SetRow> {
    let row = |file| SetRow {
        file: Rewritten::name(file),
        figures: figures(file).into(),
        notes: notes(file),
    };
    files.iter().map(row).collect()
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
