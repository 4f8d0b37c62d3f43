use super::page::Page;
use crate::style::Tint;
use model::Explanation;

/// Where each group of figures comes from.
pub(super) fn list(page: &mut Page, explanation: &Explanation) {
    page.heading("Where the figures come from");
    for source in &explanation.sources {
        let lead = format!("  {:<9}", source.figures);
        let (tint, text) = match (source.mechanism.as_str(), source.caveat.as_str()) {
            ("none", caveat) => (Tint::Doubt, format!("unavailable: {caveat}")),
            (mechanism, "") => (Tint::Faint, mechanism.to_owned()),
            (mechanism, caveat) => (Tint::Faint, format!("{mechanism}: {caveat}")),
        };
        page.wrapped(&lead, tint, &text);
    }
}
