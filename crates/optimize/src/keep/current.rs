//! What becomes of a folder that `optimize` or `selfbind` has left.
//!
//! Only a bundle looks at anything when it is started. All others go on as they are, whatever is
//! upgraded; so the manifest has the contents of what was made, and of what it was made of.

use super::folder::{FILES, MANIFEST};
use crate::{Baseline, Built, MadeOf};
use bundle::original::{self, Original};
use bundle::{BundleError, MakeAgain, RUN, Verified, check_schema, kept_files, read_json, sources};
use loader::Environment;
use model::bundle::{
    BUNDLE_SCHEMA, BundleChange, BundleVerification, ChangeKind, Inventory, InventoryFile, Starts,
};
use model::optimization::{KeptPart, Manifest, OPTIMIZATION_SCHEMA};
use model::text::{name, text};
use rewrite::selfbind;
use std::path::{Path, PathBuf};

/// What is recorded of the files that a variant was made of.
///
/// # Errors
/// One of them cannot be read.
pub(crate) fn made_of(
    baseline: &Baseline,
    built: &Built,
    folder: &Path,
) -> Result<Inventory, BundleError> {
    let all = baseline.graph.modules.as_slice();
    let modules = match built.made_of {
        MadeOf::Bundle => Vec::new(),
        MadeOf::Program => sources::of_modules(all.get(..1).unwrap_or(all))?,
        MadeOf::Closure => sources::of_modules(all)?,
    };
    Ok(Inventory {
        files: Vec::new(),
        modules,
        stays_in: built.must_stay.then(|| text(folder)),
        checked_at_start: Some(built.made_of == MadeOf::Bundle),
    })
}

/// What has become of a folder.
#[derive(Debug)]
pub struct FolderVerification {
    /// What was found. The remedy is in it only where `bundle` has made the folder.
    pub found: BundleVerification,
    /// The next step, where one is needed; where there is a remedy, it goes on with this.
    pub next: Option<NextStep>,
}

/// What helps where a folder is not right any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// What keeps the files from being started has to be mended: they are as they were made.
    MendOnly,
    /// The original has to come back, or the folder has to go.
    PutBack {
        /// The original.
        program: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// The program has to be bundled again.
    BundleAgain(Box<MakeAgain>),
    /// The program has to be optimized again.
    OptimizeAgain {
        /// Its command line.
        command: String,
        /// The variant was one whose every launch has the same addresses.
        without_aslr: bool,
        /// Cold launches were measured too.
        cold: bool,
    },
    /// The program has to be bound to private libraries again.
    SelfBindAgain {
        /// The program.
        program: PathBuf,
    },
}

/// Looks at everything in a folder that `bundle`, `optimize` or `selfbind` has left, and at what it
/// was made of.
///
/// # Errors
/// It is no such folder, or its manifest cannot be read.
pub fn verify(folder: &Path) -> Result<FolderVerification, BundleError> {
    let libraries = folder.join(selfbind::MANIFEST);
    if !there(&folder.join(MANIFEST)) && there(&libraries) {
        return of_selfbind(folder, &libraries);
    }
    match of_optimize(folder)? {
        Some(manifest) => Ok(optimized(folder, &manifest)),
        None => {
            let Verified { found, again } = bundle::verify(folder)?;
            Ok(FolderVerification { found, next: again.map(Box::new).map(NextStep::BundleAgain) })
        }
    }
}

fn there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn not_ours(folder: &Path, path: &Path) -> impl Fn(String) -> BundleError {
    let found = move |path: &Path, found| format!("{}: {found}", path.display());
    let (folder, path) = (folder.to_owned(), path.to_owned());
    move |what| BundleError::NotOurs { folder: folder.clone(), found: found(&path, what) }
}

/// The manifest, if it is of `optimize`.
fn of_optimize(folder: &Path) -> Result<Option<Manifest>, BundleError> {
    let path = folder.join(MANIFEST);
    let wrong = not_ours(folder, &path);
    if !there(&path) {
        return Ok(None);
    }
    let value = read_json(&path, &wrong)?;
    if value.get("variant").is_none() {
        return Ok(None);
    }
    check_schema(&value, OPTIMIZATION_SCHEMA).map_err(&wrong)?;
    let manifest: Manifest =
        serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
    match manifest.kept.files.is_empty() {
        true => Err(wrong(OLD.to_owned())),
        false => Ok(Some(manifest)),
    }
}

const OLD: &str = "it was made by a version of headstart that did not record what it left; make \
     it again in a new folder";

fn optimized(folder: &Path, manifest: &Manifest) -> FolderVerification {
    let program = &manifest.original.path;
    let mut found = of_kept(folder, program, &manifest.kept);
    if manifest.kept.checked_at_start == Some(true) {
        match bundle::verify(&folder.join(FILES)) {
            Ok(Verified { found: of_bundle, .. }) => {
                found.files += of_bundle.files;
                found.read_ahead = of_bundle.read_ahead;
                found.check = of_bundle.check;
                found.used &= of_bundle.used;
                // One `run` leads to the other.
                if found.changes.is_empty() {
                    (found.starts, found.noticed) = (of_bundle.starts, of_bundle.noticed);
                    (found.instead, found.reason) = (of_bundle.instead, of_bundle.reason);
                }
                found.changes.extend(of_bundle.changes);
            }
            Err(error) => {
                let path = text(folder.join(FILES));
                let (what, error) = (ChangeKind::Changed, error.to_string());
                found.changes.push(BundleChange { path, what, found: error });
                (found.starts, found.used) = (Starts::Unknown, false);
            }
        }
    } else if manifest.variant == crate::choose::DEFAULT && found.starts == Starts::Copies {
        let run = folder.join(RUN);
        let Original { starts, instead } = original::launched(program, &run, &mut found.changes);
        // That is what was made.
        found.used = starts == Starts::Original;
        (found.starts, found.instead) = (starts, instead);
    }
    manifest.parts.iter().for_each(|part| of_part(folder, part, &mut found));
    let variant = manifest.figures.iter().find(|figures| figures.name == manifest.variant);
    let without_aslr = variant.is_some_and(|variant| !variant.keeps_aslr);
    let cold = variant.is_some_and(|variant| variant.cold.is_some());
    let command = manifest.command.clone();
    settled(found, NextStep::OptimizeAgain { command, without_aslr, cold })
}

/// A variant of another program of the launch: `run` leads to it, too.
fn of_part(folder: &Path, part: &KeptPart, found: &mut BundleVerification) {
    let place = folder.join(name(&part.folder));
    match bundle::verify(&place) {
        Ok(Verified { found: of_part, .. }) => {
            found.files += of_part.files;
            if found.changes.is_empty() && !of_part.used {
                (found.starts, found.noticed) = (of_part.starts, of_part.noticed);
                found.instead = of_part.instead;
                let why = of_part.reason.map_or(String::new(), |why| format!(", as {why}"));
                found.reason = Some(format!("{} is started, not its bundle{why}", part.program));
            }
            found.used &= of_part.used;
            found.changes.extend(of_part.changes);
        }
        Err(error) => {
            let (path, error) = (text(&place), error.to_string());
            found.changes.push(BundleChange { path, what: ChangeKind::Changed, found: error });
            found.starts = Starts::Unknown;
        }
    }
}

fn of_selfbind(folder: &Path, path: &Path) -> Result<FolderVerification, BundleError> {
    let wrong = not_ours(folder, path);
    let value = read_json(path, &wrong)?;
    check_schema(&value, selfbind::SCHEMA).map_err(&wrong)?;
    let program = value.get("program").and_then(|program| program.as_str()).map(str::to_owned);
    let kept: Inventory =
        serde_json::from_value(value).map_err(|error| wrong(error.to_string()))?;
    let Some(program) = program.filter(|_| !kept.files.is_empty()) else {
        return Err(wrong(OLD.to_owned()));
    };
    let found = of_kept(folder, &program, &kept);
    let program = PathBuf::from(name(&program));
    let again = match original::is_unsuitable(&program) {
        true => NextStep::PutBack { program, folder: folder.to_owned() },
        false => NextStep::SelfBindAgain { program },
    };
    Ok(settled(found, again))
}

/// The files that were left, and those that they were made of.
fn of_kept(folder: &Path, program: &str, kept: &Inventory) -> BundleVerification {
    let mut changes = kept_files::changes(folder, &kept.files);
    changes.extend(kept.stays_in.as_deref().and_then(|place| moved(folder, place)));
    let run = folder.join(RUN);
    let refused = os::program::refusal(&run).filter(|_| changes.is_empty());
    let instead = refused.map(|error| error.to_string());
    let starts = match &instead {
        Some(_) => Starts::Nothing,
        None if changes.is_empty() => Starts::Copies,
        None => Starts::Unknown,
    };
    changes.extend(instead.iter().map(|reason| BundleChange {
        path: text(&run),
        what: ChangeKind::Changed,
        found: reason.clone(),
    }));
    let of_sources = sources::changed(&kept.modules);
    let same = of_sources.iter().all(|change| change.path != program);
    changes.extend(of_sources);
    if same && kept.modules.len() > 1 {
        changes.extend(replaced(program, kept));
    }
    BundleVerification {
        schema: BUNDLE_SCHEMA,
        program: program.to_owned(),
        current: false,
        used: starts == Starts::Copies,
        check: None,
        files: kept.files.len() + kept.modules.len(),
        reason: None,
        starts,
        noticed: None,
        instead,
        read_ahead: None,
        not_read_ahead: Vec::new(),
        populate: None,
        changed_plugins: None,
        changed_merged: None,
        large_pages: None,
        remedy: None,
        changes,
    }
}

/// Libraries that the program loads in the place of those that the files were made of. What only
/// this environment brings (LD_PRELOAD, LD_LIBRARY_PATH) is no change of a file.
fn replaced(program: &str, kept: &Inventory) -> Vec<BundleChange> {
    let found = |environment| sources::replaced((program, None), &kept.modules, &environment);
    let changes = found(Environment::own());
    let without = if changes.is_empty() { Vec::new() } else { found(Environment::default()) };
    if without.is_empty() { Vec::new() } else { changes }
}

fn moved(folder: &Path, place: &str) -> Option<BundleChange> {
    let now = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let was = PathBuf::from(name(place));
    (now != was).then(|| BundleChange {
        path: text(&now),
        what: ChangeKind::Moved,
        found: format!(
            "it was made in {place}, where its program still looks for its libraries; move it \
             back, or make it again"
        ),
    })
}

/// What follows from the changes.
fn settled(found: BundleVerification, again: NextStep) -> FolderVerification {
    let next = match found.starts {
        // Files made again there could not be started either.
        Starts::Nothing => Some(NextStep::MendOnly),
        _ => (!found.changes.is_empty() || found.noticed.is_some()).then_some(again),
    };
    let first = found.changes.first();
    let first = first.map(|change| format!("{}: {}", change.path, change.found));
    let reason = found.reason.or(first);
    let current = found.changes.is_empty();
    FolderVerification { found: BundleVerification { current, reason, ..found }, next }
}

/// Everything that is left in a folder with a link or script `run`, which is yet to be made.
pub(crate) fn files(
    folder: &Path,
    of_bundle: bool,
    run: InventoryFile,
) -> std::io::Result<Vec<InventoryFile>> {
    let within = Path::new(FILES);
    // A bundle has a manifest of its own, which `rerandomize` renews.
    let mut files = match folder.join(within).is_dir() && !of_bundle {
        true => kept_files::below(folder, within)?,
        false => Vec::new(),
    };
    files.push(run);
    Ok(files)
}
