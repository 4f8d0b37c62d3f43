//! The list of an explanation's sources.

use super::page::Page;
use crate::style::Tint;
use model::{Explanation, Source};

/// Where each group of figures comes from. A reason that several have in common is given once.
pub(super) fn list(page: &mut Page, explanation: &Explanation) {
    page.heading("Where the figures come from");
    for (index, source) in explanation.sources.iter().enumerate() {
        let lead = format!("  {:<10}", source.figures);
        let told = explanation.sources.iter().take(index).find(|other| tells(other, source));
        let caveat = match told {
            Some(other) => format!("see {}", other.figures),
            None => source.caveat.clone(),
        };
        let (tint, text) = match (source.mechanism.as_str(), caveat.as_str()) {
            ("none", caveat) => (Tint::Doubt, format!("unavailable: {caveat}")),
            (mechanism, "") => (Tint::Faint, mechanism.to_owned()),
            (mechanism, caveat) => (Tint::Faint, format!("{mechanism}: {caveat}")),
        };
        page.wrapped(&lead, tint, &text);
    }
}

/// Whether the caveat of a source says all that another's would.
fn tells(source: &Source, other: &Source) -> bool {
    let rest = source.caveat.strip_prefix(&other.caveat);
    !other.caveat.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(';'))
}
