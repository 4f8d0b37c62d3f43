//! Views of a set of images that is laid out.

use crate::figure::{count, plural};
use crate::style::{Style, Tint};
use crate::table::{Cell, Column, Table};
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
    format!("{}\n{}{}", table.render(style), sum(map, "would move", style), ends(map, style))
}

/// What was done, in a sentence.
pub fn done(map: &RebaseMap, style: &Style) -> String {
    sum(map, "moved", style) + &ends(map, style)
}

fn row(image: &RebasedImage) -> Vec<Cell> {
    let name = image.file.rsplit('/').next().unwrap_or(&image.file);
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

fn sum(map: &RebaseMap, verb: &str, style: &Style) -> String {
    let moved: Vec<&RebasedImage> = map.images.iter().filter(|image| image.moves()).collect();
    let refused = map.images.iter().filter(|image| image.refused.is_some()).count();
    let stay = map.images.len() - moved.len() - refused;
    let relocations = moved.iter().map(|image| image.relocations).sum();
    let mut text = match moved.iter().map(|image| image.new_base).min() {
        None => "Nothing has to move".to_owned(),
        Some(lowest) => {
            let ends = moved.iter().map(|image| image.new_base + image.slot_bytes);
            format!(
                "{} {verb} to {lowest:#x}–{:#x} ({})",
                plural(moved.len() as u64, "image", "images"),
                ends.max().unwrap_or(lowest),
                plural(relocations, "relocation", "relocations"),
            )
        }
    };
    if stay > 0 && !moved.is_empty() {
        text += &format!(
            ", {} where {} before",
            count(stay as u64),
            if stay == 1 { "it was" } else { "they were" }
        );
    }
    if refused > 0 {
        text += &format!(", {} refused", count(refused as u64));
    }
    text += ".";
    let text = if style.unicode { text } else { text.replace('–', "-") };
    style.wrap(&text, 0) + "\n"
}

/// Those that are refused, those that stay for a reason, and the notes.
fn ends(map: &RebaseMap, style: &Style) -> String {
    let mut notes = Vec::new();
    for image in &map.images {
        if let Some(reason) = &image.refused {
            notes.push(format!("{} is not rewritten: {reason}", image.file));
        }
    }
    let stays = |image: &RebasedImage| {
        image.stays.as_ref().map(|reason| format!("{} stays: {reason}", image.file))
    };
    notes.extend(map.images.iter().filter_map(stays));
    notes.extend(map.notes.iter().cloned());
    style.notes(&notes)
}
