//! What is installed, and what has become of it.

use crate::journal::{self, Journal};
use crate::{InstallPlaces, ProgramError, forgotten, linked, made, swap};
use model::{InstallStep, ListedProgram, PROGRAMS_SCHEMA, ProgramList, ProgramPlace, text};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What stat(2) counts blocks in.
const BLOCK: u64 = 512;

/// All programs that are installed. Nothing is changed, and nobody is waited for.
///
/// # Errors
/// The folder of all programs cannot be read.
pub fn list(places: &InstallPlaces) -> Result<ProgramList, ProgramError> {
    let (journals, unreadable) = journal::all(&places.state)?;
    let forgotten = forgotten::all(places);
    let is_busy = os::locks::holder(&places.state).is_some();
    Ok(ProgramList {
        schema: PROGRAMS_SCHEMA,
        programs: journals.iter().map(|journal| listed(journal, is_busy)).collect(),
        unreadable: unreadable.iter().chain(&forgotten).map(ToString::to_string).collect(),
    })
}

fn listed(journal: &Journal, is_busy: bool) -> ListedProgram {
    let state = &journal.state;
    let (used, reason) = match not_in_place(journal) {
        Some(_) if is_busy && state.step != InstallStep::InPlace => {
            (false, Some("another headstart is at work, perhaps at this program".to_owned()))
        }
        Some(reason) => (false, Some(reason)),
        None => match made::freshness(journal) {
            (true, _) => (true, None),
            // It may not be a bundle any more.
            (false, why) => {
                (false, journal.is_verified().map_or_else(|e| Some(e.to_string()), |_| why))
            }
        },
    };
    ListedProgram {
        name: state.name.clone(),
        program: state.program.clone(),
        variant: state.variant,
        place: state.place.clone(),
        gain: state.gain,
        used,
        reason,
        disk_bytes: disk_bytes(&journal.folder),
        renewed_unix_s: state.renewed_unix_s,
        folder: text::text(&journal.folder),
    }
}

/// Why the bundle is not what is started, whatever it checks.
fn not_in_place(journal: &Journal) -> Option<String> {
    let program = journal.program();
    match journal.state.step {
        InstallStep::InPlace => {}
        InstallStep::Removing => {
            return Some(
                "its removal was interrupted; the next renewal or removal finishes it".to_owned(),
            );
        }
        _ => {
            return Some(
                "its installation was interrupted; the next renewal or removal undoes it"
                    .to_owned(),
            );
        }
    }
    let original = made::original(journal);
    if original.symlink_metadata().is_err() {
        return Some(match &journal.state.place {
            ProgramPlace::Diversion { package, .. } => format!(
                "its original is not there any more: either {package} was removed, and then renewing takes \
                 this out, or the file is missing"
            ),
            ProgramPlace::Folder { .. } => {
                format!("its original, {}, is not there now", original.display())
            }
        });
    }
    match &journal.state.place {
        ProgramPlace::Folder { link, .. } => {
            (!linked::is_in_place(journal)).then(|| format!("{link} no longer leads to it"))
        }
        ProgramPlace::Diversion { .. } => {
            let run = journal.run();
            let is_it = swap::same(&program, &run) || alike(&program, &run);
            (!is_it).then(|| {
                format!("{} is no longer the bundle that was put there", program.display())
            })
        }
    }
}

/// Of a copy, in another file system.
fn alike(one: &Path, other: &Path) -> bool {
    let facts = |path: &Path| {
        let data = path.symlink_metadata().ok()?;
        Some((data.len(), data.mtime(), data.mtime_nsec(), data.mode()))
    };
    facts(one).is_some() && facts(one) == facts(other)
}

fn disk_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => disk_bytes(&entry.path()),
        Ok(data) => data.blocks() * BLOCK,
        Err(_) => 0,
    });
    bytes.sum()
}
