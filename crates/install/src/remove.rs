//! Everything is as it was before programs were installed.

use crate::diversion::Diversion;
use crate::forgotten::{self, forgotten};
use crate::journal::{self, Journal};
use crate::stop::Stop;
use crate::told::failed;
use crate::workshop::Workshop;
use crate::{InstallPlaces, ProgramError, linked, made};
use model::{PROGRAMS_SCHEMA, ProgramChange, ProgramOutcome, ProgramPlace, ProgramsReport};
use std::ffi::OsStr;
use std::path::Path;

/// Which programs are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// These: by name, or by a path that leads to the program.
    Named(Vec<String>),
    /// All.
    All,
}

impl Which {
    /// The ones that are meant, each with what it was called, and names that do not mean one of them.
    fn of(
        &self,
        places: &InstallPlaces,
        journals: Vec<Journal>,
    ) -> (Vec<(String, Journal)>, Vec<UnknownName>) {
        let Which::Named(named) = self else {
            let all = journals.into_iter().map(|journal| (journal.state.name.clone(), journal));
            return (all.collect(), Vec::new());
        };
        let (mut found, mut unknown) = (Vec::<(String, Journal)>::new(), Vec::new());
        for name in named {
            let meant: Vec<&Journal> =
                journals.iter().filter(|journal| is_called(journal, name)).collect();
            let named = || name.clone();
            match meant[..] {
                [journal] if found.iter().any(|(_, known)| known.folder == journal.folder) => {}
                [journal] => found.push((named(), journal.clone())),
                [] => {
                    let not_installed = || ProgramError::NotInstalled { named: named() };
                    let error = forgotten(places, name).unwrap_or_else(not_installed);
                    unknown.push((named(), error));
                }
                _ => {
                    let programs = meant.iter().map(|journal| journal.state.program.clone());
                    let programs = programs.collect();
                    unknown.push((named(), ProgramError::Ambiguous { named: named(), programs }));
                }
            }
        }
        (found, unknown)
    }
}

/// A name that does not mean one of the programs, and why.
type UnknownName = (String, ProgramError);

fn is_called(journal: &Journal, name: &str) -> bool {
    let (program, named) = (journal.program(), Path::new(name));
    let original = made::original(journal);
    let files = [&program, &journal.run(), &original].map(|path| path.canonicalize().ok());
    let leads = |path: &Path| {
        let real = path.canonicalize().ok();
        real.is_some() && files.contains(&real)
    };
    if name.contains('/') {
        return std::path::absolute(named).is_ok_and(|path| path == program) || leads(named);
    }
    let link = match &journal.state.place {
        ProgramPlace::Folder { link, .. } => Path::new(link).file_name(),
        ProgramPlace::Diversion { .. } => None,
    };
    journal.state.name == name
        || program.file_name() == Some(OsStr::new(name))
        || link == Some(OsStr::new(name))
        || os::program::resolve(&[name]).is_ok_and(|command| leads(&command.program))
}

/// Takes programs out of their places. With the last one, everything goes that headstart has put on
/// the system for them.
///
/// # Errors
/// Somebody else is at work. What becomes of each program is in the report.
pub fn remove(places: &InstallPlaces, which: &Which) -> Result<ProgramsReport, ProgramError> {
    let Begun { mut report, workshop, meant } = Begun::with(places, which)?;
    for (named, journal) in meant {
        let program = journal.program();
        let gone = removed(&named, &journal, None);
        let done = undo(places, journal, &Stop::default()).map(|()| gone);
        report.programs.push(done.or_else(|error| failed(&named, &program, error))?);
    }
    let (left, unreadable) = journal::all(&places.state)?;
    if left.is_empty() && unreadable.is_empty() {
        close(workshop, places, &mut report);
    }
    Ok(report)
}

/// Work at some of the programs that are installed.
pub(crate) struct Begun {
    /// What is known before it begins: names that no program has, and states that cannot be read.
    pub(crate) report: ProgramsReport,
    /// None where nothing was ever installed.
    pub(crate) workshop: Option<Workshop>,
    /// Each with what it was called.
    pub(crate) meant: Vec<(String, Journal)>,
}

impl Begun {
    pub(crate) fn with(places: &InstallPlaces, which: &Which) -> Result<Begun, ProgramError> {
        let mut report = ProgramsReport { schema: PROGRAMS_SCHEMA, ..ProgramsReport::default() };
        let workshop = match places.state.is_dir() {
            true => Some(Workshop::enter(places)?),
            false => None,
        };
        journal::sweep_all(&places.state);
        let (journals, unreadable) = journal::all(&places.state)?;
        match which {
            // They may be in place, and nothing is known of them.
            Which::All => {
                report.programs.extend(unreadable.iter().map(unread));
                report.programs.extend(forgotten::all(places).iter().map(unread));
            }
            Which::Named(_) => report.notes.extend(unreadable.iter().map(ToString::to_string)),
        }
        let (meant, unknown) = which.of(places, journals);
        for (named, error) in unknown {
            let one = failed(&named, Path::new(&named), error)?;
            report.programs.push(ProgramChange { program: None, ..one });
        }
        Ok(Begun { report, workshop, meant })
    }
}

/// A program of which the state cannot be read.
fn unread(error: &ProgramError) -> ProgramChange {
    ProgramChange {
        named: "a program".to_owned(),
        program: None,
        outcome: ProgramOutcome::Failed,
        reason: Some(error.to_string()),
        advice: None,
        variant: None,
        place: None,
        gain: None,
        notes: Vec::new(),
    }
}

/// No program is left: nothing of headstart is.
pub(crate) fn close(
    workshop: Option<Workshop>,
    places: &InstallPlaces,
    report: &mut ProgramsReport,
) {
    report.notes.extend(places.hooks.remove(&places.state));
    if let Some(workshop) = workshop {
        workshop.close(&places.state);
    }
}

/// What is told of a program that is as it was.
pub(crate) fn removed(named: &str, journal: &Journal, reason: Option<String>) -> ProgramChange {
    ProgramChange {
        named: named.to_owned(),
        program: Some(journal.state.program.clone()),
        outcome: ProgramOutcome::Removed,
        reason,
        advice: None,
        variant: Some(journal.state.variant),
        place: None,
        gain: None,
        notes: Vec::new(),
    }
}

/// Everything is as it was before this program was installed, or was begun to be.
pub(crate) fn undo(
    places: &InstallPlaces,
    journal: Journal,
    stop: &Stop,
) -> Result<(), ProgramError> {
    if matches!(journal.state.place, ProgramPlace::Folder { .. }) {
        return linked::undo(journal, stop);
    }
    let Some(dpkg) = &places.dpkg else {
        return Err(ProgramError::Tool {
            tool: "dpkg-divert".to_owned(),
            said: "it was not found, and is needed to put the program back".to_owned(),
        });
    };
    let _locked = dpkg.locked(places.patience)?;
    match Diversion::of(&journal, dpkg, stop) {
        Some(diversion) => diversion.undo(journal),
        None => Ok(()),
    }
}
