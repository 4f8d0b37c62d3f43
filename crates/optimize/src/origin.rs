//! What an image says in terms of its own folder ($ORIGIN, ld.so(8)), said for good.

use image::elf::edit::Edit;
use image::elf::{Loadable, spec};
use loader::origin::replaced;
use std::path::Path;

/// Makes `edit` name the folders and libraries that it names now, wherever the new file will be.
/// `folder`: what $ORIGIN stands for now. Gives whether anything had to change.
pub fn settle(edit: &mut Edit<'_>, image: &Loadable, folder: &Path) -> bool {
    let folder = model::text::text(folder);
    let mut changed = false;
    for (tag, text) in [(spec::DT_RPATH, &image.rpath), (spec::DT_RUNPATH, &image.runpath)] {
        let Some(text) = text else { continue };
        let settled = replaced(text, &folder);
        if settled != *text {
            let at = edit.add_name(&settled);
            edit.set_value(tag, at);
            changed = true;
        }
    }
    let mut entries = edit.dynamic().to_vec();
    let needs = entries.iter_mut().filter(|entry| entry.0 == spec::DT_NEEDED);
    for (entry, name) in needs.zip(&image.needed) {
        let settled = replaced(name, &folder);
        if settled != *name {
            entry.1 = edit.add_name(&settled);
            changed = true;
        }
    }
    edit.set_dynamic(entries);
    changed
}
