//! Cygwin and MSYS, by the names of the libraries that an image imports, or by its own name.
//!
//! The directory and the names can be anywhere in a large file, so only they are read: the
//! descriptors some dozens at a time, and names that lie close together at once.

use super::headers::Headers;
use super::{Unread, directory};
use crate::identify::fields::{Fields, text};
use crate::identify::source::Source;
use model::{Runtime, Rva};
use object::pe;

/// Bytes of a descriptor.
const DESCRIPTOR: usize = 20;
/// Descriptors read at once.
const AT_ONCE: usize = 50;
/// Bytes read of a name: the ones sought are shorter.
const NAME: usize = 16;
/// Names this far apart are read at once, …
const GAP: u64 = 256;
/// … up to so many bytes.
const MOST_AT_ONCE: u64 = 4096;

/// The runtime among the imported libraries, and its name there.
pub(super) fn runtime(
    source: &mut Source,
    headers: &Headers,
) -> Result<Option<(Runtime, String)>, Unread> {
    let index = pe::IMAGE_DIRECTORY_ENTRY_IMPORT;
    let Some(place) = directory(headers, index)? else { return Ok(None) };
    let size = headers.pe.directories.get(index).map_or(0, |directory| directory.size);
    let addresses = names(source, place, size as usize)?;
    let count = addresses.len();
    let places = addresses.into_iter().filter_map(|address| headers.place(address));
    let mut places: Vec<u64> = places.map(|(offset, _)| offset).collect();
    let outside = places.len() < count;
    places.sort_unstable();
    places.dedup();
    let mut rest = places.as_slice();
    while let Some(&first) = rest.first() {
        let near = rest.iter().zip(rest.iter().skip(1));
        let near = near.take_while(|(a, b)| *b - *a <= GAP && *b - first < MOST_AT_ONCE).count();
        let (group, others) = rest.split_at(near + 1);
        rest = others;
        if let Some(found) = among(source, group)? {
            return Ok(Some(found));
        }
    }
    if outside { Err(Unread::Outside) } else { Ok(None) }
}

/// The addresses of the names in the descriptors, up to the one that is empty.
fn names(
    source: &mut Source,
    (offset, section_bytes): (u64, usize),
    directory_bytes: usize,
) -> Result<Vec<Rva>, Unread> {
    let mut names = Vec::new();
    let mut done = 0;
    // Linkers differ in what the size means, so it is only a first guess.
    let mut guess = (directory_bytes / DESCRIPTOR).clamp(2, AT_ONCE);
    loop {
        let count = guess.min(section_bytes.saturating_sub(done) / DESCRIPTOR);
        if count == 0 {
            return Ok(names);
        }
        let bytes = source.up_to(offset + done as u64, count * DESCRIPTOR)?;
        let complete = bytes.len() == count * DESCRIPTOR;
        for descriptor in bytes.chunks_exact(DESCRIPTOR) {
            let fields = Fields::little(descriptor);
            match (fields.u32(12), fields.u32(16)) {
                (Some(0) | None, _) | (_, Some(0) | None) => return Ok(names),
                (Some(name), _) => names.push(Rva(name)),
            }
        }
        if !complete {
            return Err(Unread::Outside);
        }
        done += count * DESCRIPTOR;
        guess = AT_ONCE;
    }
}

/// The first runtime among names at these places, in order, that lie close together.
fn among(source: &mut Source, group: &[u64]) -> Result<Option<(Runtime, String)>, Unread> {
    let [Some(&first), Some(&last)] = [group.first(), group.last()] else { return Ok(None) };
    let bytes = source.up_to(first, (last - first) as usize + NAME)?;
    let mut cut = false;
    for place in group {
        let name = bytes.get((place - first) as usize..).unwrap_or_default();
        cut |= name.is_empty();
        if let Some(found) = runtime_of(name) {
            return Ok(Some(found));
        }
    }
    if cut { Err(Unread::Outside) } else { Ok(None) }
}

/// The runtime whose library this is, by the name it exports under.
pub(super) fn own_name(
    source: &mut Source,
    headers: &Headers,
) -> Result<Option<(Runtime, String)>, Unread> {
    if !headers.is_library() {
        return Ok(None);
    }
    let place = directory(headers, pe::IMAGE_DIRECTORY_ENTRY_EXPORT)?;
    let Some((offset, _)) = place else { return Ok(None) };
    let name = Fields::little(source.get(offset, 16)?).u32(12).unwrap_or(0);
    let (name, _) = headers.place(Rva(name)).ok_or(Unread::Outside)?;
    Ok(runtime_of(source.up_to(name, NAME)?))
}

/// The runtime that a library of this name is: `cygwin1.dll`, `cygwinb19.dll`, `msys-2.0.dll`.
fn runtime_of(name: &[u8]) -> Option<(Runtime, String)> {
    let name = text(name.get(..NAME).unwrap_or(name));
    let lower = name.to_ascii_lowercase();
    let stem = lower.strip_suffix(".dll")?;
    let version = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let cygwin = |rest: &str| version(rest.strip_prefix('b').unwrap_or(rest));
    if stem.strip_prefix("cygwin").is_some_and(cygwin) {
        return Some((Runtime::Cygwin, name));
    }
    let msys = stem.strip_prefix("msys-").is_some_and(|rest| !rest.is_empty() && version(rest));
    msys.then_some((Runtime::Msys, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runtimes() {
        let runtime = |name: &str| runtime_of(name.as_bytes()).map(|(runtime, _)| runtime);
        for name in ["cygwin1.dll\0", "CYGWIN1.DLL", "cygwinb19.dll", "cygwin.dll\0abc"] {
            assert_eq!(runtime(name), Some(Runtime::Cygwin), "{name}");
        }
        for name in ["msys-2.0.dll\0", "msys-1.0.dll"] {
            assert_eq!(runtime(name), Some(Runtime::Msys), "{name}");
        }
        for name in ["cygwin1.dl", "cygz.dll", "msys-z.dll", "msys-.dll", "cygwin1.dll.x", ""] {
            assert_eq!(runtime(name), None, "{name}");
        }
    }
}
