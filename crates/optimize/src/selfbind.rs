//! An image's references to its own symbols, without a look-up.
//!
//! A library cannot know whether a program binds a reference to the library's own symbol: another
//! definition may come first. For a program and all its libraries it is known, as the loader is
//! simulated. So the program gets private copies of its libraries, in which what each binds to
//! itself is RELATIVE, and asks for them in the best order. libc and the loader stay outside.

mod convert;
mod copies;
mod effects;
mod library;
mod outside;

pub use convert::Converted;
pub(crate) use copies::{MANIFEST as LIBRARIES, SCHEMA};
pub use outside::Reason;

use crate::draft::Draft;
use crate::link_error::refuse;
use crate::order_needed::{Plan, compare_order, finding, plan, rewrite};
use crate::proof::{self, Changed, Launch};
use crate::{Built, Declined, LinkError, MadeOf, NotBuilt, Optimisation, Program, origin, relr};
use copies::Folder;
use effects::Bindings;
use files::Edited;
use finding::Asking;
use image::elf::Loadable;
use image::elf::edit::Edit;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// What a user wants of the private copies.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Libraries that get no copy, by file name or DT_SONAME.
    pub outside: Vec<String>,
    /// Libraries that get one although they ask for their own path.
    pub private: Vec<String>,
}

/// What became of a program, counted; launches are simulated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelfBound {
    /// The program; `run` in the folder is a link to it.
    pub run: PathBuf,
    /// Libraries that have a private copy now.
    pub private: Vec<PathBuf>,
    /// Where the copies are, in the same order.
    pub copies: Vec<PathBuf>,
    /// Those that have none, and why.
    pub outside: Vec<(PathBuf, Reason)>,
    /// Relocations of the program and the copies together.
    pub converted: Converted,
    /// Look-ups at start, before and now.
    pub lookups_before: u64,
    /// Look-ups now.
    pub lookups_after: u64,
    /// Its libraries, probes and constructors.
    pub ordered: crate::order_needed::Ordered,
}

/// A library with its own symbols bound, and what was counted.
pub struct Library<'a> {
    /// The new file.
    pub edited: Edited<'a>,
    /// Its relocations.
    pub converted: Converted,
}

/// Makes those references of a library RELATIVE that no program can bind elsewhere.
///
/// # Errors
/// It cannot be rewritten, or has no such reference.
pub fn library(image: &Loadable) -> Result<Library<'_>, Declined> {
    library_for(image, None)
}

/// The same for a file in another folder. `origin`: what $ORIGIN stands for where it is now.
///
/// # Errors
/// As [`library`].
pub fn library_for<'a>(
    image: &'a Loadable,
    origin: Option<&Path>,
) -> Result<Library<'a>, Declined> {
    if image.machine != "x86_64" {
        return Err(Declined(other_machine(image)));
    }
    if relr::relocates_itself(image) {
        let reason = "it is a static program that relocates itself: no loader binds its symbols";
        return Err(Declined(reason.to_owned()));
    }
    let declined = |error: image::elf::edit::EditError| Declined(error.to_string());
    let mut edit = Edit::of(image).map_err(declined)?;
    origin::settle_for(&mut edit, image, origin)?;
    let converted =
        convert::own_symbols(&mut edit, image, |relocation| library::bound(image, relocation));
    let converted = converted.map_err(declined)?;
    if converted.symbolic == 0 {
        return Err(Declined("it has no references to symbols that a loader binds".to_owned()));
    }
    if converted.relative == 0 {
        return Err(Declined(format!(
            "each of its {} references to symbols could be bound to another library's definition, \
             or waits for its first call; give a program that uses it instead",
            converted.symbolic
        )));
    }
    Ok(Library { edited: edit.finish().map_err(declined)?.edited, converted })
}

/// Writes a program (`bin/`, a link `run`) and its private libraries (`lib/`) into `folder`, which
/// is empty or does not exist yet and has to stay where it is then. Nothing stays there unless the
/// program, simulated, loads the same modules and every relocation writes what it wrote before.
///
/// # Errors
/// The program cannot be simulated or rewritten, or grants privileges; the folder is not empty.
pub fn program(file: &Path, folder: &Path, choice: &Choice) -> Result<SelfBound, LinkError> {
    // The manifest names it for every working folder.
    let file = &os::program::lasting_path(file).map_err(LinkError::unread(file))?;
    refuse(file)?;
    let before = Launch::of(file)?;
    let image = &before.graph.modules[0].image;
    if image.machine != "x86_64" {
        let reason = other_machine(image);
        return Err(LinkError::NothingToGain { path: file.to_owned(), reason });
    }
    let mut reasons = outside::reasons(&before.graph, &choice.outside, &choice.private);
    let asking = asking(&before, &mut reasons);
    let hits = hits(&before, &reasons);
    // The program alone finds the private copies, so it asks for all: no misses that count.
    let Some(plan) = plan::best(&before.graph, &before.bound, hits, asking, Vec::new(), false)
    else {
        let reason = "it cannot name all its libraries itself without changing which definitions \
             are found first";
        return Err(LinkError::NothingToGain { path: file.to_owned(), reason: reason.to_owned() });
    };
    let folder = Folder::claim(folder, file.file_name().unwrap_or_default())?;
    let work = Work { before, reasons, plan, folder };
    let (draft, converted) = work.write()?;
    let counted = work.prove(draft.path(), converted).map_err(|error| match error {
        Failed::Changed(source) => LinkError::changed(file)(source),
        Failed::Link(error) => error,
    })?;
    draft.publish(&work.folder.program())?;
    work.folder.write_manifest(&work.before.graph, &work.private().collect::<Vec<_>>())?;
    let run = work.folder.keep()?;
    Ok(SelfBound { run, ..counted })
}

fn other_machine(image: &Loadable) -> String {
    format!("it is for {}; only relocations of x86_64 are supported", image.machine)
}

/// A private copy is found by its name, beside the others.
fn asking(before: &Launch, reasons: &mut [Option<Reason>]) -> Vec<Asking> {
    let mut asking = finding::of_all(&before.graph);
    let modules = before.graph.modules.iter().skip(1);
    for ((module, asking), reason) in modules.zip(&mut asking[1..]).zip(&mut reasons[1..]) {
        match (&asking, &module.image.soname) {
            (Asking::Stays, _) => *reason = reason.or(Some(Reason::SearchesForOthers)),
            (_, Some(soname)) if reason.is_none() => *asking = Asking::Named(vec![soname.clone()]),
            _ => {}
        }
    }
    asking
}

/// Look-ups that stay, by the module that answers them.
fn hits(before: &Launch, reasons: &[Option<Reason>]) -> Vec<u64> {
    let all = before.at_start.iter().flat_map(|module| &module.bindings);
    let mut hits = plan::hits(&before.graph, &before.at_start);
    for binding in all.filter(|binding| reasons[binding.from].is_none()) {
        if let Some((to, _)) = binding.to.filter(|&(to, _)| to == binding.from) {
            hits[to] = hits[to].saturating_sub(1);
        }
    }
    hits
}

enum Failed {
    Changed(Changed),
    Link(LinkError),
}

impl From<Changed> for Failed {
    fn from(changed: Changed) -> Failed {
        Failed::Changed(changed)
    }
}

struct Work {
    before: Launch,
    reasons: Vec<Option<Reason>>,
    plan: Plan,
    folder: Folder,
}

impl Work {
    fn write(&self) -> Result<(Draft, Converted), LinkError> {
        let private: Vec<usize> = self.private().collect();
        let converted: Result<Vec<Converted>, LinkError> =
            private.par_iter().map(|&module| self.copy(module)).collect();
        let (draft, of_program) = self.draft(0, &self.folder.program())?;
        let converted = converted?.into_iter().chain([of_program]).sum();
        Ok((draft, converted))
    }

    fn private(&self) -> impl Iterator<Item = usize> + '_ {
        (1..self.reasons.len()).filter(|&module| self.reasons[module].is_none())
    }

    fn copy(&self, module: usize) -> Result<Converted, LinkError> {
        let target = self.folder.copy_of(&self.before.graph.modules[module]);
        let (draft, converted) = self.draft(module, &target)?;
        draft.publish(&target)?;
        Ok(converted)
    }

    /// Writes a module; its relative relocations are packed where that can be.
    fn draft(&self, index: usize, target: &Path) -> Result<(Draft, Converted), LinkError> {
        let original = &self.before.graph.modules[index].path;
        let (edited, converted) = self.edited(index)?;
        let whole = Loadable::from_bytes(&original.to_string_lossy(), edited.to_bytes())?;
        let draft = match relr::pack(&whole) {
            Ok(packed) => Draft::write(&packed.edited, original, target)?,
            // Most have nothing to pack, or no libc that could be asked whether it reads that.
            Err(_) => Draft::write(&edited, original, target)?,
        };
        Ok((draft, converted))
    }

    /// A module with its own symbols bound; the program asks for its libraries as planned too.
    fn edited(&self, index: usize) -> Result<(Edited<'_>, Converted), LinkError> {
        let graph = &self.before.graph;
        let module = &graph.modules[index];
        let failed = LinkError::edit(&module.path);
        let mut edit = Edit::of(&module.image).map_err(&failed)?;
        let bindings = Bindings::of(&self.before, index);
        let bound = |one: &_| bindings.bound(&module.image, index, one);
        let converted = convert::own_symbols(&mut edit, &module.image, bound).map_err(&failed)?;
        let folder = match index {
            0 => finding::folder_of(module),
            _ => module.path.parent().map(Path::to_owned).unwrap_or_default(),
        };
        let declined =
            |Declined(reason)| LinkError::NothingToGain { path: module.path.clone(), reason };
        origin::settle_for(&mut edit, &module.image, Some(&folder)).map_err(declined)?;
        if index == 0 {
            self.folder.search_first(&mut edit, &module.image, &folder);
            rewrite::ask_for(&mut edit, graph, &self.plan, Some(&folder)).map_err(&failed)?;
        }
        Ok((edit.finish().map_err(&failed)?.edited, converted))
    }

    /// Holds the program, as it is written, against the one before.
    fn prove(&self, run: &Path, converted: Converted) -> Result<SelfBound, Failed> {
        let before = &self.before;
        let after = Launch::of(run).map_err(|error| Failed::Link(error.into()))?;
        let modules = &before.graph.modules;
        let copies = self.private().map(|index| (self.folder.copy_of(&modules[index]), index));
        let pairs = proof::pairs(&before.graph, &after.graph, &copies.collect())?;
        (0..pairs.len()).into_par_iter().try_for_each(|index| {
            match self.reasons[pairs[index]] {
                None => effects::same(before, &after, index, &pairs),
                Some(_) => proof::same_bindings(before, &after, index, &pairs),
            }
        })?;
        let path = |index: usize| modules[index].path.clone();
        let outside = self.reasons.iter().enumerate();
        Ok(SelfBound {
            run: run.to_owned(),
            private: self.private().map(path).collect(),
            copies: self.private().map(|index| self.folder.copy_of(&modules[index])).collect(),
            outside: outside.filter_map(|(index, why)| Some((path(index), (*why)?))).collect(),
            converted,
            lookups_before: before.lookups(),
            lookups_after: after.lookups(),
            ordered: compare_order(before, &after, &self.plan, &pairs)?,
        })
    }
}

/// As one of the ways to make a program start faster.
pub struct SelfBindAndOrder;

impl Optimisation for SelfBindAndOrder {
    fn name(&self) -> &'static str {
        "selfbind + order"
    }

    fn keeps_aslr(&self) -> bool {
        true
    }

    fn build(&self, of: &Program, folder: &Path) -> Result<Built, NotBuilt> {
        let bound = program(&of.path, folder, &Choice::default())?;
        let replaced = bound.private.iter().cloned().chain([of.file.clone()]).collect();
        let mut notes: Vec<String> = bound.ordered.note().into_iter().collect();
        notes.push(format!(
            "{} libraries are private copies, and nothing is checked at start: after an upgrade \
             of any of them, the program still uses the copies. `headstart verify DIR` reports \
             this; then make it again.",
            bound.private.len()
        ));
        let stands_for = bound.copies.into_iter().zip(bound.private).collect();
        let (made_of, must_stay) = (MadeOf::Closure, true);
        let run = bound.run;
        Ok(Built { run, replaced, stands_for, made_of, must_stay, notes, ..Built::default() })
    }
}
