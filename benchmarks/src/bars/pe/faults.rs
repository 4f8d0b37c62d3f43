//! Differences that are faults of the oracles, each proved with the file itself.

use super::pefile;
use anyhow::Result;
use model::PeFacts;
use std::path::Path;
use testkit::oracles::Difference;
use testkit::oracles::pe::compare;

/// The fault that explains a difference, if one does. It is proved with the file itself: pefile
/// agrees once its limits are lifted; llvm-readobj says that it misses what need not be there.
pub fn proved(
    image: &PeFacts,
    difference: &Difference,
    python: Option<&Path>,
) -> Result<Option<String>> {
    if let Some(python) = python {
        let unlimited = pefile::read_without_limits(python, &image.path)?;
        let still = compare(image, &unlimited);
        let explained = !still.iter().any(|other| other.fact == difference.fact);
        let fact = difference.fact;
        let fault = format!("pefile stops at its own limits of {fact}, without which it agrees");
        return Ok(explained.then_some(fault));
    }
    Ok(no_name_table(image, difference).map(str::to_owned))
}

/// Without any names an image needs no table of their ordinals, and its address may be 0.
fn no_name_table(image: &PeFacts, difference: &Difference) -> Option<&'static str> {
    let complains = difference.complaints.contains("for export ordinal table not found");
    (difference.fact == "exports" && complains && image.export_names == 0).then_some(
        "llvm-readobj needs the table of ordinals of names also where there are no names",
    )
}
