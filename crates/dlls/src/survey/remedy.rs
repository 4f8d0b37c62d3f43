//! Commands that are advised, and for which files they work: advice that headstart itself would
//! refuse is worse than none.

use super::names;
use model::figures::plural;
use model::{PeFacts, StrongNameFacts};

/// What keeps a file from being changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// It is signed: only without its signature.
    Signed,
    /// It is signed and has appended data: it may be that neither can be removed.
    SignedAppended,
    /// Data was appended to it, which would move: only with --keep-overlay.
    Appended,
    /// Something in it is wrong.
    Malformed,
    /// Windows loads it only signed, or it is laid out so that it cannot be changed.
    Never,
}

impl Obstacle {
    const ALL: [Obstacle; 5] = [
        Obstacle::Signed,
        Obstacle::SignedAppended,
        Obstacle::Appended,
        Obstacle::Malformed,
        Obstacle::Never,
    ];

    /// Whether an option lets headstart change such a file.
    fn has_option(self) -> bool {
        matches!(self, Obstacle::Signed | Obstacle::Appended)
    }

    /// What is said of so many images, which are the subject of the sentence.
    fn predicate(self, number: u64) -> String {
        let (are, have) = if number == 1 { ("is", "has") } else { ("are", "have") };
        match self {
            Obstacle::Signed => format!(
                "{are} signed (change such images before they are signed, or add --strip-signature)"
            ),
            Obstacle::SignedAppended => format!(
                "{are} signed and {have} appended data (change such images when they are built)"
            ),
            Obstacle::Appended => format!(
                "{have} appended data that would move (add --keep-overlay, and test the result)"
            ),
            Obstacle::Malformed => format!("{are} malformed (build or copy such images again)"),
            Obstacle::Never => {
                format!("{are} not changed by headstart (build such images again)")
            }
        }
    }
}

/// What keeps every verb from changing a file.
pub(super) fn obstacle(file: &PeFacts) -> Option<Obstacle> {
    let signed = file.certificates > 0 || file.strong_name == Some(StrongNameFacts::Signed);
    match (signed, file.overlay_bytes > 0) {
        _ if file.flags.force_integrity => Some(Obstacle::Never),
        _ if !file.problems.is_empty() => Some(Obstacle::Malformed),
        (true, true) => Some(Obstacle::SignedAppended),
        (true, false) => Some(Obstacle::Signed),
        (false, _) => None,
    }
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

/// What keeps `unbind` from correcting a file's checksum, which no signature covers.
pub(super) fn to_checksum(file: &PeFacts) -> Option<Obstacle> {
    obstacle(file).filter(|found| *found == Obstacle::Malformed || !file.bound.is_empty())
}

/// A command for all the files, which works on each by itself.
pub(super) fn for_each(files: &[PeFacts], verb: &str) -> String {
    let command = format!("headstart pe {verb} --out DIR FILE…");
    match names::are_distinct(files) {
        true => command,
        false => format!("{command} (folder by folder: some files have the same name)"),
    }
}

/// A command for all the files, which looks from one at the others.
pub(super) fn for_set(files: &[PeFacts], verb: &str, given: &str) -> String {
    let command = format!("headstart pe {verb} --out DIR {given}");
    if let Some((one, other)) = names::in_one_folder(files) {
        return format!("remove {one} or {other}, of which only one can be loaded; then {command}");
    }
    match names::are_distinct(files) {
        true => command,
        false => format!(
            "{command} (folder by folder, with --search for the others: some files have the same \
             name)"
        ),
    }
}

/// The command that gives every file a place of its own.
pub(super) fn to_rebase(files: &[PeFacts], options: &str) -> String {
    match names::are_distinct(files) {
        true => format!("headstart pe rebase {options} --out DIR FILE…"),
        false => format!(
            "headstart pe rebase {options} --database PLACES --out DIR FILE… (folder by folder, \
             with one database: some files have the same name)"
        ),
    }
}

/// The command for those of the files for which it works, and what is the matter with the others.
pub(super) fn command(
    files: &[PeFacts],
    paths: &[String],
    command: &str,
    obstacle: impl Fn(&PeFacts) -> Option<Obstacle>,
) -> String {
    let about = files.iter().filter(|file| paths.contains(&file.path));
    let found: Vec<Option<Obstacle>> = about.map(obstacle).collect();
    let number = |wanted: Option<Obstacle>| found.iter().filter(|one| **one == wanted).count();
    let free = number(None);
    let kept = Obstacle::ALL.map(|obstacle| (obstacle, number(Some(obstacle)) as u64));
    let kept: Vec<_> = kept.into_iter().filter(|(_, number)| *number > 0).collect();
    let images = |joint: &str| {
        let one = |(obstacle, number): &(Obstacle, u64)| {
            let images = plural(*number, "image", "images");
            format!("{images}{joint}{}", obstacle.predicate(*number))
        };
        kept.iter().map(one).collect::<Vec<_>>().join(", and ")
    };
    match (free, kept.as_slice()) {
        (_, []) => command.to_owned(),
        (0, kept) if !kept.iter().any(|(obstacle, _)| obstacle.has_option()) => {
            "build them again: headstart cannot change them".to_owned()
        }
        (0, _) => format!("{command}, but {}", images(" ")),
        (_, _) => format!("{command}, leaving out {}", images(" that ")),
    }
}
