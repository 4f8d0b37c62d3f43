use super::page::{Look, Page};
use model::Explanation;

/// Where each group of figures comes from.
pub(super) fn list(page: &mut Page, explanation: &Explanation) {
    page.heading("Where the figures come from");
    for source in &explanation.sources {
        let lead = format!("  {:<9}", source.figures);
        let (look, text) = match (source.mechanism.as_str(), source.caveat.as_str()) {
            ("none", caveat) => (Look::Warning, format!("unavailable: {caveat}")),
            (mechanism, "") => (Look::Quiet, mechanism.to_owned()),
            (mechanism, caveat) => (Look::Quiet, format!("{mechanism}: {caveat}")),
        };
        page.wrapped(&lead, look, &text);
    }
}
