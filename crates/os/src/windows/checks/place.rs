//! Where headstart keeps temporary files.

use super::Outcome;
use crate::windows::host::OTHER_TEMPORARY_FOLDER;
use model::Check;
use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Whether files can be created in the folder for temporary files.
pub(super) fn temporary_folder() -> Check {
    let folder = std::env::temp_dir();
    tried(&folder, try_in(&folder)).named("temp-folder")
}

fn tried(folder: &Path, made: io::Result<()>) -> Outcome {
    let folder = folder.display();
    match made {
        Ok(()) => Outcome::good(
            format!("{folder} is writable"),
            "headstart keeps the output of programs, and generated programs, there for a while",
        ),
        Err(error) => Outcome::warning(
            format!("{folder}: {error}"),
            format!(
                "some measurements fail, because the output of programs is kept there: {OTHER_TEMPORARY_FOLDER}"
            ),
        ),
    }
}

/// Creates a file and removes it.
fn try_in(folder: &Path) -> io::Result<()> {
    let file = folder.join(format!("headstart-doctor-{}", std::process::id()));
    drop(File::create_new(&file)?);
    fs::remove_file(&file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::CheckState;

    #[test]
    fn a_folder_that_cannot_be_written_is_a_warning_and_nothing_stays() {
        let place = tempfile::tempdir().unwrap();
        let check = |folder: &Path| tried(folder, try_in(folder)).named("");
        assert_eq!(check(place.path()).state, CheckState::Good);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        let gone = check(&place.path().join("gone"));
        assert_eq!(gone.state, CheckState::Warning);
        assert!(gone.effect.contains("TMP"), "{gone:?}");
    }
}
