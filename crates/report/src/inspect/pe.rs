//! Static facts of PE files as text.

use super::{Block, WIDTH, end_of};
use crate::text::printable;
use model::figures::{bytes, count};
use model::{PeFacts, PeKind};
use std::fmt::Write;

/// The facts of one file.
pub(super) fn block(image: &PeFacts) -> String {
    let mut block = Block(String::new());
    block.end(&printable(&image.path));
    let size = bytes(image.file_bytes);
    let kind = match image.kind {
        PeKind::Program => "program",
        PeKind::Library => "DLL",
        PeKind::Native => "driver",
        PeKind::Firmware => "firmware",
    };
    block.row("kind", &format!("{kind} ({}), {}, {size}", image.subsystem, image.machine));
    block.row(
        "base",
        &format!("{:#x}, {} in memory", image.base, bytes(image.size_of_image.into())),
    );
    for problem in &image.problems {
        block.row("PROBLEM", problem);
    }
    block.0
}

/// One line a file.
pub(super) fn list(images: &[&PeFacts]) -> String {
    let mut text =
        format!("{:>18} {:>9} {:>7} {:>7}  {}\n", "base", "relocs", "imports", "exports", "file");
    for image in images {
        let _ = writeln!(
            text,
            "{:>#18x} {:>9} {:>7} {:>7}  {}",
            image.base,
            count(image.relocation_count()),
            count(image.imports),
            count(image.exports),
            end_of(&printable(&image.path), WIDTH - 46),
        );
    }
    text
}
