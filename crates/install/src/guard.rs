//! Whether other users could decide what root launches.

use loader::Graph;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Write permission of a group, which a mask of POSIX access control lists shows as well, and of others.
const OTHERS: u32 = 0o022;

/// # Errors
/// Others could replace the program or a library of it: which, and why.
pub(crate) fn check(graph: &Graph) -> Result<(), String> {
    let paths = graph.modules.iter().map(|module| module.path.as_path());
    match paths.filter_map(replaceable).next() {
        Some(found) => Err(format!(
            "{found}: whoever may write there decides what root launches when the program is made again"
        )),
        None => Ok(()),
    }
}

/// Who but root could put another file at a path, if anybody: in words.
pub fn replaceable(path: &Path) -> Option<String> {
    let Ok(path) = path.canonicalize() else {
        return Some(format!("{} cannot be found", path.display()));
    };
    path.ancestors().find_map(|path| reason(path).map(|why| format!("{} {why}", path.display())))
}

fn reason(path: &Path) -> Option<String> {
    match path.metadata() {
        Err(error) => Some(format!("cannot be looked at ({error})")),
        Ok(data) if data.uid() != 0 => Some(format!("belongs to user {}", data.uid())),
        Ok(data) if data.mode() & OTHERS != 0 => {
            Some("can be written to by others than root".to_owned())
        }
        Ok(_) => None,
    }
}

/// The folder at a path, or the one in which it would be made, where that belongs neither to this user nor
/// to root.
pub fn of_another(path: &Path, user: u32) -> Option<PathBuf> {
    let present = path.ancestors().find(|path| path.exists())?;
    let is_own = present.metadata().is_ok_and(|data| [user, 0].contains(&data.uid()));
    (!is_own).then(|| present.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_below_folders_of_others_are_told() {
        assert_eq!(replaceable(Path::new("/bin/sh")), None);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let said = replaceable(&file).unwrap();
        assert!(said.ends_with("file cannot be found"), "{said}");
        std::fs::write(&file, "").unwrap();
        // Everybody may write to the folder for temporary files.
        assert!(replaceable(&file).is_some());
    }

    #[test]
    fn a_folder_that_is_to_be_made_belongs_to_whom_the_next_one_does() {
        let folder = tempfile::tempdir().unwrap();
        let user = os::host::user();
        assert_eq!(of_another(&folder.path().join("a/b"), user), None);
        let other = of_another(&folder.path().join("a/b"), user + 1);
        assert_eq!(other.as_deref(), (user != 0).then_some(folder.path()));
        assert_eq!(of_another(Path::new("/usr/lib/none"), user + 1), None);
    }
}
