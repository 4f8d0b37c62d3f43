//! Whether a finished bundle fills its table of functions outside.

use crate::verify;
use image::elf::Loadable;
use startup::PreambleOutline;

/// Whether this is a bundle whose preamble fills its table of functions outside and makes it read-only, so that no
/// function is bound later, although its file does not say so (BIND_NOW). Where other libraries are loaded
/// beside a sealed one, the loader binds its functions when they are first called.
pub fn fills_table(image: &Loadable) -> bool {
    let outline = verify::preamble(image).and_then(PreambleOutline::read);
    outline.is_some_and(|outline| outline.filled > 0)
}
