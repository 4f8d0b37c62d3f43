//! The settings that a recording changes for a moment are what they were, also after it was killed.

use super::super::bed::Bed;
use super::super::tasks::Task;
use crate::report::Row;
use anyhow::{Context as _, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

const FOLDER: &str = "/sys/class/bdi";
const CHANGED_WITHIN: Duration = Duration::from_secs(20);
const RESTORED_WITHIN: Duration = Duration::from_secs(2);

/// Read-ahead of every device.
pub type Settings = BTreeMap<PathBuf, String>;

/// As they are now, of loop devices only that to be kept: the others come and go.
///
/// # Errors
/// They cannot be read.
pub fn now(keep: Option<&str>) -> Result<Settings> {
    let mut settings = Settings::new();
    for entry in fs::read_dir(FOLDER).context(FOLDER)? {
        let entry = entry?;
        let is_loop = entry.file_name().to_string_lossy().starts_with("7:");
        if is_loop && keep != Some(entry.file_name().to_string_lossy().as_ref()) {
            continue;
        }
        let file = entry.path().join("read_ahead_kb");
        // A device may have gone.
        if let Ok(text) = fs::read_to_string(&file) {
            settings.insert(file, text.trim().to_owned());
        }
    }
    Ok(settings)
}

/// Whether those of the devices that are still there are the same.
///
/// # Errors
/// As [`now`].
pub fn row(figure: &str, before: &Settings, keep: Option<&str>) -> Result<Row> {
    let after = now(keep)?;
    let changed: Vec<String> = before
        .iter()
        .filter_map(|(file, old)| {
            let new = after.get(file).filter(|new| *new != old)?;
            Some(format!("{}: {old} → {new}", file.display()))
        })
        .collect();
    let value = match changed.is_empty() {
        true => format!("{} unchanged", after.len()),
        false => changed.join(", "),
    };
    Ok(Row::bar(figure, value, "unchanged", changed.is_empty()))
}

/// Kills a recording while read-ahead is off; then another headstart is started.
///
/// # Errors
/// The recording never switches it off.
pub fn killed(bed: &mut Bed, task: &Task) -> Result<Vec<Row>> {
    bed.lab.make_writable()?;
    let (major, minor) = bed.lab.major_minor();
    let device = format!("{major}:{minor}");
    let keep = Some(device.as_str());
    let before = now(keep)?;
    let own = PathBuf::from(format!("{FOLDER}/{major}:{minor}/read_ahead_kb"));
    let headstart = bed.headstart();
    let mut words = vec![headstart.as_str(), "record", "--out", "/tmp/killed.rec", "--"];
    let program = bed.program_words(task);
    words.extend(program.iter().map(String::as_str));
    let mut command = bed.command(&words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut recording = command.spawn()?;
    let began = Instant::now();
    while fs::read_to_string(&own)?.trim() != "0" {
        anyhow::ensure!(began.elapsed() < CHANGED_WITHIN, "read-ahead was never switched off");
        anyhow::ensure!(recording.try_wait()?.is_none(), "the recording was over too soon");
        std::thread::sleep(Duration::from_micros(200));
    }
    recording.kill()?;
    recording.wait()?;
    std::thread::sleep(RESTORED_WITHIN);
    let mut rows = vec![row("settings 2 s after kill -9 while recording", &before, keep)?];
    let mut other = bed.command(&[headstart.as_str(), "identify", "/bin/sh"]);
    other.stdout(Stdio::null()).status()?;
    rows.push(row("settings after kill -9 and another headstart", &before, keep)?);
    Ok(rows)
}
