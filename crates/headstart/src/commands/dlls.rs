//! What all commands share that rewrite PE files: where the results go, writing them, taking them
//! back.

use super::beside;
use crate::args::DllArgs;
use crate::exit::{Declines, NotAll, Unusable, Usage};
use crate::output;
use anyhow::Result;
use image::Edited;
use image::apply::{self, Batch, Locked};
use image::reasons;
use model::figures::plural;
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Version of what `--json` prints.
pub const SCHEMA: u32 = 1;

/// A file, and where its new version goes.
pub struct Target<'a> {
    /// The file.
    pub file: &'a Path,
    /// The new file; `None` for the file itself.
    pub out: Option<PathBuf>,
}

/// Where each file goes, which a dry run does not touch. That it can go there is checked for all of
/// them now, so that nothing is half done later.
pub fn targets(arguments: &DllArgs) -> Result<Vec<Target<'_>>> {
    let mut targets = Vec::new();
    let writers = apply::Writers::default();
    // A folder that is not there, or cannot be read, is found out by writing to it.
    let present = arguments.out.iter().filter_map(|folder| folder.read_dir().ok()).flatten();
    let present: HashSet<OsString> = present.flatten().map(|entry| entry.file_name()).collect();
    let mut names: HashMap<OsString, &Path> = HashMap::new();
    for file in arguments.files.iter() {
        if arguments.in_place {
            apply::may_be_replaced_beside(file, &writers)?;
        }
        let name = file.file_name().unwrap_or(file.as_os_str());
        let out = arguments.out.as_ref().map(|folder| folder.join(name));
        // The same file twice in place, and two of one name in one folder.
        let key = match &out {
            Some(out) => out.clone(),
            None => file.canonicalize().unwrap_or_else(|_| file.clone()),
        };
        if let Some(other) = names.insert(key.into_os_string(), file) {
            let same = |file: &Path| file.canonicalize().unwrap_or_else(|_| file.to_owned());
            let (is_same, other, file) =
                (same(other) == same(file), other.display(), file.display());
            if is_same {
                return Err(Usage(match other.to_string() == file.to_string() {
                    true => format!("{file} is named twice; name it once"),
                    false => format!("{other} and {file} are the same file; name it once"),
                })
                .into());
            }
            return Err(Usage(format!(
                "{other} and {file} would be the same file; write them to different folders"
            ))
            .into());
        }
        if let Some(out) = out.as_ref().filter(|_| present.contains(name)) {
            return Err(apply::ApplyError::Exists(out.clone()).into());
        }
        targets.push(Target { file, out });
    }
    Ok(targets)
}

/// Makes the folder that results go to, once it is known that there are any, and keeps other runs
/// from writing where this one does.
pub fn make_folder(arguments: &DllArgs) -> Result<Folders> {
    match &arguments.out {
        Some(folder) => Folders::make(folder),
        None => Ok(Folders { new: Vec::new(), _locked: lock(arguments) }),
    }
}

/// Keeps other runs from writing to the folders of the files.
fn lock(arguments: &DllArgs) -> Locked {
    Locked::folders_of(arguments.files.iter().map(PathBuf::as_path), waits)
}

fn waits(folder: &Path) {
    let folder = folder.display();
    anstream::eprintln!("headstart: another headstart is writing to {folder}; waiting for its end");
}

/// Folders that results go to. Those that were made for them, innermost first, go with this value
/// where nothing was written to them.
pub struct Folders {
    new: Vec<PathBuf>,
    _locked: Locked,
}

impl Folders {
    /// Makes the folder and what is missing above it.
    fn make(folder: &Path) -> Result<Folders> {
        loop {
            let new = folder.ancestors().take_while(|folder| !folder.exists());
            let new = new.map(Path::to_owned).collect();
            std::fs::create_dir_all(folder).map_err(|error| apply::ApplyError::Refused {
                path: folder.to_owned(),
                reason: reasons::unwritten(folder, &error),
            })?;
            let folders = Folders { new, _locked: Locked::folders([folder], waits) };
            // The run that was waited for may have removed it.
            if folder.exists() {
                return Ok(folders);
            }
        }
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        // One with something in it stays.
        self.new.iter().for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
}

impl Target<'_> {
    /// Writes the new version of a file, or replaces it, as one of a set and by any thread; nothing
    /// where there is no new version and it is replaced. Gives the path of what was written.
    pub fn write_in(&self, batch: &Batch, original: &[u8], new: &[u8]) -> Result<Option<PathBuf>> {
        match &self.out {
            Some(out) => {
                let data = self.file.metadata();
                let mode = data.map_or(0o644, |data| data.permissions().mode() & 0o777);
                batch.write_new(out, std::iter::once(new), mode)?;
                Ok(Some(out.clone()))
            }
            None if original == new => Ok(None),
            None => {
                let edited = Edited::of(original, new);
                batch.replace(self.file, &edited)?;
                Ok(Some(self.file.to_owned()))
            }
        }
    }
}

/// A file that is not rewritten, as an error with its exit code.
pub fn declines(declined: dlls::Declined) -> anyhow::Error {
    match declined {
        dlls::Declined::Unreadable(error) => error.into(),
        dlls::Declined::Refused { path, reason } => Declines { path, reason }.into(),
    }
}

/// A record of imports by ordinal that cannot be used, as an error with its exit code.
pub fn unusable(declined: dlls::Declined) -> anyhow::Error {
    match declined {
        dlls::Declined::Unreadable(error) => error.into(),
        dlls::Declined::Refused { path, reason } => Unusable { path, reason }.into(),
    }
}

/// Restores files that were rewritten in place. Those of a set that had not to be changed have
/// nothing to be restored, and are passed over where others have.
pub fn undo(arguments: &DllArgs) -> Result<ExitCode> {
    // A run under way has yet to write undo files.
    let _locked = lock(arguments);
    let rewritten = |file: &&PathBuf| {
        let real = file.canonicalize().unwrap_or_else(|_| (*file).clone());
        apply::undo_file(&real).symlink_metadata().is_ok()
    };
    let mut files: Vec<&PathBuf> = arguments.files.iter().filter(rewritten).collect();
    if files.is_empty() {
        // Any of them says that there is nothing to be restored.
        files = arguments.files.iter().take(1).collect();
    }
    let writers = apply::Writers::default();
    let undone: Vec<_> =
        files.par_iter().map(|file| (*file, apply::undo_beside(file, &writers))).collect();
    let mut failed: Vec<apply::ApplyError> = Vec::new();
    let mut restored: Vec<&PathBuf> = Vec::new();
    for (file, undone) in undone {
        match undone {
            Ok(()) => restored.push(file),
            Err(error) => failed.push(error),
        }
    }
    tell_restored(arguments, &restored)?;
    let forgotten = beside::forget(arguments);
    let code = not_restored(failed, restored.len())?;
    forgotten.map(|()| code)
}

fn not_restored(mut failed: Vec<apply::ApplyError>, restored: usize) -> Result<ExitCode> {
    match (failed.len(), restored) {
        (0, _) => Ok(ExitCode::SUCCESS),
        (1, 0) => Err(failed.swap_remove(0).into()),
        (more, _) => {
            let reasons: Vec<String> = failed.iter().map(apply::ApplyError::reason).collect();
            let not = plural(more as u64, "file was not restored", "files were not restored");
            let done = plural(restored as u64, "other file was", "other files were");
            let reasons = reasons.join("\n  ");
            Err(NotAll(format!("{not}; {done} restored\n  {reasons}")).into())
        }
    }
}

fn tell_restored(arguments: &DllArgs, files: &[&PathBuf]) -> Result<()> {
    if files.is_empty() && !arguments.json {
        return Ok(());
    }
    output::print(&if arguments.json {
        report::export::json(
            &serde_json::json!({ "schema": SCHEMA, "restored": files.iter().map(model::text::text).collect::<Vec<_>>() }),
        )?
    } else {
        let lines = files.iter();
        lines.map(|file| format!("{} is as it was before\n", file.display())).collect()
    })
}
