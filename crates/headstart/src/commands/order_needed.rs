//! `headstart order-needed`: a program that asks for its libraries in a better order.

use crate::exit::Usage;
use crate::output;
use anyhow::Result;
use model::figures;
use optimize::order_needed::{Ordered, order_needed};
use std::path::PathBuf;
use std::process::ExitCode;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// Make a program ask for its libraries in the order in which symbols are found soonest
///
/// The copy names all libraries that the program comes to need, those first that answer many
/// look-ups. Libraries that export a common name keep their order, so that every reference binds
/// as before: the copy is simulated and compared before it gets its name.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// A program, by path or along PATH
    file: String,
    /// File to write
    #[arg(long, value_name = "PATH")]
    out: PathBuf,
    /// Keep the order in which libraries are initialised
    #[arg(long)]
    strict_init: bool,
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// Writes the copy and says what changed.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let command = os::program::resolve(std::slice::from_ref(&arguments.file))?;
    if arguments.out.is_dir() {
        let out = arguments.out.display();
        return Err(Usage(format!("{out} is a folder; name the file to write in it")).into());
    }
    let ordered = order_needed(&command.program, &arguments.out, arguments.strict_init)?;
    output::print(&if arguments.json {
        json(arguments, &ordered)?
    } else {
        text(arguments, &ordered)
    })?;
    Ok(ExitCode::SUCCESS)
}

fn json(arguments: &Arguments, ordered: &Ordered) -> Result<String> {
    let value = serde_json::json!({
        "schema": SCHEMA,
        "program": arguments.file,
        "out": arguments.out,
        "modules": ordered.modules,
        "asked_before": ordered.asked_before,
        "asked_after": ordered.asked_after,
        "by_path": ordered.by_path,
        "kept_pairs": ordered.pairs,
        "lookups": ordered.lookups,
        "probes_before": ordered.probes_before,
        "probes_after": ordered.probes_after,
        "bindings": ordered.bindings,
        "bindings_changed": 0,
        "constructors": ordered.constructors,
        "constructors_moved": ordered.constructors_moved,
    });
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

fn text(arguments: &Arguments, ordered: &Ordered) -> String {
    let count = |value: usize| figures::count(value as u64);
    let mut text = format!(
        "{}: asks for {} libraries itself, {} before\n\
         probes    {} → {} ({:.2})\n\
         bindings  {} compared, 0 changed\n",
        output::quoted(&arguments.out),
        count(ordered.asked_after),
        count(ordered.asked_before),
        figures::count(ordered.probes_before),
        figures::count(ordered.probes_after),
        ordered.probes_after as f64 / ordered.probes_before.max(1) as f64,
        count(ordered.bindings),
    );
    text += &format!(
        "order     {} pairs of libraries that export a common name stay in order\n",
        count(ordered.pairs)
    );
    for path in &ordered.by_path {
        text += &format!("by path   {} (not found by name from the program)\n", path.display());
    }
    text + &constructors(ordered)
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
