//! What an image says in terms of its own folder ($ORIGIN, ld.so(8)), said for good.

use crate::{Declined, ElfRewriteError};
use image::elf::edit::Edit;
use image::elf::{Loadable, spec};
use loader::graph::Module;
use loader::origin::replaced;
use loader::search::Searcher;
use loader::{Environment, Graph};
use model::text::text;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// What $ORIGIN stands for in the image of `file`, where `target` is in another folder.
pub(crate) fn left_behind(image: &Loadable, file: &Path, target: &Path) -> Option<PathBuf> {
    let real = |folder: Option<&Path>| folder.and_then(|folder| files::real_path(folder).ok());
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // Of a library's path the loader follows no links.
    let file = match image.interpreter {
        Some(_) => files::real_path(file).unwrap_or_else(|_| absolute(file)),
        None => absolute(file),
    };
    let folder = file.parent()?;
    (real(Some(folder)) != real(absolute(target).parent())).then(|| folder.to_owned())
}

/// A program's copy in another folder. Programs may look for their files beside themselves, and
/// nobody can tell from a file whether they do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MovedCopy {
    /// The original.
    pub program: PathBuf,
    /// Its folder.
    pub from: PathBuf,
    /// That of the copy.
    pub to: PathBuf,
    /// How it, or a library that came with it, asks where its own file is, if they do.
    pub asks: Option<&'static str>,
}

impl MovedCopy {
    /// What is to be told of the copy of `file` at `target`. None for one that stays in its folder,
    /// and for a library.
    pub(crate) fn of(
        image: &Loadable,
        graph: Option<&Graph>,
        file: &Path,
        target: &Path,
    ) -> Option<MovedCopy> {
        let from = left_behind(image, file, target).filter(|_| image.interpreter.is_some())?;
        let target = std::path::absolute(target).unwrap_or_else(|_| target.to_owned());
        let own = graph.into_iter().flat_map(|graph| {
            let came_along = came_along(graph);
            graph.modules.iter().skip(1).filter(move |module| came_along(module))
        });
        let own = own.map(|module| &module.image);
        let asks = std::iter::once(image).chain(own).find_map(asks_where_it_is);
        let to = target.parent().unwrap_or(&target).to_owned();
        Some(MovedCopy { program: file.to_owned(), from, to, asks })
    }

    /// The same of a program by its launches, as simulated before and after it was rewritten.
    pub(crate) fn of_launches(before: &Graph, after: &Graph) -> Option<MovedCopy> {
        let program = before.program();
        MovedCopy::of(&program.image, Some(before), &program.path, &after.program().path)
    }
}

/// Declines a copy of a program that belongs in its own folder: it brings a library along that a
/// plain copy at `target` would not find, and asks where its own file is, so it is likely to look
/// for more there.
///
/// # Errors
/// It is such a program.
pub fn refuse_parting(file: &Path, target: &Path) -> Result<(), ElfRewriteError> {
    parted(file, target).map_or(Ok(()), Err)
}

fn parted(file: &Path, target: &Path) -> Option<ElfRewriteError> {
    // What cannot be read is told by who rewrites it.
    let image = Loadable::open(file).ok()?;
    let left = left_behind(&image, file, target).filter(|_| image.interpreter.is_some())?;
    if !names_origin(&image) {
        return None;
    }
    let lost = lost(file, target)?;
    let mut all = std::iter::once(&image).chain(lost.iter().map(|module| &module.image));
    Some(ElfRewriteError::Parted {
        path: file.to_owned(),
        library: lost.first()?.path.file_name()?.into(),
        asks: all.find_map(asks_where_it_is)?,
        beside: beside(&left, file, target)?,
    })
}

fn names_origin(image: &Loadable) -> bool {
    let mut paths = image.rpath.iter().chain(&image.runpath).chain(&image.needed);
    // It is another path in another folder.
    paths.any(|path| replaced(path, "/one") != replaced(path, "/other"))
}

/// Modules of the program that a plain copy of it at `target` would not find, of those that came
/// along: what a missing library needs is not even looked for there.
fn lost(file: &Path, target: &Path) -> Option<Vec<Module>> {
    let environment = Environment::own();
    let here = loader::load(file, &environment).ok()?;
    let target = std::path::absolute(target).ok()?;
    let there = loader::load_in(target.parent()?, file, &environment).ok()?;
    // Another file of that name came along there, where the whole tree was copied.
    let found: HashSet<_> = there.modules.iter().map(|module| module.path.file_name()).collect();
    let came_along = came_along(&here);
    let lost = |module: &Module| !found.contains(&module.path.file_name()) && came_along(module);
    Some(here.modules.into_iter().filter(lost).collect())
}

/// Whether a library of the program is one that no other program would find.
fn came_along(graph: &Graph) -> impl Fn(&Module) -> bool + use<> {
    let program = graph.modules.first();
    let searcher = program.and_then(|it| Searcher::new(&it.image.machine, None).ok());
    move |module| {
        let Some(searcher) = &searcher else { return false };
        let name = module.path.file_name().unwrap_or_default();
        let cached = searcher.cached(name).into_iter();
        let mut others = cached.chain(searcher.default_folders().map(|folder| folder.join(name)));
        let own = files::real_path(&module.path).ok();
        !others.any(|other| own.is_some() && files::real_path(&other).ok() == own)
    }
}

/// A free name in the folder that is left, that of `target` if possible.
fn beside(left: &Path, file: &Path, target: &Path) -> Option<PathBuf> {
    let own = file.file_name()?;
    let changed = |number: usize| {
        let mut name = own.to_owned();
        name.push(if number == 1 { "-changed".to_owned() } else { format!("-changed-{number}") });
        name
    };
    let names = std::iter::once(target.file_name()?.to_owned()).chain((1..).map(changed));
    let mut paths = names.map(|name| left.join(name));
    paths.find(|path| path.symlink_metadata().is_err())
}

/// How an image asks for the program's path or its own, as far as its file shows it.
fn asks_where_it_is(image: &Loadable) -> Option<&'static str> {
    const OWN: &[u8] = b"/proc/self/exe";
    let mut constants = image.segments().iter().filter(|part| part.loads());
    if constants.any(|part| image.segment_bytes(part).windows(OWN.len()).any(|text| text == OWN)) {
        return Some("/proc/self/exe");
    }
    image.refers_to(&[b"dladdr", b"dladdr1"]).then_some("dladdr")
}

/// As [`settle`], where the file will be in another folder than `folder`.
///
/// # Errors
/// No search path can name the folder.
pub(crate) fn settle_for(
    edit: &mut Edit<'_>,
    image: &Loadable,
    folder: Option<&Path>,
) -> Result<(), Declined> {
    let Some(folder) = folder else { return Ok(()) };
    match (settle(edit, image, folder), cannot_be_named(folder)) {
        (true, Some(reason)) => {
            Err(Declined(format!("it looks for libraries in $ORIGIN: {reason}")))
        }
        _ => Ok(()),
    }
}

/// Why a search path cannot name this folder: its parts end at colons, and tokens are replaced.
pub(crate) fn cannot_be_named(folder: &Path) -> Option<String> {
    let found = folder.as_os_str().as_encoded_bytes().iter().find(|byte| b":$".contains(byte))?;
    Some(format!(
        "the path of the folder {} has a '{}' in it, which a search path (DT_RUNPATH) cannot \
         express; use a folder without it, or write the copy beside the original",
        folder.display(),
        char::from(*found)
    ))
}

/// Makes `edit` name the folders and libraries that it names now, wherever the new file will be.
/// `folder`: what $ORIGIN stands for now. Gives whether anything had to change.
fn settle(edit: &mut Edit<'_>, image: &Loadable, folder: &Path) -> bool {
    let folder = text(folder);
    let mut changed = false;
    for (tag, text) in [(spec::DT_RPATH, &image.rpath), (spec::DT_RUNPATH, &image.runpath)] {
        let Some(text) = text else { continue };
        let settled = replaced(text, &folder);
        if settled != *text {
            let at = edit.add_name(&settled);
            edit.set_value(tag, at);
            changed = true;
        }
    }
    let mut entries = edit.dynamic().to_vec();
    let needs = entries.iter_mut().filter(|entry| entry.tag == spec::DT_NEEDED);
    for (entry, name) in needs.zip(&image.needed) {
        let settled = replaced(name, &folder);
        if settled != *name {
            entry.value = edit.add_name(&settled);
            changed = true;
        }
    }
    edit.set_dynamic(entries);
    changed
}
