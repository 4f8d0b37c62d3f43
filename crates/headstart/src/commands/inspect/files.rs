//! Which files are inspected: those named, and the images in folders.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Why a file or folder is left out.
pub type Errors = Vec<(PathBuf, String)>;

/// Files as they were named, and for each folder the images below it in order of their names.
pub fn all(named: &[PathBuf], errors: &mut Errors) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in named {
        if path.is_dir() {
            walk(path, &mut files, errors);
        } else {
            files.push(path.clone());
        }
    }
    files
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>, errors: &mut Errors) {
    let mut failed = |path: &Path, error: std::io::Error| {
        errors.push((path.to_owned(), format!("{}: {error}; skipped", path.display())));
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) => return failed(folder, error),
    };
    let mut paths = Vec::new();
    for entry in entries {
        match entry.and_then(|entry| Ok((entry.path(), entry.file_type()?))) {
            Ok(found) => paths.push(found),
            Err(error) => failed(folder, error),
        }
    }
    paths.sort_by(|a, b| a.0.cmp(&b.0));
    for (path, kind) in paths {
        if kind.is_dir() {
            walk(&path, files, errors);
        } else if kind.is_file() {
            match begins_as_image(&path) {
                Ok(true) => files.push(path),
                Ok(false) => {}
                Err(error) => {
                    errors.push((path.clone(), format!("{}: {error}; skipped", path.display())));
                }
            }
        }
    }
}

/// Bytes of the header of DOS, whose last four say where that of PE is.
const DOS: usize = 64;

/// ELF or PE. Programs for DOS, which begin as PE files do, are none.
fn begins_as_image(path: &Path) -> std::io::Result<bool> {
    let mut start = Vec::new();
    let mut file = File::open(path)?;
    Read::by_ref(&mut file).take(DOS as u64).read_to_end(&mut start)?;
    let offset = start.get(DOS - 4..).and_then(|end| end.first_chunk());
    let (true, Some(offset)) = (image::is_pe(&start), offset) else {
        return Ok(image::is_elf(&start));
    };
    let mut signature = Vec::new();
    file.seek(SeekFrom::Start(u32::from_le_bytes(*offset).into()))?;
    file.take(4).read_to_end(&mut signature)?;
    Ok(signature == b"PE\0\0")
}
