//! What a path depends on besides the file at its end: the links that are followed.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// As many links as Linux follows (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Where a path leads.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Followed {
    /// Folders that hold a link which is followed, without links themselves; the root is not among them.
    pub(crate) folders: Vec<PathBuf>,
    /// Links in the root that are followed, most of which are a distribution's (`/lib`): whatever else comes into
    /// the root does not matter.
    pub(crate) of_root: Vec<PathBuf>,
    /// What it stands for, whether there is anything or not.
    pub(crate) end: PathBuf,
}

/// Follows an absolute path.
pub(crate) fn follow(path: &Path) -> Followed {
    let mut followed = Followed { end: PathBuf::from("/"), ..Followed::default() };
    let mut rest: VecDeque<OsString> = names(path).collect();
    let mut links = 0;
    while let Some(name) = rest.pop_front() {
        if name == ".." {
            followed.end.pop();
            continue;
        }
        let next = followed.end.join(&name);
        let target = std::fs::read_link(&next).ok().filter(|_| links < MOST_LINKS);
        let Some(target) = target else {
            followed.end = next;
            continue;
        };
        links += 1;
        let (kept, link) = match followed.end == Path::new("/") {
            true => (&mut followed.of_root, &next),
            false => (&mut followed.folders, &followed.end),
        };
        if !kept.contains(link) {
            kept.push(link.clone());
        }
        if target.is_absolute() {
            followed.end = PathBuf::from("/");
        }
        names(&target).rev().for_each(|name| rest.push_front(name));
    }
    followed
}

fn names(path: &Path) -> impl DoubleEndedIterator<Item = OsString> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn each_folder_with_a_link_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("there");
        std::fs::create_dir_all(root.join("a/b")).expect("made");
        std::fs::create_dir(root.join("c")).expect("made");
        symlink("../../c", root.join("a/b/up")).expect("linked");
        symlink(root.join("nowhere/x"), root.join("c/away")).expect("linked");
        let followed = follow(&root.join("a/./b/up/away/y"));
        assert_eq!(followed.folders, [root.join("a/b"), root.join("c")]);
        assert_eq!(followed.end, root.join("nowhere/x/y"));
        assert_eq!(follow(&root).folders, Vec::<PathBuf>::new());
        assert_eq!(followed.of_root, Vec::<PathBuf>::new());
        symlink("round", root.join("round")).expect("linked");
        assert_eq!(follow(&root.join("round")).folders, [root.as_path()]);
    }
}
