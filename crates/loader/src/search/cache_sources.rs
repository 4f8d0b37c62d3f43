//! What the loader's cache is made from (ldconfig(8)).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const CONFIGURATION: &str = "/etc/ld.so.conf";

/// The configuration of the cache, with all files that it includes.
#[derive(Debug, Default)]
pub struct CacheSources {
    /// The files, and the folders of files that are included by a pattern.
    pub files: BTreeSet<PathBuf>,
    /// Folders whose libraries are in the cache, besides the system's own.
    pub folders: BTreeSet<PathBuf>,
}

impl CacheSources {
    /// Reads `/etc/ld.so.conf`; what cannot be read is not there.
    pub fn read() -> CacheSources {
        let mut sources = CacheSources::default();
        sources.add(Path::new(CONFIGURATION));
        sources
    }

    fn add(&mut self, file: &Path) {
        if !self.files.insert(file.to_owned()) {
            return;
        }
        for line in std::fs::read_to_string(file).unwrap_or_default().lines() {
            let line = line.split('#').next().unwrap_or("").trim();
            if let Some(pattern) = line.strip_prefix("include ") {
                self.include(&file.with_file_name(pattern.trim()));
            } else if line.starts_with('/') {
                self.folders.insert(line.into());
            }
        }
    }

    fn include(&mut self, pattern: &Path) {
        let is_pattern = |path: &Path| path.to_string_lossy().contains(['*', '?', '[']);
        if !is_pattern(pattern) {
            return self.add(pattern);
        }
        let folder = pattern.ancestors().find(|folder| !is_pattern(folder));
        self.files.extend(folder.map(Path::to_owned));
        for file in glob::glob(&pattern.to_string_lossy()).into_iter().flatten().flatten() {
            self.add(&file);
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
        let include = format!("include {}/d/*.conf\n/opt/a # ours\nhwcap 1\n", path("").display());
        std::fs::write(path("main"), include).expect("written");
        // Some distributions name the files from the folder of the configuration.
        std::fs::write(path("d/x.conf"), "include more/?\n/opt/b\n").expect("written");
        std::fs::create_dir(path("d/more")).expect("made");
        std::fs::write(path("d/more/y"), "/opt/d\n").expect("written");
        std::fs::write(path("d/x.saved"), "/opt/c\n").expect("written");
        let mut found = CacheSources::default();
        found.add(&path("main"));
        assert_eq!(found.folders, ["/opt/a", "/opt/b", "/opt/d"].map(PathBuf::from).into());
        assert_eq!(found.files, ["main", "d", "d/x.conf", "d/more", "d/more/y"].map(path).into());
    }
}
