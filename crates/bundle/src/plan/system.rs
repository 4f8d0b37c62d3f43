//! Where the loader's cache comes from (ldconfig(8)).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What the loader looks names up in.
pub(crate) const CACHE: &str = "/etc/ld.so.cache";
const CONFIGURATION: &str = "/etc/ld.so.conf";

/// What the cache is made from.
#[derive(Debug, Default)]
pub(crate) struct Configuration {
    /// The files, and the folders of files that are included.
    pub(crate) files: BTreeSet<PathBuf>,
    /// Folders whose libraries are in the cache, besides the system's own.
    pub(crate) folders: BTreeSet<PathBuf>,
}

/// Reads it; what cannot be read is not there.
pub(crate) fn configuration() -> Configuration {
    let mut configuration = Configuration::default();
    configuration.read(Path::new(CONFIGURATION));
    configuration
}

impl Configuration {
    fn read(&mut self, file: &Path) {
        if !self.files.insert(file.to_owned()) {
            return;
        }
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let line = line.split('#').next().unwrap_or("").trim();
            if let Some(pattern) = line.strip_prefix("include ") {
                self.include(Path::new(pattern.trim()));
            } else if line.starts_with('/') {
                self.folders.insert(line.into());
            }
        }
    }

    /// Patterns are for the name of the file only, and have one star, as all that distributions
    /// write.
    fn include(&mut self, pattern: &Path) {
        let (Some(folder), Some(name)) = (pattern.parent(), pattern.file_name()) else { return };
        let name = name.to_string_lossy();
        let Some((start, end)) = name.split_once('*') else { return self.read(pattern) };
        self.files.insert(folder.to_owned());
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let file = entry.file_name();
            let file = file.to_string_lossy();
            if file.len() >= start.len() + end.len()
                && file.starts_with(start)
                && file.ends_with(end)
            {
                self.read(&entry.path());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_files_and_folders_are_found() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("d")).expect("made");
        let include =
            format!("include {}/d/*.conf\n/opt/a # ours\nhwcap 1\n", folder.path().display());
        std::fs::write(path("main"), include).expect("written");
        std::fs::write(path("d/x.conf"), "/opt/b\n").expect("written");
        std::fs::write(path("d/x.saved"), "/opt/c\n").expect("written");
        let mut found = Configuration::default();
        found.read(&path("main"));
        assert_eq!(found.folders, ["/opt/a", "/opt/b"].map(PathBuf::from).into());
        assert_eq!(found.files, ["main", "d", "d/x.conf"].map(path).into());
    }
}
