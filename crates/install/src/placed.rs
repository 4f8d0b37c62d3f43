//! What was put on the system besides programs: hooks, and folders that were made. It is noted in the
//! folder of all programs before it is there.

use crate::{ProgramError, swap};
use files::Permit;
use model::text;
use serde::{Deserialize, Serialize};
use std::path::Path;

const NOTED: &str = "placed.json";

/// What was put on the system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Placed {
    /// Hooks and units.
    #[serde(default)]
    pub(crate) files: Vec<String>,
    /// Folders that were not there before.
    #[serde(default)]
    pub(crate) made_folders: Vec<String>,
}

impl Placed {
    pub(crate) fn read(state: &Path) -> Result<Placed, ProgramError> {
        let path = state.join(NOTED);
        if !swap::is_there(&path)? {
            return Ok(Placed::default());
        }
        let bytes = std::fs::read(&path).map_err(ProgramError::io(&path))?;
        serde_json::from_slice(&bytes).map_err(|error| ProgramError::State {
            path,
            found: format!("it is not as headstart wrote it ({error}); inspect it"),
        })
    }

    pub(crate) fn write(&self, state: &Path) -> Result<(), ProgramError> {
        let path = state.join(NOTED);
        let bytes = serde_json::to_vec_pretty(self);
        let bytes = bytes.map_err(|error| ProgramError::io(&path)(error.into()))?;
        Ok(files::write_over(&path, &bytes, Permit::Exactly(0o644))?)
    }

    /// Notes the folders that are to be made so that `folder` is there.
    pub(crate) fn note_folders(state: &Path, folder: &Path) -> Result<(), ProgramError> {
        let missing = missing_folders(folder);
        if missing.is_empty() {
            return Ok(());
        }
        let mut placed = Placed::read(state)?;
        placed.made_folders.extend(missing);
        placed.write(state)
    }

    /// Nothing that was put there is left: so go the note, the folder of all programs, and those that
    /// were made, unless something of others is in them.
    pub(crate) fn forget(state: &Path) {
        let Ok(placed) = Placed::read(state) else { return };
        if !placed.files.is_empty() || swap::remove(&state.join(NOTED)).is_err() {
            return;
        }
        let _ = std::fs::remove_dir(state);
        let mut folders: Vec<&String> = placed.made_folders.iter().collect();
        // The innermost first.
        folders.sort_by_key(|folder| std::cmp::Reverse(folder.len()));
        for folder in folders {
            let _ = std::fs::remove_dir(text::name(folder));
        }
    }
}

/// The folders that are to be made so that this one is there.
pub(crate) fn missing_folders(folder: &Path) -> Vec<String> {
    folder.ancestors().take_while(|folder| !folder.exists()).map(text::text).collect()
}
