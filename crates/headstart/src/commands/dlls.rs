//! What all commands share that rewrite PE files: where the results go, writing them, taking them
//! back.

use crate::args::DllArgs;
use crate::exit::{Declines, Usage};
use crate::output;
use anyhow::Result;
use image::Edited;
use image::apply::{self, Batch};
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
    for file in &arguments.files {
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
            let (other, file) = (other.display(), file.display());
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
    if let Some(folder) = arguments.out.as_ref().filter(|_| !arguments.dry_run) {
        std::fs::create_dir_all(folder).map_err(|source| crate::exit::FileError {
            path: folder.display().to_string(),
            source,
            remedy: "name a folder that can be written to",
        })?;
    }
    Ok(targets)
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
                apply::in_place_beside(self.file, &edited, batch.writers())?;
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

/// Restores files that were rewritten in place. Those of a set that had not to be changed have
/// nothing to be restored, and are passed over where others have.
pub fn undo(arguments: &DllArgs) -> Result<ExitCode> {
    let rewritten = |file: &&PathBuf| {
        let real = file.canonicalize().unwrap_or_else(|_| (*file).clone());
        apply::undo_file(&real).symlink_metadata().is_ok()
    };
    let mut files: Vec<&PathBuf> = arguments.files.iter().filter(rewritten).collect();
    if files.is_empty() {
        files = arguments.files.iter().collect();
    }
    let writers = apply::Writers::default();
    files.par_iter().try_for_each(|file| apply::undo_beside(file, &writers))?;
    output::print(&if arguments.json {
        report::export::json(&serde_json::json!({ "schema": SCHEMA, "restored": files }))?
    } else {
        let lines = files.iter();
        lines.map(|file| format!("{} is as it was before\n", file.display())).collect()
    })?;
    Ok(ExitCode::SUCCESS)
}
