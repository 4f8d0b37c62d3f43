//! A program with private copies of its libraries.

use super::convert::{self, ConvertedRelocations};
use super::folder::Folder;
use super::same_words::{self, Bindings};
use super::without_copy::{self, OutsideReason};
use crate::error::refuse;
use crate::order_needed::listing::Listing;
use crate::order_needed::{LibraryOrder, OrderPlan, compare_order, entries, listing, plan};
use crate::origin::{self, MovedCopy};
use crate::same_launch::{self, LaunchChanged, SimulatedLaunch};
use crate::unpublished::UnpublishedFile;
use crate::{Declined, ElfRewriteError, relr};
use files::Edited;
use image::elf::Loadable;
use image::elf::edit::Edit;
use model::ModuleId;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// What a user wants of the private copies.
#[derive(Clone, Debug, Default)]
pub struct LibraryChoice {
    /// Libraries that get no copy, by file name or DT_SONAME.
    pub outside: Vec<String>,
    /// Libraries that get one although they ask for their own path.
    pub private: Vec<String>,
}

/// What became of a program, counted; launches are simulated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrivateCopies {
    /// The program; `run` in the folder is a link to it.
    pub run: PathBuf,
    /// Libraries that have a private copy now.
    pub private: Vec<PathBuf>,
    /// Where the copies are, in the same order.
    pub copies: Vec<PathBuf>,
    /// Those that have none, and why.
    pub outside: Vec<(PathBuf, OutsideReason)>,
    /// Relocations of the program and the copies together.
    pub converted: ConvertedRelocations,
    /// Look-ups at start, before and now.
    pub lookups_before: u64,
    /// Look-ups now.
    pub lookups_after: u64,
    /// Its libraries, probes and constructors.
    pub ordered: LibraryOrder,
    /// Where the program's copy is, if not beside the original.
    pub moved: Option<MovedCopy>,
}

/// Writes a program (`bin/`, a link `run`) and its private libraries (`lib/`) into `folder`, which
/// is empty or does not exist yet and has to stay where it is then. Nothing stays there unless the
/// program, simulated, loads the same modules and every relocation writes what it wrote before.
///
/// # Errors
/// The program cannot be simulated or rewritten, or grants privileges; the folder is not empty.
pub fn program(
    file: &Path,
    folder: &Path,
    choice: &LibraryChoice,
) -> Result<PrivateCopies, ElfRewriteError> {
    // The manifest names it for every working folder.
    let file = &os::program::lasting_path(file).map_err(ElfRewriteError::unread(file))?;
    refuse(file)?;
    let before = SimulatedLaunch::of(file)?;
    Declined::other_machine(&before.graph.program().image)
        .map_err(ElfRewriteError::nothing_to_gain(file))?;
    let mut reasons = without_copy::reasons(&before.graph, &choice.outside, &choice.private);
    let listings = listings(&before, &mut reasons);
    let hits = hits(&before, &reasons);
    // The program alone finds the private copies, so it asks for all: no misses that count.
    let misses = vec![0; listings.len()];
    let Some(plan) = plan::best(&before.graph, &before.bound, hits, listings, misses, false) else {
        let reason = "it cannot name all its libraries itself without changing which definitions \
             are found first";
        return Err(ElfRewriteError::nothing_to_gain(file)(Declined(reason.to_owned())));
    };
    let folder = Folder::claim(folder, file.file_name().unwrap_or_default())?;
    let work = Copying { before, reasons, plan, folder };
    let (draft, converted) = work.write()?;
    let after = SimulatedLaunch::of(draft.path())?;
    let counted = work.prove(&after, converted).map_err(ElfRewriteError::changed(file))?;
    draft.publish()?;
    work.folder.write_manifest(&work.before.graph, &work.private().collect::<Vec<_>>())?;
    work.folder.keep()?;
    Ok(counted)
}

/// A private copy is found by its name, beside the others.
fn listings(before: &SimulatedLaunch, reasons: &mut [Option<OutsideReason>]) -> Vec<Listing> {
    let mut listings = listing::of_modules(&before.graph);
    let modules = before.graph.modules.iter().skip(1);
    for ((module, listing), reason) in modules.zip(&mut listings[1..]).zip(&mut reasons[1..]) {
        match (&listing, &module.image.soname) {
            (Listing::NotListed, _) => *reason = reason.or(Some(OutsideReason::SearchesForOthers)),
            (_, Some(soname)) if reason.is_none() => {
                *listing = Listing::ByName(vec![soname.clone()])
            }
            _ => {}
        }
    }
    listings
}

/// Look-ups that stay, by the module that answers them.
fn hits(before: &SimulatedLaunch, reasons: &[Option<OutsideReason>]) -> Vec<u64> {
    let all = before.at_start.iter().flat_map(|module| &module.bindings);
    let mut hits = plan::hits(&before.graph, &before.at_start);
    for binding in all {
        let from = binding.from.module;
        let own = binding.to.is_some_and(|to| to.module == from);
        if own && reasons[from.index()].is_none() {
            hits[from.index()] = hits[from.index()].saturating_sub(1);
        }
    }
    hits
}

struct Copying {
    before: SimulatedLaunch,
    reasons: Vec<Option<OutsideReason>>,
    plan: OrderPlan,
    folder: Folder,
}

impl Copying {
    fn write(&self) -> Result<(UnpublishedFile, ConvertedRelocations), ElfRewriteError> {
        let private: Vec<ModuleId> = self.private().collect();
        let converted: Result<Vec<ConvertedRelocations>, ElfRewriteError> =
            private.par_iter().map(|&module| self.copy(module)).collect();
        let (draft, of_program) = self.draft(ModuleId::PROGRAM, &self.folder.program())?;
        let converted = converted?.into_iter().chain([of_program]).sum();
        Ok((draft, converted))
    }

    /// Libraries that get a copy.
    fn private(&self) -> impl Iterator<Item = ModuleId> + '_ {
        let libraries = self.before.graph.numbered().map(|(id, _)| id).skip(1);
        libraries.filter(|id| self.reasons[id.index()].is_none())
    }

    fn copy(&self, module: ModuleId) -> Result<ConvertedRelocations, ElfRewriteError> {
        let target = self.folder.copy_of(&self.before.graph[module]);
        let (draft, converted) = self.draft(module, &target)?;
        draft.publish()?;
        Ok(converted)
    }

    /// Writes a module; its relative relocations are packed where that can be.
    fn draft(
        &self,
        module: ModuleId,
        target: &Path,
    ) -> Result<(UnpublishedFile, ConvertedRelocations), ElfRewriteError> {
        let original = &self.before.graph[module].path;
        let (edited, converted) = self.edited(module)?;
        let whole = Loadable::from_bytes(&original.to_string_lossy(), edited.to_bytes())?;
        let draft = match relr::pack(&whole, None) {
            Ok(packed) => UnpublishedFile::write(&packed.edited, original, target)?,
            // Most have nothing to pack, or no libc that could be asked whether it reads that.
            Err(_) => UnpublishedFile::write(&edited, original, target)?,
        };
        Ok((draft, converted))
    }

    /// A module with its own symbols bound; the program asks for its libraries as planned too.
    fn edited(&self, id: ModuleId) -> Result<(Edited<'_>, ConvertedRelocations), ElfRewriteError> {
        let graph = &self.before.graph;
        let module = &graph[id];
        let failed = ElfRewriteError::edit(&module.path);
        let mut edit = Edit::of(&module.image).map_err(&failed)?;
        let bindings = Bindings::of(&self.before, id);
        let bound = |one: &_| bindings.bound(&module.image, id, one);
        let converted = convert::own_symbols(&mut edit, &module.image, bound).map_err(&failed)?;
        let nothing = ElfRewriteError::nothing_to_gain(&module.path);
        origin::settle_for(&mut edit, &module.image, Some(&module.origin)).map_err(nothing)?;
        if id == ModuleId::PROGRAM {
            self.folder.search_first(&mut edit, module);
            entries::ask_for(&mut edit, graph, &self.plan, Some(&module.origin))
                .map_err(&failed)?;
        }
        Ok((edit.finish().map_err(&failed)?.edited, converted))
    }

    /// Holds the program, as it is written, against the one before.
    fn prove(
        &self,
        after: &SimulatedLaunch,
        converted: ConvertedRelocations,
    ) -> Result<PrivateCopies, LaunchChanged> {
        let before = &self.before;
        let copy_of = |module: ModuleId| self.folder.copy_of(&before.graph[module]);
        let copies = self.private().map(|module| (copy_of(module), module));
        let pairs = same_launch::pairs(&before.graph, &after.graph, &copies.collect())?;
        pairs.par_iter().enumerate().try_for_each(|(index, original)| {
            let module = ModuleId::at(index);
            match self.reasons[original.index()] {
                None => same_words::same(before, after, module, &pairs),
                Some(_) => same_launch::same_bindings(before, after, module, &pairs),
            }
        })?;
        let path = |module: ModuleId| before.graph[module].path.clone();
        let outside = before.graph.numbered().zip(&self.reasons);
        Ok(PrivateCopies {
            run: self.folder.program(),
            private: self.private().map(path).collect(),
            copies: self.private().map(copy_of).collect(),
            outside: outside.filter_map(|((id, _), why)| Some((path(id), (*why)?))).collect(),
            converted,
            lookups_before: before.lookups(),
            lookups_after: after.lookups(),
            ordered: compare_order(before, after, &self.plan, &pairs)?,
            moved: MovedCopy::of_launches(&before.graph, &after.graph),
        })
    }
}
