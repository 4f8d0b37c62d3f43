//! Where runs are kept when no folder is named.

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs kept in the default place; older ones make room.
const KEPT: usize = 100;

/// A folder that does not exist yet, below the user's cache folder (XDG Base Directory
/// Specification); `None` where there is no such place.
pub fn default_folder(program: &Path) -> Option<PathBuf> {
    let runs = place()?;
    prune(&runs);
    let name = program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    Some(runs.join(format!("{name}-{now}-{}", std::process::id())))
}

fn place() -> Option<PathBuf> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("headstart/runs"))
}

/// Removes the oldest runs beyond [`KEPT`]. What cannot be removed stays.
fn prune(runs: &Path) {
    let mut found: Vec<(SystemTime, PathBuf)> = std::fs::read_dir(runs)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    found.sort();
    let spare = found.len().saturating_sub(KEPT);
    for (_, path) in &found[..spare] {
        let _ = std::fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_runs_stay() {
        let folder = tempfile::tempdir().unwrap();
        for index in 0..KEPT + 5 {
            let run = folder.path().join(format!("run-{index}"));
            std::fs::create_dir(&run).unwrap();
            let time = UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + index as u64);
            std::fs::File::open(&run).unwrap().set_modified(time).unwrap();
        }
        prune(folder.path());
        let exists = |index: usize| folder.path().join(format!("run-{index}")).exists();
        assert!(!exists(0) && !exists(4) && exists(5) && exists(KEPT + 4));
    }
}
