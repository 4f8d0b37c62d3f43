//! A program that asks for all its libraries itself, those first that answer many look-ups.
//!
//! The loader asks modules in the order of their loading, which is breadth first along
//! DT_NEEDED. Where the program names them all, that order is the program's to choose. What two
//! modules both export keeps them in order, so no reference binds to another definition.

mod choose;
mod constructors;
mod exports;
pub(crate) mod finding;
pub(crate) mod plan;
mod precedence;
pub(crate) mod rewrite;

pub(crate) use plan::Plan;

use crate::draft::Draft;
use crate::link_error::refuse;
use crate::proof::{self, Changed, Launch};
use crate::{Built, Declined, LinkError, MadeOf, NotBuilt, Optimisation, Program, origin};
use files::Edited;
use image::elf::edit::Edit;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What became of a program's libraries, counted; everything is simulated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ordered {
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
    /// What a user should know of the new program's folder, where that is another one.
    pub place: Option<String>,
}

/// Where a program is written to.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A new file.
    New(&'a Path),
    /// Its own place; what was there can be restored (`files`).
    InPlace,
}

/// Makes `program` ask for its libraries in a better order. With `strict_init` constructors run
/// in the order in which they do now. Nothing is written unless the new program, simulated, loads
/// the same files, binds every reference as before and takes fewer probes.
///
/// # Errors
/// It cannot be simulated, rewritten or written, grants privileges, or no order is better.
pub fn order_needed(
    program: &Path,
    target: Target<'_>,
    strict_init: bool,
) -> Result<Ordered, LinkError> {
    refuse(program)?;
    let path = match target {
        Target::New(path) => path.to_owned(),
        Target::InPlace => {
            files::may_be_replaced(program)?;
            program.canonicalize().map_err(LinkError::unread(program))?
        }
    };
    let before = Launch::of(program)?;
    let hits = plan::hits(&before.graph, &before.at_start);
    let asking = finding::of_all(&before.graph);
    let misses = finding::avoidable_misses(&before.graph, &asking);
    let plan = plan::best(&before.graph, &before.bound, hits, asking, misses, strict_init);
    let Some(plan) = plan.filter(|plan| plan.probes < plan.probes_now) else {
        return Err(nothing_to_gain(program, &before, strict_init));
    };
    let edited = edited(&before, &plan, &path)?;
    let draft = Draft::write(&edited, &before.graph.modules[0].path, &path)?;
    let after = Launch::of(draft.path())?;
    let counted = compare(&before, &after, &plan).map_err(LinkError::changed(program))?;
    let better = counted.probes_after < counted.probes_before;
    if !better || (strict_init && !counted.constructors_moved.is_empty()) {
        return Err(nothing_to_gain(program, &before, strict_init));
    }
    match target {
        Target::New(path) => drop(draft.publish(path)?),
        Target::InPlace => drop(files::in_place(program, &edited)?),
    }
    Ok(counted)
}

fn nothing_to_gain(program: &Path, before: &Launch, strict: bool) -> LinkError {
    let libraries = before.graph.modules.len().saturating_sub(1);
    let keeping = if strict { " that keeps the order of constructors" } else { "" };
    let reason = format!(
        "no order of its {libraries} libraries{keeping} needs fewer probes than the present one \
         ({})",
        before.probes()
    );
    LinkError::NothingToGain { path: program.to_owned(), reason }
}

fn edited<'a>(before: &'a Launch, plan: &Plan, target: &Path) -> Result<Edited<'a>, LinkError> {
    let program = &before.graph.modules[0];
    let failed = LinkError::edit(&program.path);
    let mut edit = Edit::of(&program.image).map_err(&failed)?;
    let left = origin::left_behind(&program.image, &program.path, target);
    let folder = left.as_deref();
    let declined =
        |Declined(reason)| LinkError::NothingToGain { path: program.path.clone(), reason };
    origin::settle_for(&mut edit, &program.image, folder).map_err(declined)?;
    rewrite::ask_for(&mut edit, &before.graph, plan, folder).map_err(&failed)?;
    Ok(edit.finish().map_err(&failed)?.edited)
}

/// Holds the rewritten program against the one before.
fn compare(before: &Launch, after: &Launch, plan: &Plan) -> Result<Ordered, Changed> {
    let pairs = proof::pairs(&before.graph, &after.graph, &HashMap::new())?;
    for index in 0..pairs.len() {
        proof::same_bindings(before, after, index, &pairs)?;
    }
    compare_order(before, after, plan, &pairs)
}

/// Compares all but bindings. `pairs`: for each module of `after` the one before.
pub(crate) fn compare_order(
    before: &Launch,
    after: &Launch,
    plan: &Plan,
    pairs: &[usize],
) -> Result<Ordered, Changed> {
    if pairs != plan.order {
        return Err(Changed(
            "its libraries would be loaded in a different order than \
             planned"
                .into(),
        ));
    }
    proof::versions_have_files(&after.graph)?;
    let old = constructors::of(&before.graph);
    let new: Vec<usize> =
        constructors::of(&after.graph).into_iter().map(|module| pairs[module]).collect();
    let path = |&module: &usize| before.graph.modules[module].path.clone();
    let program = &before.graph.modules[0];
    Ok(Ordered {
        modules: pairs.len(),
        asked_before: before.graph.modules[0].image.needed.len(),
        asked_after: after.graph.modules[0].image.needed.len(),
        by_path: plan.by_path.iter().map(path).collect(),
        pairs: plan.pairs,
        lookups: after.lookups(),
        probes_before: before.probes(),
        probes_after: after.probes(),
        bindings: before.bound.iter().map(|module| module.bindings.len()).sum(),
        constructors: old.len(),
        constructors_moved: constructors::moved(&old, &new).iter().map(path).collect(),
        place: origin::note(
            &program.image,
            Some(&before.graph),
            &program.path,
            &after.graph.modules[0].path,
        ),
    })
}

/// As one of the ways to make a program start faster.
pub struct Order;

impl Optimisation for Order {
    fn name(&self) -> &'static str {
        "order"
    }

    fn keeps_aslr(&self) -> bool {
        true
    }

    fn build(&self, program: &Program, folder: &Path) -> Result<Built, NotBuilt> {
        let run = folder.join(program.path.file_name().unwrap_or_default());
        let counted = order_needed(&program.file, Target::New(&run), false)?;
        let mut notes: Vec<String> = counted.note().into_iter().collect();
        notes.push(
            "The program is a copy, and its order was verified with the present libraries. \
             Nothing is checked at start: after an upgrade of any of them, `headstart verify DIR` \
             reports this; then make it again."
                .to_owned(),
        );
        let (replaced, made_of) = (vec![program.file.clone()], MadeOf::Closure);
        Ok(Built { run, replaced, made_of, notes, ..Built::default() })
    }
}

impl Ordered {
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
