//! Views of a set of images that is laid out.

use crate::figure::{count, plural};
use crate::rewritten;
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
use crate::text::base_name;
use model::figures::bytes;
use model::rebase::{RebaseMap, RebasedImage};

/// The map, by address: who is where, and was where.
pub fn map(map: &RebaseMap, style: &Style) -> String {
    let mut table = Table::new(vec![
        Column::left("image"),
        Column::right("base"),
        Column::right("size").or_drop(2),
        Column::right("before"),
        Column::right("relocations").or_drop(1),
    ]);
    let mut images: Vec<&RebasedImage> = map.images.iter().collect();
    images.sort_by_key(|image| image.new_base);
    for image in images {
        table.row(row(image));
    }
    format!("{}\n{}{}", table.render(style), sum(map, true, style), ends(map, style))
}

/// What was done, in a sentence.
pub fn done(map: &RebaseMap, style: &Style) -> String {
    sum(map, false, style) + &ends(map, style)
}

fn row(image: &RebasedImage) -> Vec<Cell> {
    let name = base_name(&image.file);
    let before = match (&image.refused, image.moves()) {
        (Some(_), _) => Cell::new(Tint::Bad, "refused"),
        (None, true) => Cell::new(Tint::Plain, format!("{:#x}", image.old_base)),
        (None, false) => Cell::new(Tint::Faint, "same"),
    };
    vec![
        Cell::new(Tint::Name, name),
        Cell::new(Tint::Strong, format!("{:#x}", image.new_base)),
        Cell::new(Tint::Plain, bytes(image.size_of_image)),
        before,
        Cell::new(Tint::Plain, count(image.relocations)),
    ]
}

fn sum(map: &RebaseMap, dry_run: bool, style: &Style) -> String {
    let moved: Vec<&RebasedImage> = map.images.iter().filter(|image| image.moves()).collect();
    let refused = map.images.iter().filter(|image| image.refused.is_some()).count() as u64;
    let stay = map.images.len() as u64 - moved.len() as u64 - refused;
    let relocations = moved.iter().map(|image| image.relocations).sum();
    let refused_of = |images: u64| match (images, dry_run) {
        (1, true) => "1 would be refused".to_owned(),
        (images, true) => format!("{} would be refused", count(images)),
        (1, false) => "1 is refused".to_owned(),
        (images, false) => format!("{} are refused", count(images)),
    };
    let Some(lowest) = moved.iter().map(|image| image.new_base).min() else {
        let text = match (stay, refused) {
            (_, 0) => "Nothing has to move.".to_owned(),
            (0, 1) => "Nothing is moved: the image is refused.".to_owned(),
            (0, refused) => format!("Nothing is moved: all {}.", refused_of(refused)),
            (stay, refused) => {
                let of = format!("{} of {} images", count(refused), count(stay + refused));
                let verb = match (refused, dry_run) {
                    (_, true) => "would be",
                    (1, false) => "is",
                    (_, false) => "are",
                };
                let stay = if stay == 1 { "the other stays" } else { "the others stay" };
                format!("Nothing is moved: {of} {verb} refused, and {stay}.")
            }
        };
        return style.wrap(&text, 0) + "\n";
    };
    let ends = moved.iter().map(|image| image.new_base + image.slot_bytes);
    let mut text = format!(
        "{} {} to {lowest:#x}–{:#x} ({})",
        plural(moved.len() as u64, "image", "images"),
        if dry_run { "would move" } else { "moved" },
        ends.max().unwrap_or(lowest),
        plural(relocations, "relocation", "relocations"),
    );
    if stay > 0 {
        text += &match (stay, dry_run) {
            (1, true) => ", 1 stays where it is".to_owned(),
            (stay, true) => format!(", {} stay where they are", count(stay)),
            (1, false) => ", 1 is where it was before".to_owned(),
            (stay, false) => format!(", {} are where they were before", count(stay)),
        };
    }
    if refused > 0 {
        text += &format!(", {}", refused_of(refused));
    }
    text += ".";
    let text = if style.unicode { text } else { text.replace('–', "-") };
    style.wrap(&text, 0) + "\n"
}

/// Those that are refused, those that stay for a reason, and the notes.
fn ends(map: &RebaseMap, style: &Style) -> String {
    let refused = |image: &RebasedImage| {
        image.refused.iter().map(|reason| format!("not rewritten: {reason}")).collect()
    };
    let stays = |image: &RebasedImage| {
        image.stays.iter().map(|reason| format!("stays: {reason}")).collect()
    };
    let told = |note: &dyn Fn(&RebasedImage) -> Vec<String>| {
        let notes: Vec<(&str, Vec<String>)> =
            map.images.iter().map(|image| (&*image.file, note(image))).collect();
        rewritten::notes_by_file(notes.iter().map(|(file, notes)| (*file, notes.as_slice())))
    };
    let notes = [told(&refused), told(&stays), map.notes.clone()].concat();
    style.notes(&notes)
}
