//! Whether a bundle and what it was made of are still there, and still what the loader would take.

use crate::carry;
use crate::error::BundleError;
use crate::make::{BundleOptions, RUN};
use crate::prove::original;
use crate::prove::sources::{self, unread};
use crate::read_ahead;
use crate::start::Start;
use crate::tables::dynamic::PREAMBLE_SECTION;
use crate::write::content::Content;
use crate::write::debugger::SYMBOLS;
use crate::write::manifest::{self, MANIFEST, PENDING};
use crate::write::ownership::Manifests;
use crate::write::product;
use crate::write::spare::SPARE;
use crate::write::workplace;
use files::reasons;
use image::elf::Loadable;
use loader::Environment;
use model::bundle::{
    BUNDLE_SCHEMA, BundleChange, BundleCheck, BundleManifest, BundleProduct, BundleVerification,
    ChangeKind, Starts,
};
use model::text::text;
use model::{Disk, LargePages, quoted};
use startup::Checks;
use std::io;
use std::path::{Path, PathBuf};

/// Times that the manifests are read, as they may be replaced meanwhile.
const TRIES: usize = 3;

pub(crate) const OTHER_VERSION: &str =
    "another version of headstart made it, so whether it is used is not known";

/// What has become of a bundle.
#[derive(Debug)]
pub struct Verified {
    /// What was found. Where `again` is there, that completes its remedy.
    pub found: BundleVerification,
    /// How the bundle is made again, where that helps.
    pub again: Option<MakeAgain>,
}

/// How a bundle is made again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MakeAgain {
    /// The program.
    pub program: PathBuf,
    /// As the bundle was made, but for what it reads ahead.
    pub options: BundleOptions,
    /// The launch of which it reads ahead what that touched, as one would type it. There has to be a
    /// recording of it.
    pub reads_ahead: Option<String>,
    /// What that is read from.
    pub disk: Option<Disk>,
    /// The launch whose pages it maps at once, as one would type it.
    pub populates: Option<String>,
    /// The folder, if not a new one.
    pub folder: Option<PathBuf>,
}

/// How the bundle in `folder` was made, to make it again in the same way; none where it does not say so.
pub fn made(folder: &Path) -> Option<MakeAgain> {
    let manifest = manifest::read(&manifest::own_folder(folder)).ok()?;
    Some(again(&manifest, Some(folder.to_owned())))
}

/// How a bundle with this manifest was made.
fn again(manifest: &BundleManifest, folder: Option<PathBuf>) -> MakeAgain {
    MakeAgain {
        program: manifest.path(),
        options: manifest::options(manifest),
        reads_ahead: manifest.read_ahead.as_ref().map(|said| said.command.clone()),
        disk: manifest.read_ahead.as_ref().map(|said| said.disk),
        populates: manifest.populate.as_ref().map(|said| said.command.clone()),
        folder,
    }
}

/// Looks at every file of the bundle in `folder`, by its content, and at what the bundle looks at
/// when it is started. A folder of headstart optimize is one, too, where a bundle was the best.
///
/// # Errors
/// There is no bundle.
pub fn verify(folder: &Path) -> Result<Verified, BundleError> {
    let folder = &manifest::own_folder(folder);
    let _unchanged = workplace::look(folder);
    // What is read now gets into memory in smaller pieces.
    let large_pages = large_pages(&folder.join(RUN));
    let (manifest, run) = present(folder)?;
    let looks = Loadable::open(&folder.join(RUN)).ok().as_ref().and_then(looks);
    // What the file says, and not what a manifest may have been edited to say.
    let sealed = manifest.check == BundleCheck::Sealed && looks.is_some_and(|it| it.is_sealed());
    let mut files = 1 + if sealed { 0 } else { manifest.modules.len() };
    let mut changes: Vec<BundleChange> = of_run(folder, &manifest, &run).into_iter().collect();
    let whole = changes.is_empty();
    for (name, change) in [(SPARE, of_spare(folder, &manifest)), (SYMBOLS, of_symbols(folder))] {
        files += usize::from(folder.join(name).symlink_metadata().is_ok());
        changes.extend(change);
    }
    let changed_merged = carry::add_changed(folder, &manifest, &mut changes);
    let of_sources = if sealed { Vec::new() } else { sources::changed(&manifest.modules) };
    let of_plugins = sources::changed(&manifest.plugins);
    files += manifest.carried.len() + manifest.plugins.len();
    let mut stale = !of_sources.is_empty() || !of_plugins.is_empty();
    let changed_plugins = (!of_plugins.is_empty()).then_some(of_plugins.len());
    changes.extend(of_plugins);
    changes.extend(of_sources);
    let start = match whole {
        true => Start::now(&folder.join(RUN), &manifest, &mut changes),
        false => Start::of(Starts::Unknown),
    };
    // Another variable makes the loader load other libraries, and no file has changed for that.
    if !sealed
        && start.variable().is_none()
        && changes.iter().all(|change| change.path != manifest.program)
    {
        let replaced = replaced(&manifest);
        stale |= !replaced.is_empty();
        changes.extend(replaced);
    }
    let (remedy, again) = next_step(folder, &manifest, &start, (whole, stale));
    let Start { starts, noticed, reason, instead, .. } = start;
    let first = || changes.first().map(|change| format!("{}: {}", change.path, change.found));
    let unknown = || (starts == Starts::Unknown).then(|| OTHER_VERSION.to_owned());
    let reason = reason.or_else(first).or_else(unknown);
    let is_right = changes.is_empty() && starts == Starts::Bundle;
    let ahead = manifest.read_ahead.map(|said| read_ahead::still_read(&folder.join(RUN), said));
    let (read_ahead, not_read_ahead) =
        ahead.map_or((None, Vec::new()), |(now, not)| (Some(now), not));
    let found = BundleVerification {
        schema: BUNDLE_SCHEMA,
        program: manifest.program,
        current: changes.is_empty(),
        used: starts == Starts::Bundle,
        check: Some(manifest.check),
        files,
        reason,
        starts,
        noticed,
        instead,
        read_ahead,
        not_read_ahead,
        populate: manifest.populate,
        large_pages,
        remedy: Some(remedy).filter(|_| !is_right),
        changes,
        changed_plugins,
        changed_merged,
    };
    Ok(Verified { found, again: again.filter(|_| !is_right) })
}

/// How much of a file is in large pages; none where that is not known, or it is smaller than one.
fn large_pages(path: &Path) -> Option<LargePages> {
    let found = os::large_pages::of_file(path).ok()?;
    (found.file_kib * 1024 >= os::large_pages::BYTES).then_some(found)
}

/// Whether the `run` in `folder` is what headstart has made there, by its content.
pub fn is_as_made(folder: &Path) -> bool {
    let Ok((manifest, run)) = present(folder) else { return false };
    of_run(folder, &manifest, &run).is_none()
}

/// What the loader would take now.
fn replaced(manifest: &BundleManifest) -> Vec<BundleChange> {
    let program = (manifest.program.as_str(), manifest.told.as_deref());
    sources::replaced(program, &manifest.modules, &Environment::own())
}

/// The next step. `whole`: `run` is as it was made. `stale`: it is not for what is there now.
fn next_step(
    folder: &Path,
    manifest: &BundleManifest,
    start: &Start,
    (whole, stale): (bool, bool),
) -> (String, Option<MakeAgain>) {
    match (start.starts, start.variable()) {
        (Starts::Nothing, _) if start.closed => {
            (format!("Fix that; the files in {} are as they were made.", quoted(folder)), None)
        }
        (Starts::Nothing, _) if !start.outdated => (nothing_starts(folder, &manifest.path()), None),
        (Starts::Unknown, _) if whole && !stale && start.reason.is_some() => {
            ("Verify it as the user to whom it belongs.".to_owned(), None)
        }
        (Starts::Original, Some(variable)) if !stale => {
            (format!("Set or unset {variable}, as it was when the bundle was made."), None)
        }
        (starts, _) => {
            let stale = stale || start.noticed.is_some() || start.outdated;
            remedy(folder, manifest, (whole, stale, starts))
        }
    }
}

/// The manifest of the `run` that is there, and what is in that.
fn present(folder: &Path) -> Result<(BundleManifest, io::Result<BundleProduct>), BundleError> {
    for _ in 1..TRIES {
        let manifests = Manifests::read(folder)?;
        if let Ok(run) = product::of(&folder.join(RUN))
            && let Some(manifest) = manifests.of(&run)
        {
            return Ok((manifest.clone(), Ok(run)));
        }
    }
    let run = product::of(&folder.join(RUN));
    let manifests = Manifests::read(folder)?;
    let manifest = match &run {
        Ok(run) => manifests.of(run),
        Err(_) => None,
    };
    match manifest.or_else(|| manifests.all().next()) {
        Some(manifest) => Ok((manifest.clone(), run)),
        None => Err(manifest::read_at(&folder.join(MANIFEST)).err().unwrap_or_else(|| {
            BundleError::NotABundle { folder: folder.to_owned(), found: PENDING.to_owned() }
        })),
    }
}

fn of_run(
    folder: &Path,
    manifest: &BundleManifest,
    run: &io::Result<BundleProduct>,
) -> Option<BundleChange> {
    let change = |what, found: String| {
        let path = text(folder.join(RUN));
        Some(BundleChange { path, what, found })
    };
    let run = match run {
        Ok(run) => run,
        Err(error) => {
            return change(unread(error), reasons::unread(&folder.join(RUN), error));
        }
    };
    let Some(made) = &manifest.product else {
        let found = "the headstart that made it did not record its content; make it again in a \
                     new folder";
        return change(ChangeKind::Unreadable, found.to_owned());
    };
    let stripped = match Loadable::open(&folder.join(RUN)) {
        Ok(image) if is_stripped(&image) => STRIPPED,
        _ => "",
    };
    change(ChangeKind::Changed, product::difference(run, made)? + stripped)
}

const STRIPPED: &str = "; it has no symbol table any more, as after strip: headstart cannot \
                        tell it from another file, so strip copies only";

/// Whether strip(1) has taken what it takes, of an image that is a bundle.
fn is_stripped(image: &Loadable) -> bool {
    let has = |name: &str| image.sections().iter().any(|section| section.name == name);
    has(PREAMBLE_SECTION) && !has(".symtab")
}

fn of_spare(folder: &Path, manifest: &BundleManifest) -> Option<BundleChange> {
    let path = folder.join(SPARE);
    let now = match product::of(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        now => now,
    };
    let found = match (&now, &manifest.spare) {
        (Ok(now), Some(made)) => product::difference(now, made)?,
        (Ok(_), None) => "headstart did not leave it".to_owned(),
        (Err(error), _) => reasons::unread(&path, error),
    };
    let path = text(&path);
    Some(BundleChange { path, what: ChangeKind::Unused, found: found + "; it is not used" })
}

/// It may be gone: it is only for a debugger.
fn of_symbols(folder: &Path) -> Option<BundleChange> {
    let path = folder.join(SYMBOLS);
    path.symlink_metadata().ok()?;
    let found = match Content::read(&path) {
        Ok(_) if Manifests::read(folder).is_ok_and(|both| both.symbols_are_right()) => return None,
        Ok(_) => "its content is different".to_owned(),
        Err(error) => reasons::unread(&path, &error),
    };
    let path = text(&path);
    Some(BundleChange { path, what: ChangeKind::Unused, found })
}

/// Why an image is not merged or rewritten where it is a bundle; `None` where it is none.
pub fn is_already(image: &Loadable) -> Option<String> {
    image.sections().iter().find(|section| section.name == PREAMBLE_SECTION)?;
    let of = |looks: Checks| looks.instead.unwrap_or(looks.original).display().to_string();
    let original = looks(image).map(of);
    let original = original.map_or(String::new(), |original| format!(", {original}"));
    Some(format!("it is already a bundle; name the program that it was made from{original}"))
}

/// What the preamble of a bundle looks at; none of an image that is no bundle, or of another version.
pub(crate) fn looks(image: &Loadable) -> Option<Checks> {
    Checks::read(preamble(image)?)
}

/// The preamble of a bundle; none of any other image.
pub(crate) fn preamble(image: &Loadable) -> Option<&[u8]> {
    let preamble = image.sections().into_iter().find(|section| section.name == PREAMBLE_SECTION)?;
    let start = preamble.header.offset.index();
    let end = start.checked_add(usize::try_from(preamble.header.size).ok()?)?;
    image.bytes().get(start..end)
}

/// That of a bundle whose files have changed, or that starts the original.
fn remedy(
    folder: &Path,
    manifest: &BundleManifest,
    (whole, stale, start): (bool, bool, Starts),
) -> (String, Option<MakeAgain>) {
    let program = manifest.path();
    if !program.exists() {
        return (nothing_starts(folder, &program), None);
    }
    let out = quoted(folder);
    if original::is_unsuitable(&program) {
        let program = quoted(&program);
        let remedy = format!("Put the original back in the place of {program}, or remove {out}.");
        return (remedy, None);
    }
    let changed_here = whole && !stale && start != Starts::Unknown;
    if changed_here && !carry::changed(folder, manifest).is_empty() {
        let remedy = format!("Move the folder lib-… in {out} away, and make the bundle again");
        return (remedy, Some(again(manifest, Some(folder.to_owned()))));
    }
    if changed_here {
        return (format!("Remove what was changed in {out}; the bundle itself is right."), None);
    }
    let is_there = folder.join(RUN).symlink_metadata().is_ok();
    let (remedy, folder) = if whole || !is_there {
        ("Make the bundle again", Some(folder.to_owned()))
    } else if manifest.product.is_none() {
        ("Make the bundle again in a new folder", None)
    } else {
        (
            "Repair run if possible; otherwise move it away, and make the bundle again",
            Some(folder.to_owned()),
        )
    };
    (remedy.to_owned(), Some(again(manifest, folder)))
}

fn nothing_starts(folder: &Path, program: &Path) -> String {
    let fix = if program.exists() { "Fix that, or install" } else { "Install" };
    format!("{fix} {} again, or remove {}.", quoted(program), quoted(folder))
}
