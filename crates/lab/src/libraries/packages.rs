//! Which package of the system a file belongs to, as dpkg tells it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

const LISTS: &str = "/var/lib/dpkg/info";

/// Packages of `files`; those that no package has are not there. Symbolic links of folders (`/lib`)
/// are followed on both sides.
pub fn of(files: &[PathBuf]) -> HashMap<PathBuf, String> {
    let mut by_name: HashMap<&[u8], Vec<&PathBuf>> = HashMap::new();
    for file in files {
        let name = file.file_name().map_or(&b""[..], |name| name.as_encoded_bytes());
        by_name.entry(name).or_default().push(file);
    }
    let mut found = HashMap::new();
    for entry in std::fs::read_dir(LISTS).into_iter().flatten().flatten() {
        let list = entry.path();
        let package = list.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if list.extension().is_none_or(|extension| extension != "list") {
            continue;
        }
        for line in std::fs::read(&list).unwrap_or_default().split(|byte| *byte == b'\n') {
            let name = line.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
            let Some(candidates) = by_name.get(name) else { continue };
            let line = String::from_utf8_lossy(line);
            let Ok(real) = Path::new(&*line).canonicalize() else { continue };
            if candidates.iter().any(|file| **file == real) {
                found.insert(real, package.clone());
            }
        }
    }
    found
}
