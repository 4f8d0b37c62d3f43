//! Views of a toolchain: its bundles, and what has become of them.

use crate::CommandWords;
use crate::figure::plural;
use crate::style::{Style, Tint};
use model::toolchain::{ToolVerification, ToolchainManifest, ToolchainTool, ToolchainVerification};
use std::path::Path;

/// The terminal view of a toolchain that was made just now in `folder`.
pub fn made(
    folder: &str,
    manifest: &ToolchainManifest,
    warnings: &[String],
    style: &Style,
) -> String {
    let mut view = style.paint(Tint::Name, &style.terminal(folder)) + "\n";
    for tool in &manifest.tools {
        let line = format!(
            "{}: {}{}",
            style.terminal(&tool.program),
            model::figures::bytes(tool.bytes),
            names(tool, style)
        );
        view += &(style.wrap(&line, 2) + "\n");
    }
    for original in &manifest.originals {
        let reason = style.terminal(&original.reason);
        let line = format!("original: {} ({reason})", style.terminal(&original.program));
        view += &(style.wrap(&line, 10) + "\n");
    }
    for warning in warnings.iter().chain(&manifest.left) {
        let line = format!("{} {}", style.paint(Tint::Doubt, "warning:"), style.terminal(warning));
        view += &(style.wrap(&line, 9) + "\n");
    }
    let bundles = plural(manifest.tools.len() as u64, "bundle", "bundles");
    let total: u64 = manifest.tools.iter().map(|tool| tool.bytes).sum();
    let sentence = format!(
        "{bundles} of {} in all. Put the folder first in PATH, or name a compiler in it.",
        model::figures::bytes(total)
    );
    view + &style.wrap(&sentence, 0) + "\n"
}

/// Names by which users start it.
fn names(tool: &ToolchainTool, style: &Style) -> String {
    if tool.links.is_empty() {
        return String::new();
    }
    let names: Vec<String> = tool.links.keys().map(|name| style.terminal(name)).collect();
    format!(", as {}", names.join(", "))
}

/// The terminal view of a verification: a line for each tool.
pub fn verified(
    verification: &ToolchainVerification,
    words: &CommandWords,
    style: &Style,
) -> String {
    let lines = verification.tools.iter().map(|tool| line(tool, style));
    let mut view: String = lines.collect();
    let large = |tool: &ToolVerification| {
        let found = tool.found.as_ref().filter(|found| found.used);
        found.is_some_and(|found| crate::bundle::is_not_warm(found.large_pages.as_ref()))
    };
    if verification.current && verification.tools.iter().any(large) {
        let text = format!(
            "Less than half of a bundle is in large pages. A start from large pages takes fewer page faults; {} \
             reads all into them, if the file system supports them.",
            words.warm
        );
        view += &(style.wrap(&text, 0) + "\n");
    }
    if let Some(remedy) = &verification.remedy {
        // A command has to be copied whole.
        view += &(style.paint(Tint::Remedy, &style.terminal(remedy)) + "\n");
    }
    view
}

fn line(tool: &ToolVerification, style: &Style) -> String {
    let program = style.terminal(&tool.program);
    let text = match &tool.reason {
        None => format!("{}: {program}", style.paint(Tint::Good, "used")),
        Some(reason) => {
            let word = style.paint(Tint::Doubt, "not right");
            let folder = Path::new(&tool.folder).display().to_string();
            format!("{word}: {program} ({}): {}", style.terminal(&folder), style.terminal(reason))
        }
    };
    style.wrap(&text, 2) + "\n"
}
