//! What a bundle starts of which something has changed.

use super::{instead, reason};
use crate::style::Style;
use model::bundle::{BundleChange, BundleVerification, ChangeKind, Starts};

/// What is started where something has changed. The check at start does not read contents.
pub(super) fn stale(
    verification: &BundleVerification,
    starts: Starts,
    program: &str,
    style: &Style,
) -> String {
    match starts {
        Starts::Original => {
            let told = instead(verification, style);
            match verification.noticed {
                Some(_) => {
                    let reason = reason(verification, style);
                    format!("run starts the original {program}{told}: {reason}")
                }
                None => format!("run starts the original {program}{told}"),
            }
        }
        Starts::Nothing => {
            let why = style.terminal(verification.instead.as_deref().unwrap_or_default());
            let original = "run would start the original, which cannot be started";
            match &verification.noticed {
                Some(path) if *path == verification.program => format!("{original}: {why}"),
                Some(_) => {
                    let reason = reason(verification, style);
                    format!("{original}: {why}; the bundle is not used: {reason}")
                }
                None => format!("run cannot start anything: {why}"),
            }
        }
        Starts::Bundle if is_only_beside(verification) => {
            format!("run and all files of {program} are unchanged; no launch uses what has changed")
        }
        Starts::Bundle => merged_code(verification),
        Starts::Copies => {
            "run does not notice this, and still uses the copies in this folder".to_owned()
        }
        Starts::Unknown => {
            let path = verification.changes.first().map(|change| change.path.as_str());
            let path = style.terminal(path.unwrap_or_default());
            format!("{path} is not as headstart left it, so what it starts is unknown")
        }
    }
}

/// Of what has changed, plug-ins are looked at when they are opened, as is whether their merged files can be, and all
/// else is not noticed.
fn merged_code(verification: &BundleVerification) -> String {
    let is_unused = |change: &&BundleChange| change.what == ChangeKind::Unused;
    let unused = verification.changes.iter().filter(is_unused).count();
    let plugins = verification.changed_plugins.unwrap_or_default();
    let merged = verification.changed_merged.unwrap_or_default();
    if plugins + merged == 0 {
        return "run does not notice this, and still uses the merged code".to_owned();
    }
    let is_all = plugins + merged + unused >= verification.changes.len();
    let code = if is_all { "run starts the merged code" } else { "run still uses the merged code" };
    let originals = match (plugins, is_all) {
        (0, _) => "",
        (_, true) => {
            ", and opens the originals of plug-ins that have changed, or that need what has changed"
        }
        (_, false) => {
            ", and opens the originals of plug-ins that have changed, or that need a library of \
             plug-ins that has changed"
        }
    };
    let files = match merged {
        0 => "",
        _ => {
            "; it opens the merged files of plug-ins as they are now, and the original of a plug-in \
             of which that fails"
        }
    };
    let rest = if is_all { "" } else { "; all else it does not notice" };
    format!("{code}{originals}{files}{rest}")
}

/// Whether something has changed that no launch uses.
pub(super) fn is_only_beside(verification: &BundleVerification) -> bool {
    let mut changes = verification.changes.iter();
    !verification.current && changes.all(|change| change.what == ChangeKind::Unused)
}
