//! Runs: what begins one, and where it is kept.

use crate::exit::{FileError, Usage};
use crate::output;
use lab::{LabError, RunFolder};
use model::{EXPERIMENT_SCHEMA, Experiment, Request, Schedule, Variant};
use std::fs::DirEntry;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Runs kept in the default place; older ones make room.
const KEPT: usize = 100;

/// A run of `variants` that begins here and now.
pub fn experiment(variants: Vec<Variant>, schedule: Schedule, request: Request) -> Experiment {
    Experiment {
        schema: EXPERIMENT_SCHEMA,
        headstart: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix_s: since_1970().as_secs(),
        machine: os::host::machine(),
        variants,
        schedule,
        request,
    }
}

/// A seed that differs from run to run; the run folder and the JSON keep it.
pub fn fresh_seed() -> u64 {
    // Small enough for every JSON reader to keep it exactly.
    since_1970().as_nanos() as u64 % (1 << 48)
}

fn since_1970() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The folder that was asked for; else one in the default place, named after `program`; else
/// none, and a note that says why: a run that was not asked to be kept goes on without.
///
/// # Errors
/// The folder that was asked for cannot be made.
pub fn create(
    asked: Option<&Path>,
    program: &Path,
    experiment: &Experiment,
) -> Result<(Option<RunFolder>, Option<String>), LabError> {
    if let Some(path) = asked {
        return Ok((Some(RunFolder::create(path, experiment)?), None));
    }
    let unkept = |why: String| (None, Some(format!("The launches are not kept on disk: {why}.")));
    Ok(match default_folder(program) {
        None => unkept("neither XDG_CACHE_HOME nor HOME is set; use --save".to_owned()),
        Some(path) => match RunFolder::create(&path, experiment) {
            Ok(folder) => (Some(folder), None),
            Err(error) => unkept(error.to_string()),
        },
    })
}

/// A new folder for an experiment of several runs: the one that was asked for, or one in the
/// default place.
///
/// # Errors
/// It cannot be made, or is not empty.
pub fn claim(asked: Option<&Path>, name: &Path) -> anyhow::Result<PathBuf> {
    let none =
        || Usage("neither XDG_CACHE_HOME nor HOME is set; name a folder with --save".to_owned());
    let folder = match asked {
        Some(path) => path.to_owned(),
        None => default_folder(name).ok_or_else(none)?,
    };
    let failed = |source| FileError {
        path: folder.display().to_string(),
        source,
        remedy: "choose another folder with --save",
    };
    std::fs::create_dir_all(&folder).map_err(failed)?;
    if std::fs::read_dir(&folder).map_err(failed)?.next().is_some() {
        let folder = folder.display();
        return Err(Usage(format!("{folder} is not empty: name a new folder with --save")).into());
    }
    Ok(folder)
}

/// A note where a run goes on elsewhere than it began.
pub fn moved(experiment: &Experiment) -> Option<String> {
    (experiment.machine != os::host::machine()).then(|| {
        "The run began on another machine or kernel, so its launches are not comparable.".to_owned()
    })
}

/// Says on stderr that a run ended before its time, and how to go on with it where it is kept.
pub fn say_ended(interrupted: bool, verb: &str, kept: Option<&Path>) {
    let said = match interrupted {
        true => "interrupted",
        false => {
            "the launches so far are kept; once the cause of the error below is mended, without a change \
                  of the commands"
        }
    };
    // Somebody may have removed the folder.
    match kept.filter(|path| path.exists()) {
        Some(path) => {
            let path = output::quoted(path);
            let sign = if interrupted { ";" } else { "," };
            let resume = format!("headstart {verb} --resume {path}");
            anstream::eprintln!("headstart: {said}{sign} continue with: {resume}");
        }
        None if interrupted => anstream::eprintln!("headstart: {said}"),
        None => {}
    }
}

/// A folder that does not exist yet, below the user's cache folder (XDG Base Directory
/// Specification); `None` where there is no such place.
fn default_folder(program: &Path) -> Option<PathBuf> {
    let runs = place()?;
    prune(&runs);
    let name = program.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    let now = since_1970().as_secs();
    Some(runs.join(format!("{name}-{now}-{}", std::process::id())))
}

fn place() -> Option<PathBuf> {
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("headstart/runs"))
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
    named && folder && (holds("experiment.json") || holds("pietrek.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
