//! What a start of a bundle does now and here. The bundle itself is asked: it makes the check that it makes at
//! every start, tells what it has found, and ends before the program and its libraries are initialized.

use crate::error::BundleError;
use crate::make::RUN;
use crate::prove::original::{self, Original};
use crate::verify::OTHER_VERSION;
use crate::write::manifest;
use image::elf::Loadable;
use model::Command;
use model::bundle::{BundleChange, BundleManifest, ChangeKind, Starts};
use model::text::text;
use startup::{
    Answer, LOADER_VARIABLES, STALE_VARIABLE, TRACE_ANSWERS, TRACE_VARIABLE, forbids_original,
};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

/// Variables of the environment that are set, or unset.
type Variables = Vec<(String, Option<OsString>)>;

const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";
/// Longer than a file takes that has to be read from a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// Whether a start of the bundle in `folder` uses it now and here, else why not: what its own check says,
/// without a look at the contents of files. `library_path` is LD_LIBRARY_PATH of the start, if that is not
/// as in this process.
///
/// # Errors
/// There is no bundle.
pub fn used(
    folder: &Path,
    library_path: Option<&OsStr>,
) -> Result<Result<(), String>, BundleError> {
    let folder = &manifest::own_folder(folder);
    let manifest = manifest::read(folder)?;
    let run = folder.join(RUN);
    if let Some(error) = os::program::refusal(&run) {
        return Ok(Err(error.to_string()));
    }
    if Loadable::open(&run).ok().as_ref().and_then(crate::verify::looks).is_none() {
        return Ok(Err(OTHER_VERSION.to_owned()));
    }
    let set = library_path.map(|path| (LIBRARY_PATH.into(), Some(path.to_owned())));
    Ok(match answer(&run, chosen(&manifest).chain(set).collect()) {
        Ok(Answer::Used) => Ok(()),
        Ok(Answer::Stale { subject, cause }) => Err(format!("{}{cause}", text(&subject))),
        Err(reason) => Err(reason),
    })
}

/// What a launch of a bundle does now.
pub(crate) struct Start {
    pub(crate) starts: Starts,
    /// What the check finds changed.
    pub(crate) noticed: Option<String>,
    /// The same with what is wrong with it, as a sentence.
    pub(crate) reason: Option<String>,
    /// What is at the original's place, or why nothing can be started.
    pub(crate) instead: Option<String>,
    /// `run` may not be executed where it is.
    pub(crate) closed: bool,
    /// The loader would end the launch of `run`, and not that of the original.
    pub(crate) outdated: bool,
}

impl Start {
    pub(crate) fn of(starts: Starts) -> Start {
        let (noticed, reason, instead) = (None, None, None);
        Start { starts, noticed, reason, instead, closed: false, outdated: false }
    }

    /// That of a whole bundle at `run` in this environment. What it cannot start is added to the changes.
    pub(crate) fn now(
        run: &Path,
        manifest: &BundleManifest,
        changes: &mut Vec<BundleChange>,
    ) -> Start {
        // The kernel and the loader come before the preamble.
        if let Some(error) = os::program::refusal(run) {
            return Start { closed: true, ..Start::nothing(run, error.to_string(), changes) };
        }
        if let Some(reason) = original::not_loaded(run) {
            let outdated = original::starts(&manifest.path(), run);
            return Start { outdated, ..Start::nothing(run, reason, changes) };
        }
        if Loadable::open(run).ok().as_ref().and_then(crate::verify::looks).is_none() {
            return Start::of(Starts::Unknown);
        }
        if let Some(reason) = of_another_user(run) {
            return Start { reason: Some(reason), ..Start::of(Starts::Unknown) };
        }
        let (subject, cause) = match answer(run, chosen(manifest).collect()) {
            Ok(Answer::Used) => return Start::of(Starts::Bundle),
            Ok(Answer::Stale { subject, cause }) => (subject, cause),
            Err(reason) => return Start::nothing(run, reason, changes),
        };
        let (program, noticed) = (&manifest.program, text(&subject));
        let Original { starts, instead } = match std::env::var_os(STALE_VARIABLE) {
            Some(value) if forbids_original(&value) => Original::forbidden(),
            _ => original::launched(program, run, changes),
        };
        let reason = Some(format!("{noticed}{cause}"));
        Start { noticed: Some(noticed), reason, instead, ..Start::of(starts) }
    }

    fn nothing(run: &Path, reason: String, changes: &mut Vec<BundleChange>) -> Start {
        let (what, found) = (ChangeKind::Changed, reason.clone());
        changes.push(BundleChange { path: text(run), what, found });
        let instead = Some(reason.clone());
        Start { reason: Some(reason), instead, ..Start::of(Starts::Nothing) }
    }

    /// The variable of the environment that is not as it was, if it is one.
    pub(crate) fn variable(&self) -> Option<&str> {
        let noticed = self.noticed.as_deref()?;
        LOADER_VARIABLES.contains(&noticed).then_some(noticed)
    }
}

/// Why a launch of `command` starts the original, if its program is a bundle that does so now and here. Of a
/// bundle by another version of headstart that is not known.
pub fn stale(command: &Command) -> Option<String> {
    let image = Loadable::open(&command.program).ok()?;
    crate::verify::looks(&image)?;
    match asked(command.clone()) {
        Ok(Answer::Stale { subject, cause }) => Some(format!("{}{cause}", text(subject))),
        _ => None,
    }
}

/// Variables by which a tool is chosen among several of its name.
pub(crate) fn chosen(
    manifest: &BundleManifest,
) -> impl Iterator<Item = (String, Option<OsString>)> {
    let selection = manifest.tool.as_ref().and_then(|tool| tool.selection.as_ref());
    let variables = selection.into_iter().flat_map(|selection| &selection.variables);
    variables.map(|(name, value)| (name.clone(), Some(model::text::name(value))))
}

/// Why root does not start it to ask it: others may have written into it what they like.
fn of_another_user(run: &Path) -> Option<String> {
    let owner = run.metadata().ok()?.uid();
    (os::program::own_user() == 0 && owner != 0).then(|| {
        format!(
            "run belongs to another user (user id {owner}), so root does not start it, and whether it is used is \
             not known"
        )
    })
}

/// What the bundle says.
///
/// # Errors
/// Nothing, or something else: why, in words that follow its path.
fn answer(run: &Path, environment: Variables) -> Result<Answer, String> {
    let (argv, program) = (vec![run.into()], run.to_owned());
    asked(Command { argv, program, directory: None, environment })
}

fn asked(mut command: Command) -> Result<Answer, String> {
    command.environment.push((TRACE_VARIABLE.into(), Some(TRACE_ANSWERS.into())));
    let asked = os::asked::ask(&command, PATIENCE).map_err(|error| error.to_string())?;
    Answer::read(&asked.stdout).ok_or_else(|| {
        let said = String::from_utf8_lossy(&asked.stderr);
        let said = said.lines().last().map_or(String::new(), |line| format!(": {line}"));
        format!("it {} before its check{said}", asked.ending.words())
    })
}
