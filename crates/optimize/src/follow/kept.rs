//! Variants of programs that the launch looks up by a variable, kept with a `run` that sets it.

use super::parts::{PartsRequest, subject};
use super::scene::with_folder;
use super::trial::WholeLaunch;
use super::{Part, scene::Scene};
use crate::trials::TrialStep;
use crate::{
    BuildFolders, OptimizeError, OptimizeEvent, ResultFolder, TrialOutcome, VariantReason,
};
use model::Command;
use model::optimization::KeptPart;
use model::text::text;

/// Builds and verifies them again where they stay. `command`: the launch as it is to be started.
pub(crate) fn keep_parts(
    asked: &PartsRequest<'_>,
    command: &Command,
    parts: &[Part],
    (folder, folders): (&mut ResultFolder, &mut BuildFolders),
    observer: &mut dyn FnMut(OptimizeEvent),
) -> Result<Vec<KeptPart>, OptimizeError> {
    let terms = &asked.request.terms;
    let mut whole = WholeLaunch::new(asked.command, asked.observed, terms, asked.patience);
    let mut kept = Vec::new();
    let mut joined = command.clone();
    for part in parts {
        let (Some((trial, _)), Some(way)) = (part.best(), part.way) else { continue };
        let Some(variable) = way.variable() else { continue };
        let base = part.program.base_name();
        let place = folder.part(&base)?;
        let not_again = |folder: &ResultFolder, reason| OptimizeError::NotAgain {
            name: format!("{} ({base})", trial.name()),
            folder: folder.folder().to_owned(),
            reason,
        };
        let subject = match subject(&part.program, way, folders)? {
            Ok(subject) => subject,
            Err(reason) => return Err(not_again(folder, reason.into())),
        };
        let mut step = |what| {
            let step = TrialStep { at: 1, of: 1, name: trial.name(), what };
            observer(OptimizeEvent::Trial(step));
        };
        let built = match whole.attempt(&subject, trial.optimization, &place, &mut step)? {
            TrialOutcome::Verified(built) => built,
            TrialOutcome::Failed(reason)
            | TrialOutcome::Declined(reason)
            | TrialOutcome::NotTried(reason) => return Err(not_again(folder, reason)),
        };
        let listed = folder.link_part(variable, &base, &place, &built.run)?;
        joined = with_folder(&joined, variable, &listed);
        kept.push(KeptPart {
            program: text(&part.program.path),
            variant: trial.name().to_owned(),
            folder: text(place.strip_prefix(folder.folder()).unwrap_or(&place)),
            variable: variable.to_owned(),
        });
    }
    if !kept.is_empty() {
        let together = Scene { command: joined, place: None };
        whole.like_the_original(&together).map_err(|reason: VariantReason| {
            let (name, folder) = ("all of them together".to_owned(), folder.folder().to_owned());
            OptimizeError::NotAgain { name, folder, reason }
        })?;
    }
    Ok(kept)
}
