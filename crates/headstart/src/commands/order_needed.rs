//! `headstart elf order-needed`: a program that asks for its libraries in a better order.

use crate::args::RewriteArgs;
use crate::{output, rewritten_elf};
use anyhow::Result;
use model::figures;
use rewrite::WrittenImage;
use rewrite::order_needed::{LibraryOrder, order_needed};
use std::path::Path;
use std::process::ExitCode;

/// List a program's libraries in the order in which symbols are found soonest
///
/// The copy lists all libraries that are loaded with the program, those that answer the most
/// look-ups first. Libraries that export the same name keep their order, so that every reference
/// binds as before; the copy is simulated and compared before it is written.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    target: RewriteArgs,
    /// Keep the order in which libraries are initialized
    #[arg(long)]
    strict_init: bool,
}

/// Writes the program and says what changed.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let target = &arguments.target;
    let RewriteArgs { file, out, .. } = target;
    if target.undo {
        return rewritten_elf::restore(target);
    }
    if let Some(out) = out {
        rewrite::refuse_parting(file, out)?;
    }
    let written = order_needed(file, target.target(), arguments.strict_init)?;
    let path = out.as_ref().unwrap_or(file);
    output::print(&if target.json { json(file, path, &written)? } else { text(path, &written) })?;
    Ok(ExitCode::SUCCESS)
}

fn json(file: &Path, path: &Path, written: &WrittenImage<LibraryOrder>) -> Result<String> {
    let ordered = &written.counts;
    let mut details = serde_json::json!({
        "undo": written.undo.as_ref().map(model::text::text),
        "modules": ordered.modules,
        "asked_before": ordered.asked_before,
        "asked_after": ordered.asked_after,
        "by_path": ordered.by_path.iter().map(model::text::text).collect::<Vec<_>>(),
        "kept_pairs": ordered.pairs,
        "lookups": ordered.lookups,
    });
    rewritten_elf::add_order(&mut details, ordered);
    rewritten_elf::json(file, path, &rewritten_elf::all_notes(written), details)
}

fn text(path: &Path, written: &WrittenImage<LibraryOrder>) -> String {
    let ordered = &written.counts;
    let count = |value: usize| figures::count(value as u64);
    let mut text = format!(
        "{}: names {} libraries itself, {} before{}\n",
        output::quoted(path),
        count(ordered.asked_after),
        count(ordered.asked_before),
        rewritten_elf::undo(written.undo.as_deref()),
    );
    text += &rewritten_elf::order(ordered);
    text += &format!(
        "order     {} pairs of libraries that export a common name stay in order\n",
        count(ordered.pairs)
    );
    for path in &ordered.by_path {
        text += &format!("by path   {} (not found by name from the program)\n", path.display());
    }
    text + &constructors(ordered) + &rewritten_elf::notes(&rewritten_elf::all_notes(written))
}

/// Which constructors run elsewhere, a line each.
fn constructors(ordered: &LibraryOrder) -> String {
    let (moved, all) = (ordered.constructors_moved.len(), ordered.constructors);
    if moved == 0 {
        return format!("constructors of {all} libraries run in the same order\n");
    }
    let mut text = format!(
        "constructors of {moved} of {all} libraries run earlier or later (--strict-init keeps \
         them):\n"
    );
    for path in &ordered.constructors_moved {
        text += &format!("  {}\n", path.display());
    }
    text
}
