//! The volumes that listed files are on, with folders and files of them.

use super::fields::{PfBudget, PfFields};
use super::time;
use super::version::{HEADER, PfLayout};
use model::{PfReference, PfVolume};

/// Offset, number and size of all that is said of volumes, in the header.
const VOLUMES: usize = HEADER + 24;
/// In the part of references: a version, their number, and in all versions but the first eight
/// bytes that are of no known use.
const REFERENCES: usize = 8;
const OLD_REFERENCES_VERSION: u32 = 1;

/// The volumes that can be read. What cannot be is a problem.
pub(super) fn read(
    fields: PfFields,
    layout: &PfLayout,
    budget: &mut PfBudget,
    problems: &mut Vec<String>,
) -> Vec<PfVolume> {
    let found = parts(fields, layout);
    let Some((part, entries)) = found else {
        problems.push("its volumes are not within the file".to_owned());
        return Vec::new();
    };
    let mut volumes = Vec::new();
    for entry in entries.0.chunks_exact(layout.volume_entry) {
        match volume(part, PfFields(entry), budget, problems) {
            Some(volume) => volumes.push(volume),
            None => problems.push("a volume is described outside of the file".to_owned()),
        }
        // Each has a device path at least: where nothing is left, nothing valid follows.
        if budget.0 == 0 {
            break;
        }
    }
    volumes
}

/// All that is said of volumes, and their entries.
fn parts<'a>(fields: PfFields<'a>, layout: &PfLayout) -> Option<(PfFields<'a>, PfFields<'a>)> {
    let (at, count) = (fields.size(VOLUMES)?, fields.size(VOLUMES + 4)?);
    if count == 0 {
        return Some((PfFields(&[]), PfFields(&[])));
    }
    // The size in the header may leave out what follows the last entry.
    let part = fields.from(at)?;
    Some((part, part.part(0, count.checked_mul(layout.volume_entry)?)?))
}

fn volume(
    part: PfFields,
    entry: PfFields,
    budget: &mut PfBudget,
    problems: &mut Vec<String>,
) -> Option<PfVolume> {
    let (at, characters) = (entry.size(0)?, entry.size(4)?);
    budget.take(characters.checked_mul(2)?.max(1))?;
    let device_path = part.text(at, characters)?;
    let references = references(part, entry, budget);
    let directories = directories(part, entry, budget);
    for (found, what) in [(references.is_some(), "files"), (directories.is_some(), "folders")] {
        if !found {
            problems.push(format!("the {what} of {device_path} are not within the file"));
        }
    }
    Some(PfVolume {
        device_path,
        serial: format!("{:08X}", entry.u32(16)?),
        created: time::utc(entry.u64(8)?),
        directories: directories.unwrap_or_default(),
        references: references.unwrap_or_default(),
    })
}

fn references(part: PfFields, entry: PfFields, budget: &mut PfBudget) -> Option<Vec<PfReference>> {
    let (at, bytes) = (entry.size(20)?, entry.size(24)?);
    if bytes == 0 {
        return Some(Vec::new());
    }
    budget.take(bytes)?;
    let part = part.part(at, bytes)?;
    let count = part.size(4)?;
    let unused = if part.u32(0)? == OLD_REFERENCES_VERSION { 0 } else { 8 };
    let list = part.from((REFERENCES + unused).min(bytes))?;
    let list = list.0.as_chunks::<8>().0.iter().take(count);
    Some(list.filter_map(|bytes| reference(u64::from_le_bytes(*bytes))).collect())
}

/// A reference to a file of an NTFS volume; 0 is none.
pub(super) fn reference(value: u64) -> Option<PfReference> {
    let entry = value & 0xffff_ffff_ffff;
    (value != 0).then_some(PfReference { entry, sequence: (value >> 48) as u16 })
}

fn directories(part: PfFields, entry: PfFields, budget: &mut PfBudget) -> Option<Vec<String>> {
    let (mut at, count) = (entry.size(28)?, entry.size(32)?);
    let mut directories = Vec::new();
    for _ in 0..count {
        let characters = usize::from(part.u16(at)?);
        // The length, the characters, and a NUL.
        let bytes = 2 + 2 * (characters + 1);
        budget.take(bytes)?;
        directories.push(part.text(at + 2, characters)?);
        at = at.checked_add(bytes)?;
    }
    Some(directories)
}
