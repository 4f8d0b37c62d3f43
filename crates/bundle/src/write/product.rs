//! A file that headstart made: what is in it, so that it can be told from any other.
//!
//! It is hashed in pieces, by several threads; a new base changes some of them only.

use crate::write::content;
use model::bundle::BundleProduct;
use rayon::prelude::*;
use std::fs::{File, Metadata};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

/// Size of the pieces.
const PIECE: u64 = 64 << 10;
/// Length of the hash of a piece.
const HASH: usize = 64;

/// Reads a file, which must be a regular one and no link.
pub(crate) fn of(path: &Path) -> io::Result<BundleProduct> {
    let (file, data) = regular(path)?;
    let sha256 = (0..pieces(data.len())).into_par_iter().map(|index| hash(&file, index));
    described(&data, sha256.collect::<io::Result<Vec<_>>>()?.concat())
}

/// The same for a file with the content of `base` but for these ranges; only they are read.
pub(crate) fn changed(
    path: &Path,
    base: &BundleProduct,
    ranges: &[Range<u64>],
) -> io::Result<BundleProduct> {
    let (file, data) = regular(path)?;
    let is_whole =
        base.sha256.is_ascii() && base.sha256.len() as u64 == pieces(data.len()) * HASH as u64;
    if !is_whole || base.piece_bytes != PIECE || base.bytes != data.len() {
        return of(path);
    }
    let pieces: std::collections::BTreeSet<u64> = ranges
        .iter()
        .flat_map(|range| range.start / PIECE..range.end.div_ceil(PIECE))
        .filter(|piece| *piece < pieces(data.len()))
        .collect();
    let pieces: Vec<u64> = pieces.into_iter().collect();
    let hashes: Vec<String> =
        pieces.par_iter().map(|&index| hash(&file, index)).collect::<io::Result<_>>()?;
    let mut sha256 = base.sha256.clone();
    for (&piece, hash) in pieces.iter().zip(hashes) {
        let at = piece as usize * HASH;
        sha256.replace_range(at..at + HASH, &hash);
    }
    described(&data, sha256)
}

/// Whether both have the same content.
pub(crate) fn same(one: &BundleProduct, other: &BundleProduct) -> bool {
    (one.bytes, one.piece_bytes, &one.sha256) == (other.bytes, other.piece_bytes, &other.sha256)
}

/// Whether the file is this one, by what stat(2) says or else by its content. Who changes it and
/// puts its time of modification back has changed its ctime.
pub(crate) fn is(path: &Path, product: &BundleProduct) -> bool {
    let Ok(data) = path.symlink_metadata() else { return false };
    if !data.is_file() || data.len() != product.bytes {
        return false;
    }
    let untouched = is_version(&data, product)
        && product.changed_ns.is_some_and(|at| attributes_changed(&data) == Some(at));
    untouched || of(path).is_ok_and(|now| same(&now, product))
}

/// The product with the ctime that its file has now that it has its name.
pub(crate) fn with_change_time(path: &Path, product: BundleProduct) -> BundleProduct {
    let data = path.symlink_metadata().ok().filter(|data| is_version(data, &product));
    BundleProduct { changed_ns: data.as_ref().and_then(attributes_changed), ..product }
}

/// By what was known of it before it got its name.
fn is_version(data: &Metadata, product: &BundleProduct) -> bool {
    (data.ino(), modified(data)) == (product.inode, Some(product.modified_ns))
}

/// How the file now differs from the one that was made; `None` where it does not.
pub(crate) fn difference(now: &BundleProduct, made: &BundleProduct) -> Option<String> {
    if now.bytes != made.bytes {
        let (now, made) = (now.bytes, made.bytes);
        return Some(format!("it has {now} bytes, and {made} were written"));
    }
    if now.piece_bytes != made.piece_bytes || now.sha256.len() != made.sha256.len() {
        return Some("another version of headstart made it".to_owned());
    }
    let mut both = now.sha256.bytes().zip(made.sha256.bytes());
    let piece = both.position(|(now, made)| now != made).map(|digit| digit / HASH);
    if let Some(piece) = piece {
        let first = piece as u64 * PIECE;
        let last = (first + PIECE).min(now.bytes);
        return Some(format!("its content is different, first in bytes {first} to {last}"));
    }
    (made.executable && !now.executable)
        .then(|| "it is no longer executable; fix that with chmod +x".to_owned())
}

fn described(data: &Metadata, sha256: String) -> io::Result<BundleProduct> {
    let modified_ns = modified(data).ok_or_else(|| io::Error::other("its time is out of range"))?;
    Ok(BundleProduct {
        bytes: data.len(),
        executable: data.mode() & 0o100 != 0,
        inode: data.ino(),
        modified_ns,
        changed_ns: None,
        piece_bytes: PIECE,
        sha256,
    })
}

fn regular(path: &Path) -> io::Result<(File, Metadata)> {
    let data = path.symlink_metadata()?;
    if !data.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let file = File::open(path)?;
    let data = file.metadata()?;
    Ok((file, data))
}

fn modified(data: &Metadata) -> Option<i64> {
    data.mtime().checked_mul(1_000_000_000)?.checked_add(data.mtime_nsec())
}

fn attributes_changed(data: &Metadata) -> Option<i64> {
    data.ctime().checked_mul(1_000_000_000)?.checked_add(data.ctime_nsec())
}

fn pieces(bytes: u64) -> u64 {
    bytes.div_ceil(PIECE)
}

fn hash(file: &File, index: u64) -> io::Result<String> {
    let mut buffer = vec![0; PIECE as usize];
    let mut filled = 0;
    loop {
        let room = buffer.get_mut(filled..).unwrap_or(&mut []);
        match file.read_at(room, index * PIECE + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(content::hash(buffer.get(..filled).unwrap_or(&[])))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;

    fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        file
    }

    #[test]
    fn what_is_changed_is_hashed_anew_and_nothing_else() {
        for length in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 7] {
            let mut bytes = vec![7; length as usize];
            let made = file(&bytes);
            let before = of(made.path()).unwrap();
            assert_eq!((before.sha256.len() / HASH) as u64, length.div_ceil(PIECE));
            let Some(last) = bytes.last_mut() else { continue };
            *last = 8;
            std::fs::write(made.path(), &bytes).unwrap();
            let after = of(made.path()).unwrap();
            assert!(!same(&before, &after) && difference(&after, &before).is_some());
            let range = length - 1..length;
            assert!(same(&changed(made.path(), &before, &[range]).unwrap(), &after));
            assert!(same(&changed(made.path(), &before, &[]).unwrap(), &before));
        }
    }

    #[test]
    fn a_file_is_told_from_others() {
        let made = file(b"made by headstart");
        let product = of(made.path()).unwrap();
        assert!(is(made.path(), &product));
        assert!(is(file(b"made by headstart").path(), &product));
        assert!(!is(file(b"made by somebody!").path(), &product));
        assert!(!is(file(b"").path(), &product));
        let folder = tempfile::tempdir().unwrap();
        assert!(!is(folder.path(), &product) && of(folder.path()).is_err());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(made.path(), &link).unwrap();
        assert!(!is(&link, &product) && of(&link).is_err());
        assert!(!is(Path::new("/dev/zero"), &product) && of(Path::new("/dev/zero")).is_err());
    }
}
