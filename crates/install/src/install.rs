//! Programs are put in the place of their originals.

use crate::choose;
use crate::diversion::Diversion;
use crate::forgotten::forgotten;
use crate::journal::{self, Journal};
use crate::made::{self, Launched, Original};
use crate::remove::undo;
use crate::stop::Stop;
use crate::workshop::Workshop;
use crate::{InstallPlaces, ProgramError, linked, refuse, told};
use model::{
    InstallStep, InstalledProgram, PROGRAMS_SCHEMA, ProgramChange, ProgramPlace, ProgramVariant,
    ProgramsReport, Verdict, text,
};
use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A program that is to be installed.
#[derive(Clone, Debug)]
pub struct ProgramRequest {
    /// As it was named.
    pub named: String,
    /// Its file as it was found, links not followed.
    pub program: PathBuf,
    /// Arguments of the launch by which it is verified; the usual ones where there are none.
    pub launch: Option<Vec<OsString>>,
    /// LD_LIBRARY_PATH of the launches that it is for, where it is set in these.
    pub library_path: Option<OsString>,
}

/// Installs programs one after the other; `observer` is told of each before it is begun.
///
/// # Errors
/// Somebody else is at work, the folder of all programs cannot be used, or the user wants to stop. What
/// becomes of each program is in the report.
pub fn install(
    places: &InstallPlaces,
    requests: &[ProgramRequest],
    variant: ProgramVariant,
    observer: &mut dyn FnMut(&str),
) -> Result<ProgramsReport, ProgramError> {
    refuse::check_environment()?;
    let workshop = Workshop::enter(places)?;
    let done = install_all(places, requests, variant, observer);
    if journal::all(&places.state).is_ok_and(|(all, unread)| all.is_empty() && unread.is_empty()) {
        drop(places.hooks.remove(&places.state));
        workshop.close(&places.state);
    }
    done
}

fn install_all(
    places: &InstallPlaces,
    requests: &[ProgramRequest],
    variant: ProgramVariant,
    observer: &mut dyn FnMut(&str),
) -> Result<ProgramsReport, ProgramError> {
    made::can_start(places)?;
    journal::sweep_all(&places.state);
    let mut report = ProgramsReport { schema: PROGRAMS_SCHEMA, ..ProgramsReport::default() };
    let stop = Stop::default();
    let work = Work::at(places, &stop);
    let mut all = || -> Result<(), ProgramError> {
        for request in requests {
            made::stop_if_asked()?;
            observer(&request.named);
            let one = work.install(request, variant);
            let one = one.or_else(|error| told::failed(&request.named, &request.program, error))?;
            report.programs.push(one);
        }
        Ok(())
    };
    let ended = all();
    if report.programs.iter().any(|program| program.place.is_some()) {
        let fixed = "A program at fixed addresses has the same ones at every start until it is renewed, which \
                     helps attackers.";
        report.notes.extend((variant == ProgramVariant::Fixed).then(|| fixed.to_owned()));
        report.notes.extend(work.notes.take());
        for note in places.hooks.write(&places.state) {
            if !report.notes.contains(&note) {
                report.notes.push(note);
            }
        }
    }
    // Those before the one at which the user wanted to stop are installed.
    ended.map(|()| report)
}

/// The work at one program.
pub(crate) struct Work<'a> {
    pub(crate) places: &'a InstallPlaces,
    pub(crate) stop: &'a Stop,
    /// What a user should know in the end.
    pub(crate) notes: RefCell<Vec<String>>,
}

impl<'a> Work<'a> {
    pub(crate) fn at(places: &'a InstallPlaces, stop: &'a Stop) -> Work<'a> {
        Work { places, stop, notes: RefCell::default() }
    }
}

impl Work<'_> {
    fn install(
        &self,
        request: &ProgramRequest,
        variant: ProgramVariant,
    ) -> Result<ProgramChange, ProgramError> {
        let file = request.program.canonicalize().map_err(ProgramError::io(&request.program))?;
        if let Some(present) = self.present(request, (&file, variant))? {
            return Ok(present);
        }
        if let Some(error) = forgotten(self.places, &text::text(&file)) {
            return Err(error);
        }
        let library_path = request.library_path.as_deref();
        let fixed = variant == ProgramVariant::Fixed;
        choose::permitted(self.places, (&request.program, &file), library_path, fixed)?;
        let place = choose::place(self.places, &request.program, &file)?;
        let program = match &place {
            ProgramPlace::Diversion { .. } => file.clone(),
            ProgramPlace::Folder { .. } => request.program.clone(),
        };
        let launched = Launched { program: &program, file: &program, library_path };
        let mut original = Original::observe(&launched, request.launch.as_deref())?;
        let state = InstalledProgram {
            schema: PROGRAMS_SCHEMA,
            headstart: env!("CARGO_PKG_VERSION").to_owned(),
            name: journal::free_name(&self.places.state, &program),
            program: text::text(&program),
            variant,
            place,
            step: InstallStep::Begun,
            launch: original.arguments.clone(),
            library_path: library_path.map(text::text),
            gain: None,
            renewed_unix_s: None,
            ours: Vec::new(),
            rights: None,
        };
        let mut journal = Journal::begin(&self.places.state, state)?;
        match self.begun(&mut journal, &mut original) {
            Ok(()) => Ok(told::installed(request, &file, &journal)),
            Err(ProgramError::Stopped) => Err(ProgramError::Stopped),
            Err(error) => Err(self.undone(journal, error)),
        }
    }

    /// What went wrong, once all is as it was.
    pub(crate) fn undone(&self, journal: Journal, error: ProgramError) -> ProgramError {
        let name = journal.state.name.clone();
        match undo(self.places, journal, self.stop) {
            Ok(()) => error,
            Err(ProgramError::Stopped) => ProgramError::Stopped,
            Err(left) => ProgramError::NotUndone {
                found: error.to_string(),
                left: match left {
                    ProgramError::Busy { what, holder } => format!("{what} is at work ({holder})"),
                    left => left.to_string(),
                },
                undo: self.places.undo_of(&name),
            },
        }
    }

    /// All steps from the first change on.
    fn begun(&self, journal: &mut Journal, original: &mut Original) -> Result<(), ProgramError> {
        if let Some(dpkg) = &self.places.dpkg
            && let Some(diversion) = Diversion::of(journal, dpkg, self.stop)
        {
            // Whatever becomes of this, an upgrade ends it.
            self.notes.borrow_mut().extend(self.places.hooks.write(&self.places.state));
            let _locked = dpkg.locked(self.places.patience)?;
            diversion.divert(journal)?;
        }
        let program = journal.program();
        let made = made::make(journal, &journal.bundle())?;
        made::stop_if_asked()?;
        let fixed = journal.state.variant == ProgramVariant::Fixed;
        original.verify(&program, &journal.bundle(), &made, fixed)?;
        let gain = original.measure(&program, &made.run)?;
        if gain.verdict != Verdict::Faster {
            return Err(ProgramError::NotFaster { program, found: not_faster(&gain) });
        }
        journal.state.gain = Some(gain.ratio);
        journal.state.renewed_unix_s = made::now();
        journal.reach(InstallStep::Made)?;
        self.stop.here()?;
        self.put_in_place(journal)?;
        original.verify_in_place(&program, &started(journal))
    }

    /// The bundle is what is started from now on.
    pub(crate) fn put_in_place(&self, journal: &mut Journal) -> Result<(), ProgramError> {
        let dpkg = self.places.dpkg.as_ref();
        match dpkg.and_then(|dpkg| Diversion::of(journal, dpkg, self.stop)) {
            Some(diversion) => diversion.put_in_place(journal),
            None => linked::put_in_place(journal, self.places, self.stop),
        }
    }

    /// What is told of a program that is installed; one whose installation was interrupted is put
    /// back as it was first.
    fn present(
        &self,
        request: &ProgramRequest,
        (file, variant): (&Path, ProgramVariant),
    ) -> Result<Option<ProgramChange>, ProgramError> {
        let (journals, _) = journal::all(&self.places.state)?;
        for journal in journals {
            let is_diverted = matches!(journal.state.place, ProgramPlace::Diversion { .. });
            let program = journal.program();
            let is_it = program == file
                || program == request.program
                || (is_diverted && made::original(&journal) == file)
                || journal.run().canonicalize().is_ok_and(|run| run == file);
            if is_it && journal.state.step == InstallStep::InPlace {
                return told::present(request, (file, variant), &journal).map(Some);
            }
            if is_it {
                undo(self.places, journal, self.stop)?;
            }
        }
        Ok(None)
    }
}

/// The path by which a program is started once it is in place.
pub(crate) fn started(journal: &Journal) -> PathBuf {
    match &journal.state.place {
        ProgramPlace::Diversion { .. } => journal.program(),
        ProgramPlace::Folder { link, .. } => text::name(link).into(),
    }
}

pub(crate) fn not_faster(gain: &made::Gain) -> String {
    match gain.verdict {
        Verdict::Slower => format!("it would be slower: {}", gain.words),
        _ => format!("it is not measurably faster: {}", gain.words),
    }
}
