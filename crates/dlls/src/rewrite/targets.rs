//! Where the new version of each file goes, and writing it there.

use super::{Destination, RewriteRequest};
use crate::RewriteError;
use files::Edited;
use files::{Batch, WriteError};
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A file, and where its new version goes.
pub(crate) struct Target<'a> {
    /// The file.
    pub(crate) file: &'a Path,
    /// The new file; `None` for the file itself.
    pub(crate) out: Option<PathBuf>,
}

/// Where each file goes, which a dry run does not touch. That it can go there is checked for all of
/// them now, so that nothing is half done later.
pub(crate) fn targets(request: &RewriteRequest) -> Result<Vec<Target<'_>>, RewriteError> {
    let mut targets = Vec::new();
    let writers = files::Writers::default();
    // A folder that is not there, or cannot be read, is found out by writing to it.
    let present = request.folder().and_then(|folder| folder.read_dir().ok()).into_iter().flatten();
    let present: HashSet<OsString> =
        present.flatten().map(|entry| files::name_key(&entry.file_name())).collect();
    let mut names: HashMap<PathBuf, &Path> = HashMap::new();
    for file in &request.files {
        if matches!(request.destination(), Some(Destination::InPlace)) {
            files::may_be_replaced_beside(file, &writers)?;
        }
        let name = file.file_name().unwrap_or(file.as_os_str());
        let out = request.folder().map(|folder| folder.join(name));
        // The same file twice in place, and two of one name in one folder.
        let key = match request.folder() {
            Some(folder) => folder.join(files::name_key(name)),
            None => real(file),
        };
        if let Some(first) = names.insert(key, file) {
            let (first, second) = (first.to_owned(), file.clone());
            let one = real(&first) == real(&second);
            return Err(RewriteError::SameResult { first, second, one });
        }
        if let Some(out) = out.as_ref().filter(|_| present.contains(&files::name_key(name))) {
            return Err(WriteError::Exists(out.clone()).into());
        }
        targets.push(Target { file, out });
    }
    Ok(targets)
}

/// The file that a path leads to, as far as that is known.
fn real(file: &Path) -> PathBuf {
    files::real_path(file).unwrap_or_else(|_| file.to_owned())
}

impl Target<'_> {
    /// Writes the new version of a file, or replaces it, as one of a set and by any thread; nothing
    /// where there is no new version and it is replaced. Gives the path of what was written.
    pub(crate) fn write_in(
        &self,
        batch: &Batch,
        original: &[u8],
        new: &[u8],
    ) -> Result<Option<PathBuf>, WriteError> {
        match &self.out {
            Some(out) => {
                let data = self.file.metadata();
                let mode = data.map_or(0o644, |data| files::mode(&data) & 0o777);
                batch.write_new(out, std::iter::once(new), mode)?;
                Ok(Some(out.clone()))
            }
            None if original == new => Ok(None),
            None => {
                batch.replace(self.file, &Edited::of(original, new))?;
                Ok(Some(self.file.to_owned()))
            }
        }
    }
}
