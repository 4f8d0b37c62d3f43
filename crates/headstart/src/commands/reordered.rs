//! What the commands say alike that make a program ask for its libraries in another order.

use anyhow::Result;
use model::figures;
use model::text::text as text_of;
use optimize::order_needed::Ordered;
use serde_json::{Value, json};
use std::path::Path;

/// Version of what `--json` prints.
const SCHEMA: u32 = 1;

/// The JSON object of what became of `file`; `more` is an object with what one command alone says.
pub fn json(file: &Path, written: &Path, ordered: &Ordered, more: Value) -> Result<String> {
    let mut all = more;
    all["schema"] = SCHEMA.into();
    all["file"] = json!(text_of(file));
    all["written"] = json!(text_of(written));
    all["probes_before"] = ordered.probes_before.into();
    all["probes_after"] = ordered.probes_after.into();
    all["bindings"] = ordered.bindings.into();
    all["bindings_changed"] = 0.into();
    all["notes"] = json!(ordered.place.as_slice());
    all["constructors"] = ordered.constructors.into();
    all["constructors_moved"] =
        json!(ordered.constructors_moved.iter().map(text_of).collect::<Vec<_>>());
    Ok(report::export::json(&all)?)
}

/// The lines about probes and bindings.
pub fn text(ordered: &Ordered) -> String {
    format!(
        "probes    {} → {} ({:.2})\n\
         bindings  {} compared, 0 changed\n",
        figures::count(ordered.probes_before),
        figures::count(ordered.probes_after),
        ordered.probes_after as f64 / ordered.probes_before.max(1) as f64,
        figures::count(ordered.bindings as u64),
    )
}

/// What is to be known of the program's new place.
pub fn place(ordered: &Ordered) -> String {
    ordered.place.as_ref().map_or(String::new(), |note| format!("note: {note}\n"))
}
