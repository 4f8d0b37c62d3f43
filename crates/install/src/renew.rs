//! Programs that are stale are made again, and what was interrupted is ended.

use crate::diversion::{Diversion, missing};
use crate::install::{Work, not_faster, started};
use crate::journal::{self, Journal};
use crate::made::{self, Launched, Original};
use crate::remove::{Begun, Which, close, removed, undo};
use crate::stop::Stop;
use crate::told::failed;
use crate::{InstallPlaces, ProgramError, guard, hash, linked, refuse, swap};
use model::{
    InstallStep, ProgramChange, ProgramOutcome, ProgramPlace, ProgramVariant, ProgramsReport,
    Verdict, text,
};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Makes those programs again that start their originals, gives those at fixed addresses others, ends
/// what was interrupted, and takes those out whose packages are gone. A package manager that is at work
/// is waited for so long: what it has not finished would have to be renewed again.
///
/// # Errors
/// Somebody else is at work, or the user wants to stop. What becomes of each program is in the report.
pub fn renew(
    places: &InstallPlaces,
    (which, wait): (&Which, Duration),
    observer: &mut dyn FnMut(&str),
) -> Result<ProgramsReport, ProgramError> {
    refuse::check_environment()?;
    if let Some(dpkg) = places.dpkg.as_ref().filter(|_| !wait.is_zero()) {
        // Where it takes longer, what is done now is better than nothing.
        drop(dpkg.locked(wait));
    }
    let Begun { mut report, workshop, meant } = Begun::with(places, which)?;
    let stop = Stop::default();
    let work = Work::at(places, &stop);
    for (named, journal) in meant {
        made::stop_if_asked()?;
        observer(&named);
        let program = journal.program();
        let one = work.renew(&named, journal);
        report.programs.push(one.or_else(|error| failed(&named, &program, error))?);
    }
    let (left, unreadable) = journal::all(&places.state)?;
    if !left.is_empty() {
        report.notes.extend(places.hooks.write(&places.state));
    } else if unreadable.is_empty() {
        close(workshop, places, &mut report);
    }
    Ok(report)
}

impl Work<'_> {
    pub(crate) fn renew(
        &self,
        named: &str,
        mut journal: Journal,
    ) -> Result<ProgramChange, ProgramError> {
        if let Some(reason) = self.is_over(&journal)? {
            let report = removed(named, &journal, Some(reason));
            undo(self.places, journal, self.stop)?;
            return Ok(report);
        }
        let is_linked = self.is_in_place(&journal)?;
        let is_verified = journal.is_verified()?;
        journal::remove_folder(&journal.next())?;
        let dpkg = self.places.dpkg.as_ref();
        if let Some(diversion) = dpkg.and_then(|dpkg| Diversion::of(&journal, dpkg, self.stop)) {
            diversion.hand_on_rights(&mut journal)?;
        }
        let (used, stale) = made::freshness(&journal);
        if !used {
            return self.make_again(named, journal, stale);
        }
        if !is_verified {
            let reason = "it was not verified when it was last made".to_owned();
            return self.make_again(named, journal, Some(reason));
        }
        let outcome = match journal.state.variant {
            // What was made before is not in place yet.
            _ if !is_linked => {
                self.put_again(&mut journal)?;
                ProgramOutcome::Renewed
            }
            ProgramVariant::Fixed => {
                bundle::rerandomize(&journal.bundle())?;
                journal.state.renewed_unix_s = made::now();
                self.put_again(&mut journal)?;
                ProgramOutcome::Moved
            }
            ProgramVariant::Movable => ProgramOutcome::Fresh,
        };
        Ok(renewed(named, &journal, outcome, None))
    }

    /// Why the program is not to be installed any more.
    fn is_over(&self, journal: &Journal) -> Result<Option<String>, ProgramError> {
        match journal.state.step {
            InstallStep::InPlace => {}
            InstallStep::Removing => return Ok(Some("its removal was interrupted".to_owned())),
            _ => return Ok(Some("its installation was interrupted".to_owned())),
        }
        let original = made::original(journal);
        if swap::is_there(&original)? {
            return Ok(None);
        }
        let owner = match (&journal.state.place, &self.places.dpkg) {
            (ProgramPlace::Diversion { known_as, .. }, Some(dpkg)) => {
                match dpkg.owner(Path::new(&text::name(known_as)))? {
                    Some(owner) => owner.package,
                    None => return Ok(Some("its package was removed".to_owned())),
                }
            }
            // It may be on a disk that is not there now.
            _ => {
                let found = "it is not there now, so the bundle made from it is not renewed; put it back, \
                             or remove it from the installed programs";
                return Err(ProgramError::in_the_way(&original, found));
            }
        };
        Err(ProgramError::in_the_way(&original, missing(&owner)))
    }

    /// Whether the present bundle is what is started, rather than the one before.
    fn is_in_place(&self, journal: &Journal) -> Result<bool, ProgramError> {
        let program = journal.program();
        match &journal.state.place {
            ProgramPlace::Folder { .. } if linked::is_in_place(journal) => Ok(true),
            ProgramPlace::Folder { link, .. } => {
                let link = Path::new(link);
                let found = "this link has been removed or replaced, so the program is not renewed; \
                             remove it from the installed programs";
                Err(ProgramError::in_the_way(link, found))
            }
            ProgramPlace::Diversion { .. } if !swap::is_there(&program)? => {
                let found = "somebody has deleted it, so it is not renewed; removing it from the \
                             installed programs puts the original back";
                Err(ProgramError::in_the_way(&program, found))
            }
            ProgramPlace::Diversion { .. } if swap::same(&program, &journal.run()) => Ok(true),
            ProgramPlace::Diversion { .. } => match journal.is_ours(&program)? {
                // A copy, where the bundle is in another file system.
                true => {
                    let run = journal.run();
                    Ok(swap::is_there(&run)? && hash::of(&program)? == hash::of(&run)?)
                }
                false => {
                    let found = "somebody has replaced it, so it is not renewed; remove it from the \
                                 installed programs";
                    Err(ProgramError::in_the_way(&program, found))
                }
            },
        }
    }

    /// Of a program that is started through a link, the new bundle is there already.
    fn put_again(&self, journal: &mut Journal) -> Result<(), ProgramError> {
        let dpkg = self.places.dpkg.as_ref();
        match dpkg.and_then(|dpkg| Diversion::of(journal, dpkg, self.stop)) {
            Some(diversion) => diversion.put_in_place(journal),
            None => {
                journal.state.ours = vec![hash::of(&journal.run())?];
                journal.write()
            }
        }
    }

    fn make_again(
        &self,
        named: &str,
        mut journal: Journal,
        stale: Option<String>,
    ) -> Result<ProgramChange, ProgramError> {
        let (program, file) = (journal.program(), made::original(&journal));
        let library_path = journal.library_path();
        let library_path = library_path.as_deref();
        let launched = Launched { program: &program, file: &file, library_path };
        let stays = |reason: String| ProgramError::Wrong {
            program: program.clone(),
            found: format!("it starts its original, {reason}"),
        };
        if let Ok(graph) = refuse::graph(&launched) {
            if self.places.guarded
                && let Err(reason) = guard::check(&program, &graph, library_path)
            {
                return Err(stays(format!("and is not renewed: {reason}")));
            }
            let fixed = journal.state.variant == ProgramVariant::Fixed;
            if let Err(error) = refuse::check((&program, &program), &graph, fixed) {
                return self.given_up(named, journal, error);
            }
        }
        if let Some(reason) = refuse::kind(&file) {
            return self.given_up(named, journal, ProgramError::declined(&program, reason));
        }
        let stamps = launched.stamps();
        let launch: Vec<OsString> =
            journal.state.launch.iter().map(|word| text::name(word)).collect();
        // Where the original does not work now, it may after the rest of an upgrade.
        let mut original =
            Original::observe(&launched, Some(&launch)).map_err(|error| match error {
                ProgramError::Declined { reason, .. } => {
                    stays(format!("which does not work now: {reason}"))
                }
                error => error,
            })?;
        let error = match self.made_again(&mut journal, &mut original) {
            Ok(()) => return Ok(renewed(named, &journal, ProgramOutcome::Renewed, stale)),
            Err(error) => error,
        };
        journal::remove_folder(&journal.next())?;
        if launched.stamps() != stamps {
            return Err(stays(format!("as its files changed while it was renewed ({error})")));
        }
        match error {
            ProgramError::Wrong { .. }
            | ProgramError::Declined { .. }
            | ProgramError::NotFaster { .. } => self.given_up(named, journal, error),
            error => Err(error),
        }
    }

    /// What cannot be made again is taken out.
    fn given_up(
        &self,
        named: &str,
        mut journal: Journal,
        error: ProgramError,
    ) -> Result<ProgramChange, ProgramError> {
        let program = journal.program();
        // Whatever keeps it from being undone now, it will be.
        journal.reach(InstallStep::Removing)?;
        let error = self.undone(journal, error);
        let is_undone = !matches!(error, ProgramError::NotUndone { .. });
        let mut report = failed(named, &program, error)?;
        let note = "it is no longer installed: the original is started";
        report.notes.extend(is_undone.then(|| note.to_owned()));
        Ok(report)
    }

    fn made_again(
        &self,
        journal: &mut Journal,
        original: &mut Original,
    ) -> Result<(), ProgramError> {
        let program = journal.program();
        let next = journal.next();
        let made = made::make(journal, &next)?;
        self.stop.here()?;
        let fixed = journal.state.variant == ProgramVariant::Fixed;
        original.verify(&program, &next, &made, fixed)?;
        let gain = original.measure(&program, &made.run)?;
        match gain.verdict {
            Verdict::Faster => journal.state.gain = Some(gain.ratio),
            // Beside other work nothing may be measurable.
            Verdict::Same | Verdict::Inconclusive => {}
            Verdict::Slower => {
                return Err(ProgramError::NotFaster { program, found: not_faster(&gain) });
            }
        }
        journal.state.renewed_unix_s = made::now();
        let verified = hash::of(&made.run)?;
        if !journal.state.ours.contains(&verified) {
            journal.state.ours.push(verified);
        }
        journal.write()?;
        self.stop.here()?;
        take_over(journal)?;
        self.stop.here()?;
        self.put_again(journal)?;
        original.verify_in_place(&program, &started(journal))
    }
}

/// The bundle that was verified takes the place of the old one, in one step.
fn take_over(journal: &Journal) -> Result<(), ProgramError> {
    let (next, bundle) = (journal.next(), journal.bundle());
    if !swap::is_there(&bundle)? {
        return std::fs::rename(&next, &bundle).map_err(ProgramError::io(&bundle));
    }
    if files::exchange(&next, &bundle).is_err() {
        // Not every file system can do that. What is made once more replaces each file.
        made::make(journal, &bundle)?;
    }
    journal::remove_folder(&next)
}

fn renewed(
    named: &str,
    journal: &Journal,
    outcome: ProgramOutcome,
    reason: Option<String>,
) -> ProgramChange {
    ProgramChange {
        named: named.to_owned(),
        program: Some(journal.state.program.clone()),
        outcome,
        reason,
        advice: None,
        variant: Some(journal.state.variant),
        place: Some(journal.state.place.clone()),
        gain: journal.state.gain,
        notes: Vec::new(),
    }
}
