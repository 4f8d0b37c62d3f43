//! Symbols that an image may look up by name while it runs.

use super::loadable::Loadable;
use super::spec;

/// Functions that take a handle and a name.
const LOOK_UP: [&[u8]; 2] = [b"dlsym", b"dlvsym"];

/// Whether it calls a function that looks symbols up. Their names are among its
/// [`possible_names`], but for those that it puts together while it runs.
pub fn looks_up(image: &Loadable) -> bool {
    image.refers_to(&LOOK_UP)
}

/// Texts among its constants that can be names of symbols. Each ends with a zero and follows
/// another text, or bytes that are no letters: the first text of a section follows whatever the
/// linker puts before it. The table of its own symbol names is left out.
pub fn possible_names(image: &Loadable) -> impl Iterator<Item = &[u8]> {
    let names = image.dynamic_address(spec::DT_STRTAB);
    let loaded = || image.segments().iter().filter(|segment| segment.loads());
    let constant = |flags: u32| flags & (spec::PF_X | spec::PF_W) == 0;
    // Some linkers leave constants with the code.
    let apart = loaded().filter(|segment| constant(segment.flags)).count() > 1;
    let parts = loaded().filter(move |part| !apart || part.flags & spec::PF_X == 0);
    let length = image.dynamic_value(spec::DT_STRSZ).unwrap_or(0) as usize;
    parts.flat_map(move |part| {
        let bytes = image.segment_bytes(part);
        let within = names.filter(|&names| part.holds(names));
        let at = within.map_or(bytes.len(), |names| (names - part.address) as usize);
        let (before, behind) = bytes.split_at(at.min(bytes.len()));
        let behind = behind.get(length..).unwrap_or(&[]);
        let pieces = [before, behind].into_iter().flat_map(|bytes| bytes.split(|&byte| byte == 0));
        let texts = pieces.flat_map(|piece| [Some(piece), behind_other_bytes(piece)]).flatten();
        texts.filter(|text| can_be_a_name(text))
    })
}

fn can_be_a_name(text: &[u8]) -> bool {
    let of_names =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"_$.@".contains(byte) || *byte > 127;
    !text.is_empty() && text.iter().all(of_names)
}

/// The letters, digits and signs at the end of a piece that has other bytes too.
fn behind_other_bytes(piece: &[u8]) -> Option<&[u8]> {
    let letter = |byte: &u8| byte.is_ascii_graphic() || *byte == b' ';
    let last = piece.iter().rposition(|byte| !letter(byte))?;
    piece.get(last + 1..)
}
