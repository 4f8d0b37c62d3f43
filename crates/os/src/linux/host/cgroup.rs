//! The control groups that this process is in (cgroups(7), both versions).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Folders of our groups for a controller and of those around them, under the usual mount points.
///
/// # Errors
/// Where `/proc/self/cgroup` cannot be read.
pub(crate) fn folders(controller: &str) -> io::Result<Vec<PathBuf>> {
    fs::read_to_string("/proc/self/cgroup").map(|groups| folders_of(&groups, controller))
}

fn folders_of(groups: &str, controller: &str) -> Vec<PathBuf> {
    const MOUNTED: &str = "/sys/fs/cgroup";
    let mut folders = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let roots = if controllers.is_empty() {
            ["", "unified"]
        } else if controllers.split(',').any(|name| name == controller) {
            [controller, controllers]
        } else {
            continue;
        };
        for root in roots {
            let (root, group) = (Path::new(MOUNTED).join(root), path.trim_start_matches('/'));
            folders.extend(Path::new(group).ancestors().map(|part| root.join(part)));
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_are_found_too() {
        let found = folders_of("3:cpuset:/x\n0::/a/b\n", "cpu");
        assert!(found.contains(&PathBuf::from("/sys/fs/cgroup/a/b")));
        assert!(found.contains(&PathBuf::from("/sys/fs/cgroup/a")));
        assert!(found.contains(&PathBuf::from("/sys/fs/cgroup/")));
        assert!(!found.iter().any(|path| path.ends_with("x")));
    }
}
