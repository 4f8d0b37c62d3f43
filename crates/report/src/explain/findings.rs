//! The list of findings of an explanation.

use super::page::Page;
use crate::style::Tint;
use model::{Explanation, Finding, Phase};

/// Findings, costliest first, each with those that are part of it.
pub(super) fn list(page: &mut Page, explanation: &Explanation) {
    if explanation.findings.is_empty() {
        let unattributed = explanation.phases.iter().find(|it| it.phase == Phase::Unattributed);
        let share = unattributed.map_or(0.0, |time| time.us / explanation.total_us);
        let none = match share {
            1.0.. => "No findings: nothing could be traced",
            0.5.. => "No findings: most of the launch could not be attributed",
            _ => "Nothing stands out",
        };
        page.heading(none);
        return;
    }
    page.heading("What costs time");
    let findings = &explanation.findings;
    let whole = |part: &Finding| {
        let of = part.part_of.as_ref()?;
        findings.iter().find(|finding| finding.id == *of && finding.part_of.is_none())
    };
    for (index, finding) in findings.iter().filter(|f| whole(f).is_none()).enumerate() {
        if index > 0 {
            page.blank();
        }
        entry(page, &format!("{:>3}  ", index + 1), finding);
        let is_part = |part: &&Finding| whole(part).is_some_and(|of| std::ptr::eq(of, finding));
        for part in findings.iter().filter(is_part) {
            entry(page, "     of it  ", part);
        }
    }
}

/// Cause, evidence and remedy; the lead stands before the cause.
fn entry(page: &mut Page, lead: &str, finding: &Finding) {
    let within = " ".repeat(lead.len());
    page.wrapped(lead, Tint::Strong, &format!("{} [{}]", finding.cause, finding.id));
    let dot = format!("{within}  {} ", page.pick("·", "-"));
    for line in &finding.evidence {
        page.wrapped(&dot, Tint::Plain, line);
    }
    let arrow = format!("{within}{} ", page.pick("→", "=>"));
    page.wrapped(&arrow, Tint::Remedy, &finding.remedy);
}
