//! Whether other users could decide what root launches.

use loader::{Graph, Module};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Write permission of a group, which a mask of POSIX access control lists shows as well, and of others.
const OTHERS: u32 = 0o022;

/// Links that are followed at most (path_resolution(7)).
const LINKS: u32 = 40;

/// # Errors
/// Others could put another program or library where the loader looks for one: where, and why. `program` is
/// the path by which it is launched.
pub(crate) fn check(
    program: &Path,
    graph: &Graph,
    library_path: Option<&OsStr>,
) -> Result<(), String> {
    let modules = graph.modules.iter();
    let found = modules.flat_map(|module| [&module.path].into_iter().chain(&module.missed));
    let mut paths: Vec<PathBuf> = found.cloned().collect();
    paths.push(program.to_owned());
    paths.extend(graph.modules.iter().flat_map(folders));
    paths.extend(library_path.into_iter().flat_map(|list| entries(list.as_bytes())));
    match paths.iter().find_map(|path| replaceable(path)) {
        Some(found) => Err(format!(
            "{found}: whoever may write there decides what root launches when the program is made again"
        )),
        None => Ok(()),
    }
}

/// Where the loader looks for what a module needs or opens, up to names that it chooses.
fn folders(module: &Module) -> Vec<PathBuf> {
    let own = module.path.canonicalize().unwrap_or_else(|_| module.path.clone());
    let own = own.parent().unwrap_or(Path::new("/")).as_os_str().as_bytes();
    let lists = [&module.image.rpath, &module.image.runpath].into_iter().flatten();
    let expanded = |list: &String| {
        let own = String::from_utf8_lossy(own);
        list.replace("${ORIGIN}", &own).replace("$ORIGIN", &own)
    };
    let lists: Vec<String> = lists.map(expanded).collect();
    lists.iter().flat_map(|list| entries(list.as_bytes())).collect()
}

/// The folders of a list, as the loader reads it where the working folder is `/`: there root launches.
fn entries(list: &[u8]) -> Vec<PathBuf> {
    let entries = list.split(|byte| b":;".contains(byte));
    let known = |entry: &[u8]| {
        let end = entry.iter().position(|&byte| byte == b'$').unwrap_or(entry.len());
        Path::new("/").join(OsStr::from_bytes(entry.get(..end).unwrap_or_default()))
    };
    entries.map(known).collect()
}

/// Who but root could put another file at a path, if anybody: in words. All folders and links on the way to
/// it count; what is not there, only root can make.
pub fn replaceable(path: &Path) -> Option<String> {
    along(path, LINKS)
}

fn along(path: &Path, links: u32) -> Option<String> {
    let mut prefixes: Vec<&Path> = path.ancestors().collect();
    prefixes.reverse();
    for prefix in prefixes {
        let why = match prefix.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return None,
            Err(error) => Some(format!("cannot be looked at ({error})")),
            Ok(data) if data.is_symlink() => {
                let target = prefix.read_link().unwrap_or_default();
                let folder = prefix.parent().unwrap_or(Path::new("/"));
                match links.checked_sub(1) {
                    Some(links) => match along(&folder.join(target), links) {
                        Some(found) => return Some(found),
                        None => None,
                    },
                    None => Some("leads from link to link".to_owned()),
                }
            }
            Ok(data) => reason(&data),
        };
        if let Some(why) = why {
            return Some(format!("{} {why}", prefix.display()));
        }
    }
    None
}

fn reason(data: &Metadata) -> Option<String> {
    match data.mode() & OTHERS {
        _ if data.uid() != 0 => Some(format!("belongs to user {}", data.uid())),
        0 => None,
        _ => Some("can be written to by others than root".to_owned()),
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
    fn what_others_could_replace_is_told() {
        assert_eq!(replaceable(Path::new("/bin/sh")), None);
        assert_eq!(replaceable(Path::new("/usr/lib/nothing/there")), None);
        // Everybody may write to the folder for temporary files.
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/bin/sh", &link).unwrap();
        for path in [folder.path().join("nothing"), link] {
            assert!(replaceable(&path).is_some(), "{}", path.display());
        }
    }

    #[test]
    fn lists_are_read_as_the_loader_reads_them_in_the_root_folder() {
        let paths = entries(b"/a:;b/$LIB:/c/$PLATFORM/x");
        let wanted = ["/a", "/", "/b/", "/c/"].map(PathBuf::from);
        assert_eq!(paths, wanted);
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
