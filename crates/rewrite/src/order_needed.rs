//! A program that asks for all its libraries itself, those first that answer many look-ups.
//!
//! The loader asks modules in the order of their loading, which is breadth first along
//! DT_NEEDED. Where the program names them all, that order is the program's to choose. What two
//! modules both export keeps them in order, so no reference binds to another definition.

mod choose;
mod common_names;
mod constructors;
pub(crate) mod entries;
pub(crate) mod listing;
pub(crate) mod plan;
mod precedence;

pub(crate) use plan::OrderPlan;

use crate::error::refuse;
use crate::origin::{self, MovedCopy};
use crate::same_launch::{self, LaunchChanged, SimulatedLaunch};
use crate::unpublished::UnpublishedFile;
use crate::{ElfRewriteError, WriteTo, WrittenImage};
use files::Edited;
use image::elf::edit::Edit;
use model::ModuleId;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What became of a program's libraries, counted; everything is simulated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LibraryOrder {
    /// Modules of the program, itself included.
    pub modules: usize,
    /// Libraries that the program asked for itself.
    pub asked_before: usize,
    /// Libraries that it asks for now.
    pub asked_after: usize,
    /// Those that it asks for by path, as its own search does not find them by name.
    pub by_path: Vec<PathBuf>,
    /// Pairs of libraries that kept their order because both export a name.
    pub pairs: usize,
    /// Look-ups at start.
    pub lookups: u64,
    /// Modules that these asked before.
    pub probes_before: u64,
    /// And now.
    pub probes_after: u64,
    /// Bindings that were compared, and are the same.
    pub bindings: usize,
    /// Libraries with constructors or destructors.
    pub constructors: usize,
    /// As few of them as possible that, put elsewhere, give the new order of constructors.
    pub constructors_moved: Vec<PathBuf>,
}

/// Makes `program` ask for its libraries in a better order. With `strict_init` constructors run
/// in the order in which they do now. Nothing is written unless the new program, simulated, loads
/// the same files, binds every reference as before and takes fewer probes.
///
/// # Errors
/// It cannot be simulated, rewritten or written, grants privileges, or no order is better.
pub fn order_needed(
    program: &Path,
    target: WriteTo<'_>,
    strict_init: bool,
) -> Result<WrittenImage<LibraryOrder>, ElfRewriteError> {
    refuse(program)?;
    let path = match target {
        WriteTo::New(path) => path.to_owned(),
        WriteTo::InPlace => {
            files::may_be_replaced(program)?;
            files::real_path(program).map_err(ElfRewriteError::unread(program))?
        }
    };
    let before = SimulatedLaunch::of(program)?;
    let hits = plan::hits(&before.graph, &before.at_start);
    let listings = listing::of_modules(&before.graph);
    let misses = listing::avoidable_misses(&before.graph, &listings);
    let plan = plan::best(&before.graph, &before.bound, hits, listings, misses, strict_init);
    let Some(plan) = plan.filter(|plan| plan.probes < plan.probes_now) else {
        return Err(nothing_to_gain(program, &before, strict_init));
    };
    let edited = edited(&before, &plan, &path)?;
    let draft = UnpublishedFile::write(&edited, &before.graph.program().path, &path)?;
    let after = SimulatedLaunch::of(draft.path())?;
    let counted = compare(&before, &after, &plan).map_err(ElfRewriteError::changed(program))?;
    let better = counted.probes_after < counted.probes_before;
    if !better || (strict_init && !counted.constructors_moved.is_empty()) {
        return Err(nothing_to_gain(program, &before, strict_init));
    }
    let undo = match target {
        WriteTo::New(_) => {
            draft.publish()?;
            None
        }
        WriteTo::InPlace => Some(files::in_place(program, &edited)?),
    };
    let moved = MovedCopy::of_launches(&before.graph, &after.graph);
    Ok(WrittenImage { counts: counted, notes: Vec::new(), moved, undo })
}

fn nothing_to_gain(program: &Path, before: &SimulatedLaunch, strict: bool) -> ElfRewriteError {
    let libraries = before.graph.modules.len().saturating_sub(1);
    let keeping = if strict { " that keeps the order of constructors" } else { "" };
    let reason = format!(
        "no order of its {libraries} libraries{keeping} needs fewer probes than the present one \
         ({})",
        before.probes()
    );
    ElfRewriteError::NothingToGain { path: program.to_owned(), reason }
}

fn edited<'a>(
    before: &'a SimulatedLaunch,
    plan: &OrderPlan,
    target: &Path,
) -> Result<Edited<'a>, ElfRewriteError> {
    let program = before.graph.program();
    let failed = ElfRewriteError::edit(&program.path);
    let mut edit = Edit::of(&program.image).map_err(&failed)?;
    let left = origin::left_behind(&program.image, &program.path, target);
    let folder = left.as_deref();
    let nothing = ElfRewriteError::nothing_to_gain(&program.path);
    origin::settle_for(&mut edit, &program.image, folder).map_err(nothing)?;
    entries::ask_for(&mut edit, &before.graph, plan, folder).map_err(&failed)?;
    Ok(edit.finish().map_err(&failed)?.edited)
}

/// Holds the rewritten program against the one before.
fn compare(
    before: &SimulatedLaunch,
    after: &SimulatedLaunch,
    plan: &OrderPlan,
) -> Result<LibraryOrder, LaunchChanged> {
    let pairs = same_launch::pairs(&before.graph, &after.graph, &HashMap::new())?;
    for (module, _) in after.graph.numbered() {
        same_launch::same_bindings(before, after, module, &pairs)?;
    }
    compare_order(before, after, plan, &pairs)
}

/// Compares all but bindings. `pairs`: for each module of `after` the one before.
pub(crate) fn compare_order(
    before: &SimulatedLaunch,
    after: &SimulatedLaunch,
    plan: &OrderPlan,
    pairs: &[ModuleId],
) -> Result<LibraryOrder, LaunchChanged> {
    if pairs != plan.order {
        return Err(LaunchChanged(
            "its libraries would be loaded in a different order than \
             planned"
                .into(),
        ));
    }
    same_launch::versions_have_files(&after.graph)?;
    let old = constructors::of(&before.graph);
    let new = constructors::of(&after.graph).into_iter();
    let new: Vec<ModuleId> = new.map(|module| pairs[module.index()]).collect();
    let path = |&module: &ModuleId| before.graph[module].path.clone();
    Ok(LibraryOrder {
        modules: pairs.len(),
        asked_before: before.graph.program().image.needed.len(),
        asked_after: after.graph.program().image.needed.len(),
        by_path: plan.by_path.iter().map(path).collect(),
        pairs: plan.pairs,
        lookups: after.lookups(),
        probes_before: before.probes(),
        probes_after: after.probes(),
        bindings: before.bound.iter().map(|module| module.bindings.len()).sum(),
        constructors: old.len(),
        constructors_moved: constructors::moved(&old, &new).iter().map(path).collect(),
    })
}

impl LibraryOrder {
    /// What of the order of constructors has changed, in a sentence.
    pub fn note(&self) -> Option<String> {
        let names = self.constructors_moved.iter().take(3);
        let names = names.filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
        let names: Vec<String> = names.collect();
        let (moved, all) = (self.constructors_moved.len(), self.constructors);
        let more = if moved > names.len() { " …" } else { "" };
        let text = format!(
            "Constructors of {moved} of {all} libraries run earlier or later than before ({}{more}).",
            names.join(", ")
        );
        (moved > 0).then_some(text)
    }
}
