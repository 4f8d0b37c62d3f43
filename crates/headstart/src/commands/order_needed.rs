//! `headstart elf order-needed`: a program that asks for its libraries in a better order.

use super::{reordered, rewriting};
use crate::args::RewriteArgs;
use crate::output;
use anyhow::Result;
use model::figures;
use optimize::order_needed::{Ordered, Target, order_needed};
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
    let RewriteArgs { file, out, undo, json: as_json, .. } = &arguments.target;
    if *undo {
        return rewriting::undo(&arguments.target);
    }
    if let Some(out) = out {
        rewriting::stays_with_its_files(file, out)?;
    }
    let target = out.as_deref().map_or(Target::InPlace, Target::New);
    let ordered = order_needed(file, target, arguments.strict_init)?;
    let (written, undo) = match out {
        Some(out) => (out, None),
        None => (file, Some(files::undo_file(&file.canonicalize()?))),
    };
    output::print(&if *as_json {
        json(file, written, undo.as_deref(), &ordered)?
    } else {
        text(written, undo.as_deref(), &ordered)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn json(file: &Path, written: &Path, undo: Option<&Path>, ordered: &Ordered) -> Result<String> {
    let own = serde_json::json!({
        "undo": undo,
        "modules": ordered.modules,
        "asked_before": ordered.asked_before,
        "asked_after": ordered.asked_after,
        "by_path": ordered.by_path.iter().map(model::text::text).collect::<Vec<_>>(),
        "kept_pairs": ordered.pairs,
        "lookups": ordered.lookups,
    });
    reordered::json(file, written, ordered, own)
}

fn text(written: &Path, undo: Option<&Path>, ordered: &Ordered) -> String {
    let count = |value: usize| figures::count(value as u64);
    let mut text = format!(
        "{}: names {} libraries itself, {} before{}\n",
        output::quoted(written),
        count(ordered.asked_after),
        count(ordered.asked_before),
        undo.map(|_| " (--undo restores it)").unwrap_or_default(),
    );
    text += &reordered::text(ordered);
    text += &format!(
        "order     {} pairs of libraries that export a common name stay in order\n",
        count(ordered.pairs)
    );
    for path in &ordered.by_path {
        text += &format!("by path   {} (not found by name from the program)\n", path.display());
    }
    text + &constructors(ordered) + &reordered::place(ordered)
}

/// Which constructors run elsewhere, a line each.
fn constructors(ordered: &Ordered) -> String {
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
