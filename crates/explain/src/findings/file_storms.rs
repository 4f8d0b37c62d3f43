use super::Context;
use crate::files::calls_in;
use model::figures::{count, plural};
use model::{FileWork, Finding, FolderWork, Reading};

/// From this number of calls it is told even where its time is unknown.
const MANY: u64 = 200;
/// Fewer calls are no storm, however short the launch.
const FEW: u64 = 16;

/// Many failed look-ups, stat calls and listings, and the folders behind them.
pub(super) fn find(context: &Context) -> Option<Finding> {
    let work = context.explanation.files.value()?;
    let calls = work.failed + work.stats + work.scans;
    let cost = cost(context, work);
    let told = match cost.get() {
        Some(us) => calls >= FEW && context.worth(us),
        None => calls >= MANY,
    };
    if !told {
        return None;
    }
    let share = match cost.get() {
        Some(us) => format!("{}: ", context.of_launch(us)),
        None => String::new(),
    };
    let mut busiest: Vec<&FolderWork> =
        work.folders.iter().filter(|folder| calls_in(folder) > folder.opens).collect();
    busiest.sort_by_key(|folder| std::cmp::Reverse(calls_in(folder) - folder.opens));
    Some(Finding {
        id: "file-storms".to_owned(),
        cause: format!("{share}{}", what(work)),
        evidence: busiest.into_iter().take(4).map(folder).collect(),
        cost_us: cost,
        remedy: "Look where the busiest folders come from (strace -k -e trace=file names the \
                 callers): shorten search paths, put the folder that has the files first, look a \
                 file up once and keep the answer, and read a folder once instead of asking for \
                 each name."
            .to_owned(),
    })
}

fn what(work: &FileWork) -> String {
    let failed = plural(work.failed, "failed look-up", "failed look-ups");
    let stats = plural(work.stats, "stat call", "stat calls");
    let scans = plural(work.scans, "read", "reads");
    let (folders, opens) = (work.folders.len() as u64, count(work.opens));
    let folders = plural(folders, "folder", "folders");
    format!("{failed}, {stats} and {scans} of listings in {folders}, to open {opens} files")
}

fn folder(work: &FolderWork) -> String {
    let counts = [
        (work.failed, "failed", "failed"),
        (work.stats, "stat", "stats"),
        (work.scans, "listing", "listings"),
        (work.opens, "opened", "opened"),
    ];
    let counts: Vec<String> = counts
        .into_iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(n, one, many)| plural(n, one, many))
        .collect();
    format!("{}: {}", work.folder, counts.join(", "))
}

/// What repeating the calls takes.
fn cost(context: &Context, work: &FileWork) -> Reading<f64> {
    let scans = context.inputs.replay.value().and_then(|times| times.scans_us.get());
    match (&work.failed_us, &work.stats_us) {
        (Reading::Value(failed), Reading::Value(stats)) => {
            Reading::Value(failed + stats + scans.unwrap_or(0.0))
        }
        (missing @ Reading::Unavailable { .. }, _) | (_, missing) => missing.clone(),
    }
}
