//! Folders brought together by what their paths have in common: a search along many folders is
//! one thing, not as many things as there are folders.

use model::{FolderGroup, FolderWork};
use std::collections::BTreeMap;

/// A path with fewer parts than this is no common parent: everything is below `/usr`.
const PARTS: usize = 2;

/// The folders below one another, each with all the calls below it.
#[derive(Default)]
struct Node<'a> {
    own: Option<&'a FolderWork>,
    children: BTreeMap<&'a str, Node<'a>>,
    folders: u64,
    weight: u64,
}

/// Groups of folders, those with the most failed look-ups, stats and listings first.
pub(crate) fn groups(folders: &[FolderWork]) -> Vec<FolderGroup> {
    let mut roots: BTreeMap<bool, Node> = BTreeMap::new();
    for work in folders {
        let mut node = roots.entry(work.folder.starts_with('/')).or_default();
        node.count(work);
        for part in work.folder.split('/').filter(|part| !part.is_empty()) {
            node = node.children.entry(part).or_default();
            node.count(work);
        }
        node.own = Some(work);
    }
    let mut groups = Vec::new();
    for (absolute, root) in &roots {
        root.split(if *absolute { "/" } else { "" }, 0, &mut groups);
    }
    groups.sort_by(|a, b| weight_of(b).cmp(&weight_of(a)).then_with(|| a.folder.cmp(&b.folder)));
    groups
}

/// Calls of a group that a better order of folders could spare.
pub(crate) fn weight_of(group: &FolderGroup) -> u64 {
    group.failed + group.stats + group.scans
}

impl<'a> Node<'a> {
    fn count(&mut self, work: &FolderWork) {
        self.folders += 1;
        self.weight += work.failed + work.stats + work.scans;
    }

    /// Goes down as long as one folder below has nearly all, or the path is too short to tell
    /// anything; what remains is one group.
    fn split(&self, path: &str, parts: usize, groups: &mut Vec<FolderGroup>) {
        let heaviest = self.children.values().map(|child| child.weight).max().unwrap_or(0);
        if parts >= PARTS && heaviest * 4 < self.weight * 3 || self.children.is_empty() {
            let mut group = empty(path);
            self.add_to(&mut group);
            groups.push(group);
            return;
        }
        if let Some(own) = self.own {
            let mut group = empty(path);
            add(&mut group, own);
            groups.push(group);
        }
        for (name, child) in &self.children {
            let below = match path {
                "" | "/" => format!("{path}{name}"),
                path => format!("{path}/{name}"),
            };
            child.split(&below, parts + 1, groups);
        }
    }

    fn add_to(&self, group: &mut FolderGroup) {
        if let Some(own) = self.own {
            add(group, own);
        }
        self.children.values().for_each(|child| child.add_to(group));
    }
}

fn empty(folder: &str) -> FolderGroup {
    let folder = folder.to_owned();
    FolderGroup { folder, folders: 0, opens: 0, failed: 0, stats: 0, scans: 0 }
}

fn add(group: &mut FolderGroup, work: &FolderWork) {
    group.folders += 1;
    group.opens += work.opens;
    group.failed += work.failed;
    group.stats += work.stats;
    group.scans += work.scans;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work(folder: &str, failed: u64) -> FolderWork {
        FolderWork { folder: folder.to_owned(), opens: 1, failed, stats: 0, scans: 0 }
    }

    fn grouped(folders: &[(&str, u64)]) -> Vec<(String, u64, u64)> {
        let works: Vec<FolderWork> =
            folders.iter().map(|(folder, failed)| work(folder, *failed)).collect();
        let groups = groups(&works);
        assert_eq!(groups.iter().map(|group| group.opens).sum::<u64>(), works.len() as u64);
        groups.into_iter().map(|group| (group.folder, group.folders, group.failed)).collect()
    }

    #[test]
    fn a_search_along_many_folders_is_one_group() {
        let folders: Vec<String> = (0..120).map(|n| format!("/nix/store/{n:x}-lib/lib")).collect();
        let mut works: Vec<(&str, u64)> =
            folders.iter().map(|folder| (folder.as_str(), 10)).collect();
        works.push(("/etc", 2));
        let expected = [("/nix/store".to_owned(), 120, 1200), ("/etc".to_owned(), 1, 2)];
        assert_eq!(grouped(&works), expected);
    }

    #[test]
    fn a_folder_that_has_nearly_all_is_named_itself() {
        let folders = [
            ("/usr/lib/python3/dist-packages/a", 40),
            ("/usr/lib/python3/dist-packages/b", 40),
            ("/usr/lib/python3.11", 3),
            ("/usr/lib/locale", 2),
        ];
        let found = grouped(&folders);
        assert_eq!(found[0], ("/usr/lib/python3/dist-packages".to_owned(), 2, 80));
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn short_and_relative_paths_are_no_common_parent() {
        let found = grouped(&[("/", 1), ("/a", 3), ("/b/c", 2), ("d", 4), ("", 5)]);
        let names: Vec<&str> = found.iter().map(|group| group.0.as_str()).collect();
        assert_eq!(names, ["", "d", "/a", "/b/c", "/"]);
    }
}
