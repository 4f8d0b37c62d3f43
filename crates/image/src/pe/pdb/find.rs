//! The PDB file of an image: where the image says, or beside it.

use super::streams::{Streams, long, short};
use super::{PeSymbol, is_pdb, read};
use crate::notes::Notes;
use crate::pe::{Pe, debug};
use std::path::{Path, PathBuf};

/// The stream with the GUID.
const INFORMATION: u16 = 1;
/// Digits of a GUID; those of the age follow in a build-id.
const GUID_DIGITS: usize = 32;

/// The symbols of the PDB file that belongs to the image `file` at `path`; `None` where there is
/// none with the GUID that the image names.
pub(in crate::pe) fn beside(file: &Pe<'_>, path: &Path) -> Option<Vec<PeSymbol>> {
    let entries = debug::read(file, &mut Notes::new(file.bytes().len()));
    let named = entries.into_iter().find_map(|entry| entry.pdb.zip(entry.build_id));
    let (pdb, build_id) = named?;
    let guid = build_id.get(..GUID_DIGITS)?;
    candidates(&pdb, path).into_iter().find_map(|path| {
        let (_, bytes) = crate::map(&path).ok()??;
        let is_it = is_pdb(&bytes) && self::guid(&bytes).as_deref() == Some(guid);
        is_it.then(|| read(&bytes).ok())?
    })
}

/// Where the file may be: where the linker wrote it, or beside the image.
fn candidates(pdb: &str, image: &Path) -> Vec<PathBuf> {
    // A path under /proc leads to the image wherever it is.
    let image = files::real_path(image).unwrap_or_else(|_| image.to_owned());
    let file_name = pdb.rsplit(['/', '\\']).next().unwrap_or(pdb);
    let beside = [image.with_file_name(file_name), image.with_extension("pdb")];
    let there = Some(PathBuf::from(pdb)).filter(|path| path.is_absolute());
    there.into_iter().chain(beside).filter(|path| path.is_file()).collect()
}

/// The GUID as in build-ids.
fn guid(bytes: &[u8]) -> Option<String> {
    let stream = Streams::read(bytes).ok()?.stream(INFORMATION).ok()?;
    // Version, signature and age are in front.
    let tail = stream.get(20..28)?.iter().map(|byte| format!("{byte:02X}"));
    let (a, b, c) = (long(&stream, 12)?, short(&stream, 16)?, short(&stream, 18)?);
    Some(format!("{a:08X}{b:04X}{c:04X}{}", tail.collect::<String>()))
}
