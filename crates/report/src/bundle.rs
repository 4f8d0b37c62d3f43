//! Views of a bundle: what it was made of, and what has become of that.

use crate::figure::{count, plural};
use crate::style::{Style, Tint};
use model::bundle::{BundleManifest, BundleVerification};

/// Figures of a bundle that was made just now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// What to start.
    pub run: String,
    /// Its size.
    pub bytes: u64,
    /// References that were bound now.
    pub bound: u64,
    /// Symbols that the loader still looks up.
    pub left: u64,
    /// Addresses that the loader still adjusts.
    pub moving: u64,
    /// Modules whose constants are mapped with their code.
    pub joined: u64,
}

/// The terminal view of a bundle that was made just now.
pub fn made(manifest: &BundleManifest, figures: &Figures, style: &Style) -> String {
    let merged = manifest.modules.iter().filter(|module| module.outside.is_none()).count() as u64;
    let adjusts = match (manifest.fixed, figures.moving) {
        (true, _) => "adjusts no address (they are fixed: see headstart rerandomize)".to_owned(),
        (false, moving) => format!("adjusts {}", plural(moving, "address", "addresses")),
    };
    let sentence = format!(
        "{} and {} as one file of {}; {} bound now, the loader still looks up {} and {adjusts}.",
        style.terminal(&manifest.program),
        plural(merged.saturating_sub(1), "library", "libraries"),
        model::figures::bytes(figures.bytes),
        plural(figures.bound, "reference", "references"),
        plural(figures.left, "symbol", "symbols"),
    );
    let mut view = style.paint(Tint::Name, &style.terminal(&figures.run)) + "\n";
    view += &(style.wrap(&sentence, 0) + "\n");
    for module in &manifest.modules {
        let Some(reason) = &module.outside else { continue };
        let line = format!("outside: {} ({reason})", style.terminal(&module.path));
        view += &(style.wrap(&line, 9) + "\n");
    }
    let mut notes = Vec::new();
    if figures.joined > 0 {
        notes.push(format!(
            "One file can have 1,170 parts: constants of {} are mapped together with their code, \
             executable.",
            plural(figures.joined, "module", "modules")
        ));
    }
    view + &style.notes(&notes)
}

/// The terminal view of a verification.
pub fn verified(verification: &BundleVerification, style: &Style) -> String {
    let program = style.terminal(&verification.program);
    if verification.current {
        let good = style.paint(Tint::Good, "current");
        let files = count(verification.files as u64);
        return format!("{good}: all {files} files of {program} are those that were merged\n");
    }
    let stale = style.paint(Tint::Doubt, "stale");
    let mut view = format!("{stale}: {program} is started in its original form\n");
    for change in &verification.changes {
        let line = format!("{}: {}", style.terminal(&change.path), style.terminal(&change.found));
        view += &(style.wrap(&line, 2) + "\n");
    }
    let remedy = "Make the bundle again with headstart bundle.";
    view + &style.paint(Tint::Remedy, remedy) + "\n"
}
