//! What is in the files that a bundle is made of, and the bundle's build-id, which follows from it.

use crate::error::BundleError;
use crate::tables::{BUILD_ID_BYTES, BUILD_ID_NOTE};
use loader::{Graph, Module};
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const CHUNK: usize = 1 << 20;

/// A file's content, as far as it is told from others by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// Size of the file.
    pub(crate) bytes: u64,
    /// SHA-256 of the file, in hexadecimal.
    pub(crate) sha256: String,
}

impl Content {
    /// Reads a regular file, links followed, as long as it is now.
    pub(crate) fn read(path: &Path) -> io::Result<Content> {
        // Opening a pipe would wait for its other end, and devices have none.
        let length = path.metadata().map(|data| data.is_file().then_some(data.len()))?;
        let length = length.ok_or_else(|| io::Error::other("it is not a regular file"))?;
        let file = File::open(path)?;
        let mut content = Reading { hash: Sha256::new(), buffer: vec![0; CHUNK], bytes: 0 };
        for data in files::data(&file, length)? {
            content.zeros(data.start);
            if !content.data(&file, data.end)? {
                // It has become shorter meanwhile.
                return Ok(content.done());
            }
        }
        content.zeros(length);
        Ok(content.done())
    }

    /// That of these bytes.
    pub(crate) fn of(bytes: &[u8]) -> Content {
        Content { bytes: bytes.len() as u64, sha256: hash(bytes) }
    }

    /// Those of all modules, as they are now.
    pub(crate) fn of_modules(modules: &[Module]) -> Result<Vec<Content>, BundleError> {
        let contents = modules.par_iter().map(|module| {
            Content::read(&module.path).map_err(|error| BundleError::io(&module.path, error))
        });
        contents.collect()
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file that is read from its beginning. Of one with holes they are the most, and are not read.
struct Reading {
    hash: Sha256,
    buffer: Vec<u8>,
    bytes: u64,
}

impl Reading {
    /// Up to `end` there is a hole.
    fn zeros(&mut self, end: u64) {
        if self.bytes >= end {
            return;
        }
        self.buffer.fill(0);
        while self.bytes < end {
            let size = (end - self.bytes).min(CHUNK as u64);
            self.hash.update(self.buffer.get(..size as usize).unwrap_or_default());
            self.bytes += size;
        }
    }

    /// Up to `end` there is data; `false` where the file ends before that.
    fn data(&mut self, file: &File, end: u64) -> io::Result<bool> {
        while self.bytes < end {
            let size = (end - self.bytes).min(CHUNK as u64) as usize;
            let count =
                file.read_at(self.buffer.get_mut(..size).unwrap_or_default(), self.bytes)?;
            if count == 0 {
                return Ok(false);
            }
            self.hash.update(self.buffer.get(..count).unwrap_or_default());
            self.bytes += count as u64;
        }
        Ok(true)
    }

    fn done(self) -> Content {
        Content { bytes: self.bytes, sha256: hex(&self.hash.finalize()) }
    }
}

/// SHA-256 in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The note NT_GNU_BUILD_ID: another than the program's, as the file is another one, and another
/// for each set of files and kind of bundle.
pub(crate) fn build_id(graph: &Graph, contents: &[Content], fixed: bool) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(if fixed { "headstart bundle, fixed" } else { "headstart bundle" });
    for (module, content) in graph.modules.iter().zip(contents) {
        hash.update(module.path.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(&content.sha256);
    }
    note_of(&hash.finalize())
}

/// The same for a file that this text tells from all others.
pub(crate) fn build_id_of(text: &[u8]) -> Vec<u8> {
    note_of(&Sha256::digest(text))
}

fn note_of(id: &[u8]) -> Vec<u8> {
    let mut note = Vec::with_capacity(BUILD_ID_NOTE);
    for word in [4, BUILD_ID_BYTES as u32, 3] {
        note.extend_from_slice(&word.to_le_bytes());
    }
    note.extend_from_slice(b"GNU\0");
    note.extend_from_slice(&id[..BUILD_ID_BYTES]);
    note
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // Here a panic is a failed test.

    use super::*;

    /// Bytes that this thread has read so far, as the kernel counts them.
    fn read_so_far() -> u64 {
        let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        text.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
    }

    #[test]
    fn holes_count_as_zeros_and_are_not_read() {
        const LENGTH: u64 = 64 << 20;
        let folder = tempfile::tempdir().unwrap();
        let (sparse, dense) = (folder.path().join("sparse"), folder.path().join("dense"));
        let file = File::create(&sparse).unwrap();
        file.set_len(LENGTH).unwrap();
        let mut bytes = vec![0; LENGTH as usize];
        for at in [0, (5 << 20) + 3, (40 << 20) - 1] {
            file.write_all_at(b"some data", at as u64).unwrap();
            bytes[at..at + 9].copy_from_slice(b"some data");
        }
        drop(file);
        std::fs::write(&dense, &bytes).unwrap();
        let before = read_so_far();
        let content = Content::read(&sparse).unwrap();
        let read = read_so_far() - before;
        assert_eq!(content, Content::read(&dense).unwrap());
        assert_eq!((content.bytes, content.sha256), (LENGTH, hash(&bytes)));
        if files::data(&File::open(&sparse).unwrap(), LENGTH).unwrap().len() < 2 {
            return testkit::skip("this file system does not tell where the holes are");
        }
        assert!(read < LENGTH / 8, "{read}");
    }
}
