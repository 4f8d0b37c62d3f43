//! What helps against a finding: the command, and for which of the files it works.

use dlls::survey::{Changeable, FindingKind, Obstacle, SameName, Survey};
use model::figures::plural;

/// What to do about a finding on files of which some can be changed.
pub(super) fn remedy(survey: &Survey, kind: &FindingKind, changeable: &Changeable) -> String {
    let each = |verb| command(&for_each(survey, verb), changeable);
    match kind {
        FindingKind::Problems => {
            "build or copy them again; headstart inspect FILE shows what is wrong".to_owned()
        }
        FindingKind::Immovable => "link them again without /FIXED (GNU ld: with \
             --enable-reloc-section), or at a free base"
            .to_owned(),
        FindingKind::Guard { .. } => "link programs that are only for tests without /GUARD:CF, or \
             split them into several"
            .to_owned(),
        FindingKind::Collisions { left, left_signed, .. } => rebase(survey, *left, *left_signed),
        FindingKind::WrongHints { .. } => command(&for_set(survey, "hints", "FILE…"), changeable),
        FindingKind::FileAlignment { .. } => each("realign --file-alignment 4096"),
        // Every image gets its right checksum, and those that move another time stamp too.
        FindingKind::SameStamps { .. } => format!(
            "{}; or link each with its own time stamp or hash",
            command(&to_rebase(survey, "--auto --checksum"), changeable)
        ),
        FindingKind::StaleBindings { can_be_bound: false, .. } => each("unbind"),
        FindingKind::StaleBindings { .. } => {
            format!("{}; or {}", for_set(survey, "bind", "EXE DLL…"), each("unbind"))
        }
        FindingKind::RunFromSwap => format!(
            "if the medium stays connected: {}",
            each("flags --clear swaprun:net,swaprun:cd")
        ),
        FindingKind::Checksums => format!(
            "find out what has changed them; to correct it (and undo binding): {}",
            each("unbind --checksum")
        ),
    }
}

/// What `rebase` can do about collisions, of which so many would be left.
fn rebase(survey: &Survey, left: usize, signed: usize) -> String {
    let command = to_rebase(survey, "--auto");
    let all = "give each a base of its own when linking";
    let stay = plural(left as u64, "image stays", "images stay");
    let signed_images = plural(signed as u64, "signed image", "signed images");
    let moved = survey.collisions.moved.len();
    match (left, signed) {
        (0, _) => command,
        (left, 0) if left == moved => all.to_owned(),
        (left, _) if left == moved => {
            format!("{all}; or {command} with --strip-signature, which moves {signed_images}")
        }
        (_, 0) => format!("{command}; {stay} colliding, and cannot be moved"),
        (_, _) => format!("{command}; {stay} colliding: --strip-signature moves {signed_images}"),
    }
}

/// A command for all the files, which works on each by itself.
fn for_each(survey: &Survey, verb: &str) -> String {
    let command = format!("headstart pe {verb} --out DIR FILE…");
    match survey.same_name {
        None => command,
        Some(_) => format!("{command} (folder by folder: some files have the same name)"),
    }
}

/// A command for all the files, which looks from one at the others.
fn for_set(survey: &Survey, verb: &str, given: &str) -> String {
    let command = format!("headstart pe {verb} --out DIR {given}");
    match &survey.same_name {
        None => command,
        Some(SameName::InOneFolder(one, other)) => {
            format!("remove {one} or {other}, of which only one can be loaded; then {command}")
        }
        Some(SameName::Apart) => format!(
            "{command} (folder by folder, with --search for the others: some files have the same \
             name)"
        ),
    }
}

/// The command that gives every file a place of its own.
fn to_rebase(survey: &Survey, options: &str) -> String {
    match survey.same_name {
        None => format!("headstart pe rebase {options} --out DIR FILE…"),
        Some(_) => format!(
            "headstart pe rebase {options} --database PLACES --out DIR FILE… (folder by folder, \
             with one database: some files have the same name)"
        ),
    }
}

/// The command for those of the files for which it works, and what is the matter with the others.
fn command(command: &str, Changeable { free, kept }: &Changeable) -> String {
    let images = |joint: &str| {
        let images = kept.iter().map(|(obstacle, number)| {
            let images = plural(*number, "image", "images");
            format!("{images}{joint}{}", predicate(*obstacle, *number))
        });
        images.collect::<Vec<_>>().join(", and ")
    };
    match free {
        _ if kept.is_empty() => command.to_owned(),
        0 if !kept.keys().any(|obstacle| obstacle.can_be_overcome()) => {
            "build them again: headstart cannot change them".to_owned()
        }
        0 => format!("{command}, but {}", images(" ")),
        _ => format!("{command}, leaving out {}", images(" that ")),
    }
}

/// What is said of so many images, which are the subject of the sentence.
fn predicate(obstacle: Obstacle, number: u64) -> String {
    let (are, have) = if number == 1 { ("is", "has") } else { ("are", "have") };
    match obstacle {
        Obstacle::Signed => format!(
            "{are} signed (change such images before they are signed, or add --strip-signature)"
        ),
        Obstacle::SignedAppended => {
            format!(
                "{are} signed and {have} appended data (change such images when they are built)"
            )
        }
        Obstacle::Appended => {
            format!(
                "{have} appended data that would move (add --keep-overlay, and test the result)"
            )
        }
        Obstacle::Malformed => format!("{are} malformed (build or copy such images again)"),
        Obstacle::Never => format!("{are} not changed by headstart (build such images again)"),
    }
}
