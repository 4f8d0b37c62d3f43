//! Whether a finished bundle fills its table of functions outside.

use crate::tables::dynamic::PREAMBLE_SECTION;
use image::elf::Loadable;
use startup::PreambleOutline;

/// Whether this is a bundle whose preamble fills its table of functions outside and makes it read-only, so that no
/// function is bound later, although its file does not say so (BIND_NOW). Where other libraries are loaded
/// beside a sealed one, the loader binds its functions when they are first called.
pub fn fills_table(image: &Loadable) -> bool {
    let sections = image.sections();
    let section = sections.iter().find(|section| section.name == PREAMBLE_SECTION);
    let bytes = section.and_then(|section| {
        let start = section.header.offset.index();
        let size = usize::try_from(section.header.size).ok()?;
        image.bytes().get(start..start.checked_add(size)?)
    });
    bytes.and_then(PreambleOutline::read).is_some_and(|outline| outline.filled > 0)
}
