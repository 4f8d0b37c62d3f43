//! What a user should know of images that were moved.

use crate::rewritten::few;
use dlls::rebase::RebasedFile;
use model::{Va, figures};
use std::collections::BTreeMap;

/// What a user should know besides.
pub fn notes(files: &[RebasedFile]) -> Vec<String> {
    let mut notes = Vec::new();
    let moved = || files.iter().filter(|file| file.moves());
    let aslr = moved().filter(|file| file.examined.dynamic_base).count() as u64;
    // Windows loads no image for ARM without the flag.
    let needed = |file: &RebasedFile| file.examined.dynamic_base && file.examined.arm;
    if aslr > 0 {
        let advice = match moved().any(needed) {
            true => "",
            false => {
                "; `headstart pe flags --clear dynamicbase` on the moved files makes it use the \
                 base"
            }
        };
        notes.push(format!(
            "{} DYNAMICBASE: Windows loads such DLLs elsewhere, whatever their base (Wine does \
             not){advice}",
            figures::plural(aslr, "image has", "images have")
        ));
    }
    let unbound = moved().filter(|file| file.unbound).count() as u64;
    if unbound > 0 {
        notes.push(format!(
            "{} bound; `headstart pe bind` binds images again to the DLLs that it finds",
            figures::plural(unbound, "image is no longer", "images are no longer")
        ));
    }
    notes.extend(signatures(files));
    let high = |file: &&RebasedFile| {
        let end = file.placement.base.saturating_add(file.placement.slot_bytes);
        file.examined.address_end == Va(1 << 32) && end > Va(1 << 31)
    };
    let high = moved().filter(high).count() as u64;
    if high > 0 {
        notes.push(format!(
            "{} above 2 GiB, which only programs with LARGEADDRESSAWARE can use",
            figures::plural(high, "image is", "images are")
        ));
    }
    for file in files.iter().filter(|file| file.placement.collides && !file.examined.program) {
        notes.push(format!(
            "{} is at {:#x}, as is another image that stays",
            file.file.display(),
            file.placement.base
        ));
    }
    notes
}

/// What is told of images that lost signatures, the same text once.
fn signatures(files: &[RebasedFile]) -> Vec<String> {
    let mut told: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files {
        if let Some(note) = file.stripped.removed() {
            told.entry(note).or_default().push(file.file.display().to_string());
        }
    }
    told.into_iter().map(|(note, files)| format!("{}: {note}", few(&files))).collect()
}
