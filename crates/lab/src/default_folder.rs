//! Where runs are kept unless a folder is named: below the user's cache folder, the newest ones.

use crate::LabError;
use crate::schedule::since_1970;
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Runs kept in the default place; older ones make room.
const KEPT: usize = 100;

/// A folder that does not exist yet, named after `program`, below the user's cache folder (XDG
/// Base Directory Specification; on Windows that for data of this machine).
///
/// # Errors
/// There is no such place.
pub fn new(program: &Path) -> Result<PathBuf, LabError> {
    let runs = runs().ok_or(LabError::NoDefaultFolder)?;
    prune(&runs);
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let now = since_1970().as_secs();
    Ok(runs.join(format!("{name}-{now}-{}", std::process::id())))
}

fn runs() -> Option<PathBuf> {
    Some(cache()?.join("runs"))
}

/// headstart's folder below the user's cache folder, whether it exists or not.
pub fn cache() -> Option<PathBuf> {
    Some(caches()?.join("headstart"))
}

#[cfg(not(windows))]
fn caches() -> Option<PathBuf> {
    absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))
}

#[cfg(windows)]
fn caches() -> Option<PathBuf> {
    absolute("LOCALAPPDATA")
}

/// The folder that a variable names.
fn absolute(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Removes the oldest runs beyond [`KEPT`], and nothing that is not a run. What cannot be removed
/// stays.
fn prune(runs: &Path) {
    let mut found: Vec<(SystemTime, PathBuf)> = std::fs::read_dir(runs)
        .into_iter()
        .flatten()
        .flatten()
        .filter(is_run)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    found.sort();
    let spare = found.len().saturating_sub(KEPT);
    for (_, path) in &found[..spare] {
        let _ = std::fs::remove_dir_all(path);
    }
}

/// A folder named as [`default_folder`] names it, with what describes a run or an experiment of
/// several in it.
fn is_run(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let mut words = name.to_str().unwrap_or_default().rsplitn(3, '-');
    let number = |word: Option<&str>| word.is_some_and(|word| word.parse::<u64>().is_ok());
    let named = number(words.next()) && number(words.next()) && words.next().is_some();
    let holds = |file| entry.path().join(file).is_file();
    let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
    let told = ["experiment.json", "pietrek.json", "openoffice.json"];
    named && folder && told.into_iter().any(holds)
}

// Windows does not set the times of folders that are opened like files.
#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    /// A folder in the default place that was changed a number of seconds after the first one.
    fn folder(runs: &Path, name: &str, seconds: u64, file: Option<&str>) -> PathBuf {
        let run = runs.join(name);
        std::fs::create_dir(&run).unwrap();
        if let Some(file) = file {
            std::fs::write(run.join(file), "{}").unwrap();
        }
        let time = UNIX_EPOCH + Duration::from_secs(1_000_000 + seconds);
        std::fs::File::open(&run).unwrap().set_modified(time).unwrap();
        run
    }

    #[test]
    fn the_newest_runs_stay_and_nothing_else_is_removed() {
        let cache = tempfile::tempdir().unwrap();
        let runs: Vec<PathBuf> = (0..KEPT + 5)
            .map(|n| {
                let file = if n % 2 == 0 { "experiment.json" } else { "pietrek.json" };
                folder(cache.path(), &format!("ls-17{n}-9"), 100 + n as u64, Some(file))
            })
            .collect();
        let elsewhere = tempfile::tempdir().unwrap();
        let precious = folder(elsewhere.path(), "ls-16-9", 0, Some("experiment.json"));
        std::os::unix::fs::symlink(&precious, cache.path().join("ls-15-9")).unwrap();
        let foreign = [
            folder(cache.path(), "notes", 0, Some("experiment.json")),
            folder(cache.path(), "thesis-2024-1", 0, Some("chapter.tex")),
            folder(cache.path(), "empty-2024-1", 0, None),
        ];
        std::fs::write(cache.path().join("file-2024-1"), "").unwrap();
        prune(cache.path());
        assert!(runs[..5].iter().all(|run| !run.exists()));
        assert!(runs[5..].iter().all(|run| run.exists()));
        assert!(foreign.iter().all(|folder| folder.exists()), "{foreign:?}");
        assert!(precious.join("experiment.json").exists() && cache.path().join("ls-15-9").exists());
        assert!(cache.path().join("file-2024-1").exists());
    }
}
