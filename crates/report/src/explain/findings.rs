use super::page::Page;
use crate::style::Tint;
use model::{Explanation, Finding, Phase};

/// Findings, costliest first: cause, evidence, remedy.
pub(super) fn list(page: &mut Page, explanation: &Explanation) {
    if explanation.findings.is_empty() {
        let told = explanation.phases.iter().any(|time| time.phase != Phase::Unattributed);
        let none = if told { "Nothing stands out" } else { "No findings: nothing could be traced" };
        page.heading(none);
        return;
    }
    page.heading("What costs time");
    for (index, finding) in explanation.findings.iter().enumerate() {
        if index > 0 {
            page.blank();
        }
        entry(page, index + 1, finding);
    }
}

fn entry(page: &mut Page, number: usize, finding: &Finding) {
    let lead = format!("{number:>3}  ");
    page.wrapped(&lead, Tint::Strong, &format!("{} [{}]", finding.cause, finding.id));
    let dot = format!("       {} ", page.pick("·", "-"));
    for line in &finding.evidence {
        page.wrapped(&dot, Tint::Plain, line);
    }
    let arrow = format!("     {} ", page.pick("→", "=>"));
    page.wrapped(&arrow, Tint::Remedy, &finding.remedy);
}
