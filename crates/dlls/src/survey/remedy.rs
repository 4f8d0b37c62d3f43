//! Commands that are advised, and for which files they work: an advice that headstart itself would
//! refuse is worse than none.

use model::figures::plural;
use model::{PeFacts, StrongNameFacts};

/// What keeps a file from being changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// It is signed: only without its signature.
    Signed,
    /// Windows loads it only signed, or it is laid out so that it cannot be changed.
    Never,
    /// Data was appended to it, which would move: only with --keep-overlay.
    Appended,
}

/// What keeps every verb from changing a file.
pub(super) fn obstacle(file: &PeFacts) -> Option<Obstacle> {
    if file.flags.force_integrity {
        return Some(Obstacle::Never);
    }
    let strong_name = file.strong_name == Some(StrongNameFacts::Signed);
    (file.certificates > 0 || strong_name).then_some(Obstacle::Signed)
}

/// What keeps `rebase` from moving a file.
pub(super) fn to_moving(file: &PeFacts) -> Option<Obstacle> {
    if file.flags.relocations_stripped { Some(Obstacle::Never) } else { obstacle(file) }
}

/// What keeps `realign` from laying a file out anew.
pub(super) fn to_realigning(file: &PeFacts) -> Option<Obstacle> {
    match obstacle(file) {
        _ if file.section_alignment < 4096 => Some(Obstacle::Never),
        None if file.overlay_bytes > 0 => Some(Obstacle::Appended),
        found => found,
    }
}

/// The command for those of the files for which it works, and what is the matter with the others.
pub(super) fn command(
    files: &[PeFacts],
    paths: &[String],
    command: &str,
    obstacle: impl Fn(&PeFacts) -> Option<Obstacle>,
) -> String {
    let found = || {
        let about = files.iter().filter(|file| paths.contains(&file.path));
        about.map(&obstacle)
    };
    let number = |wanted: Obstacle| found().filter(|one| *one == Some(wanted)).count() as u64;
    let free = found().filter(Option::is_none).count() as u64;
    let mut rest = Vec::new();
    if let signed @ 1.. = number(Obstacle::Signed) {
        rest.push(format!(
            "{} signed: change such images before they are signed, or add --strip-signature",
            are(signed)
        ));
    }
    if let appended @ 1.. = number(Obstacle::Appended) {
        let has = plural(appended, "image has", "images have");
        rest.push(format!("{has} appended data that would move: add --keep-overlay, and test"));
    }
    if let never @ 1.. = number(Obstacle::Never) {
        rest.push(format!("{} not changed by headstart: build them again", are(never)));
    }
    match (free, rest.is_empty()) {
        (_, true) => command.to_owned(),
        (0, _) if number(Obstacle::Never) == found().count() as u64 => {
            "build them again: headstart cannot change them".to_owned()
        }
        (0, _) => format!("{command}, but {}", rest.join("; ")),
        (_, false) => format!("{command}, without some: {}", rest.join("; ")),
    }
}

fn are(number: u64) -> String {
    plural(number, "image is", "images are")
}
