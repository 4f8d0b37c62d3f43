//! From recordings to the plans of a launcher.

use super::InstallError;
use super::launcher::ProgramLauncher;
use crate::merge::merge;
use crate::plan::{self, Amount};
use crate::store::{self, ClassRecording, Store};
use ahead::{LauncherFile, LauncherPlan, PartEntry};
use model::{Disk, Recording};
use os::prefetch::AheadPlan;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The plans of a launcher: of the recording that it names; else one for each class of launches of its
/// program, and one for all others. None, if there is no recording.
pub(super) fn of(
    launcher: &ProgramLauncher,
    store: &Store,
) -> Result<Vec<LauncherPlan>, InstallError> {
    let plan = |class, recording: &Recording| planned(class, recording, launcher.disk);
    if let Some(record) = &launcher.record {
        return Ok(vec![plan(None, &store::load(record)?)]);
    }
    let real = launcher.program.canonicalize().unwrap_or_else(|_| launcher.program.clone());
    let kept = store.of_program(&real)?;
    let mut plans = Vec::new();
    if kept.len() > 1 {
        let classes = kept.iter().filter_map(|ClassRecording { class, recording }| {
            Some(plan(Some(class.clone()?), recording))
        });
        plans.extend(classes);
    }
    let all = merge(kept.into_iter().map(|kept| kept.recording).collect());
    plans.extend(all.ok().map(|all| plan(None, &all)));
    Ok(plans)
}

fn planned(class: Option<Vec<String>>, recording: &Recording, disk: Option<Disk>) -> LauncherPlan {
    let disk = disk.unwrap_or_else(|| Disk::of(recording));
    let mut plan = plan::plan(recording, Amount::Recorded, disk);
    let looked_up = std::mem::take(&mut plan.looked_up);
    if plan.in_disk_order {
        plan.requests = os::prefetch::in_disk_order(&plan);
    }
    let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
    let AheadPlan { files, requests, samples, in_disk_order, .. } = plan;
    LauncherPlan {
        class,
        files: files
            .into_iter()
            .map(|file| LauncherFile {
                path: bytes(&file.path),
                size_bytes: file.size_bytes,
                modified_ns: file.modified_ns,
            })
            .collect(),
        requests: requests
            .into_iter()
            .map(|request| part(request.file, request.offset, request.bytes))
            .collect(),
        looked_up: looked_up.iter().map(|path| bytes(path)).collect(),
        samples: samples.into_iter().map(|sample| part(sample.file, sample.offset, 1)).collect(),
        one_by_one: in_disk_order,
    }
}

/// No request is longer than 128 KiB.
fn part(file: usize, offset: u64, bytes: u64) -> PartEntry {
    PartEntry { file: file as u32, bytes: bytes as u32, offset }
}
