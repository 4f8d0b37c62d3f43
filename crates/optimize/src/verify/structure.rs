//! Files that a loader can map, and everything that they need.

use super::{Flaw, wrong};
use crate::Built;
use image::elf::Loadable;
use image::elf::records::ProgramHeader;
use loader::{Environment, Graph};
use model::FileOffset;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The smallest page; that of x86-64 and of most others.
const PAGE: u64 = 4096;
const MAGIC: &[u8] = b"\x7fELF";

/// Looks at every image in `folder`, and at what the loader would map for the program.
pub(super) fn check(
    environment: &Environment,
    built: &Built,
    folder: &Path,
) -> Result<Graph, Flaw> {
    let inside = |path: &Path| path.canonicalize().is_ok_and(|path| path.starts_with(folder));
    if !inside(&built.run) {
        return Err(wrong(format!("{} was not built", built.run.display())));
    }
    let mode = fs::metadata(&built.run).map_or(0, |data| data.permissions().mode());
    if mode & 0o111 == 0 {
        return Err(wrong(format!("{} is not executable", built.run.display())));
    }
    for file in files(folder) {
        if is_elf(&file) {
            let name = file.strip_prefix(folder).unwrap_or(&file).display().to_string();
            image(&file).map_err(|reason| wrong(format!("{name}: {reason}")))?;
        }
    }
    loader::load(&built.run, environment).map_err(|error| wrong(error.to_string()))
}

/// All regular files below a folder, links not followed.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files
}

fn is_elf(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == MAGIC
}

fn image(path: &Path) -> Result<(), String> {
    let facts = image::elf::facts(path).map_err(|error| error.to_string())?;
    if let Some(problem) = facts.problems.first() {
        return Err(problem.clone());
    }
    let image = Loadable::open(path).map_err(|error| error.to_string())?;
    loads(image.segments(), FileOffset::at(image.bytes().len()))
}

/// PT_LOAD segments in ascending order, apart from each other, within the file, and where the
/// kernel can map them (gABI, "Program Header": address and offset are congruent).
fn loads(segments: &[ProgramHeader], file_bytes: FileOffset) -> Result<(), String> {
    let mut before: Option<&ProgramHeader> = None;
    for segment in segments.iter().filter(|segment| segment.loads()) {
        let at = segment.address;
        if let Some(before) = before {
            if at < before.address {
                return Err(format!("the segment at {at:#x} is out of order"));
            }
            if at < before.end() {
                return Err(format!("the segment at {at:#x} overlaps the previous one"));
            }
        }
        if segment.file_size > segment.memory_size {
            return Err(format!("the segment at {at:#x} is smaller in memory than in the file"));
        }
        if segment.offset.checked_add(segment.file_size).is_none_or(|end| end > file_bytes) {
            return Err(format!("the segment at {at:#x} extends past the end of the file"));
        }
        if segment.offset.0 % PAGE != at.0 % PAGE {
            return Err(format!("the segment at {at:#x} cannot be mapped from its offset"));
        }
        before = Some(segment);
    }
    match before {
        Some(_) => Ok(()),
        None => Err("it has no segment to load".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(offset: u64, address: u64, size: u64) -> ProgramHeader {
        ProgramHeader {
            kind: image::elf::spec::PT_LOAD,
            flags: image::elf::spec::PF_R,
            offset: FileOffset(offset),
            address: model::Va(address),
            file_size: size,
            memory_size: size,
            alignment: PAGE,
            ..ProgramHeader::default()
        }
    }

    #[test]
    fn segments_have_an_order() {
        let (one, two) = (load(0, 0, 0x800), load(0x1000, 0x1000, 0x10));
        assert_eq!(loads(&[one, two], FileOffset(0x1010)), Ok(()));
        for (segments, bytes, reason) in [
            (vec![two, one], 0x1010, "out of order"),
            (vec![load(0, 0, 0x1001), two], 0x1010, "overlaps"),
            (vec![one, two], 0x100f, "past the end of the file"),
            (vec![load(u64::MAX, 0xfff, 1)], 0x100f, "past the end of the file"),
            (vec![load(0x10, 0, 0x10)], 0x1010, "cannot be mapped"),
            (vec![ProgramHeader { memory_size: 1, ..one }], 0x1010, "smaller in memory"),
            (vec![], 0x1010, "it has no segment"),
        ] {
            let found = loads(&segments, FileOffset(bytes)).unwrap_err();
            assert!(found.contains(reason), "{found}");
        }
    }
}
