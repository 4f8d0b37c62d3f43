//! What is told of a program that is installed, or is not.

use crate::journal::Journal;
use crate::{ProgramError, ProgramRequest, linked, made};
use model::{ProgramChange, ProgramOutcome, ProgramPlace, ProgramVariant, quoted, text};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What is told of a program that is not installed, unless all work ends.
pub(crate) fn failed(
    named: &str,
    program: &Path,
    error: ProgramError,
) -> Result<ProgramChange, ProgramError> {
    let outcome = match &error {
        ProgramError::Stopped => return Err(error),
        error if error.is_interrupt() => return Err(ends(error)),
        ProgramError::Declined { .. } | ProgramError::NotInstalled { .. } => {
            ProgramOutcome::Declined
        }
        ProgramError::Optimize(refused) if is_refusal(refused) => ProgramOutcome::Declined,
        ProgramError::NotFaster { .. } => ProgramOutcome::NotFaster,
        _ => ProgramOutcome::Failed,
    };
    let (reason, advice) = match error {
        ProgramError::Declined { reason, advice, .. } => (reason, advice),
        ProgramError::NotFaster { found, .. } | ProgramError::Wrong { found, .. } => (found, None),
        ProgramError::NotInstalled { .. } => ("headstart has not installed it".to_owned(), None),
        error => (error.to_string(), None),
    };
    Ok(ProgramChange {
        named: named.to_owned(),
        program: Some(text::text(program)),
        outcome,
        reason: Some(reason),
        advice,
        variant: None,
        place: None,
        gain: None,
        notes: Vec::new(),
    })
}

fn ends(_: &ProgramError) -> ProgramError {
    optimize::OptimizeError::from(os::LaunchError::Interrupted).into()
}

fn is_refusal(error: &optimize::OptimizeError) -> bool {
    use optimize::OptimizeError::{Bundle, Graph, Privileged};
    matches!(error, Bundle { .. } | Privileged { .. } | Graph(_))
}

/// What is told of a program that is in place.
pub(crate) fn present(
    request: &ProgramRequest,
    (file, variant): (&Path, ProgramVariant),
    journal: &Journal,
) -> Result<ProgramChange, ProgramError> {
    let state = &journal.state;
    if let ProgramPlace::Folder { link, .. } = &state.place
        && !linked::is_in_place(journal)
    {
        let found = "this link of an installed program was removed or replaced; remove the program from the \
                     installed ones, and install it again";
        return Err(ProgramError::in_the_way(Path::new(link), found));
    }
    let other_launch = request
        .launch
        .as_ref()
        .is_some_and(|launch| launch.iter().map(text::text).collect::<Vec<_>>() != state.launch);
    if variant != state.variant || request.library_path != journal.library_path() || other_launch {
        let reason = "it is already installed, with other options; remove it first";
        return Err(ProgramError::declined(file, reason));
    }
    let mut report = installed(request, file, journal);
    let (used, stale) = made::freshness(journal);
    if !used {
        let why = stale.map_or(String::new(), |why| format!(": {why}"));
        report.notes.push(format!("It starts its original now{why}. Renew it."));
    }
    Ok(ProgramChange { outcome: ProgramOutcome::Present, ..report })
}

/// What is told of a program that was put in place.
pub(crate) fn installed(request: &ProgramRequest, file: &Path, journal: &Journal) -> ProgramChange {
    let state = &journal.state;
    ProgramChange {
        named: request.named.clone(),
        program: Some(state.program.clone()),
        outcome: ProgramOutcome::Installed,
        reason: None,
        advice: None,
        variant: Some(state.variant),
        place: Some(state.place.clone()),
        gain: state.gain,
        notes: notes(request, file, journal),
    }
}

fn notes(request: &ProgramRequest, file: &Path, journal: &Journal) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(path) = &journal.state.library_path {
        notes.push(format!(
            "It is used where LD_LIBRARY_PATH is {}; all other launches start the original",
            quoted(text::name(path))
        ));
    }
    match &journal.state.place {
        ProgramPlace::Diversion { original, .. } => {
            if request.program != file {
                notes.push(format!(
                    "{} is a link to {}: the bundle takes the place of that file, so all names that \
                     lead to it start the bundle",
                    request.program.display(),
                    file.display()
                ));
            }
            let names = Path::new(&text::name(original)).metadata().map_or(1, |data| data.nlink());
            if names > 1 {
                notes
                    .push(format!("{} other names of the same file start the original", names - 1));
            }
        }
        ProgramPlace::Folder { link, .. } => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            let link = PathBuf::from(text::name(link));
            notes.extend(linked::advice(&link, &request.program, &path));
        }
    }
    notes
}
