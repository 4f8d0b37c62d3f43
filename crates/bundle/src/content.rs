//! What is in the files that a bundle is made of, and the bundle's build-id, which follows from it.

use crate::error::BundleError;
use loader::Graph;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read};
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
        let mut file = File::open(path)?.take(length);
        let mut hash = Sha256::new();
        let mut buffer = vec![0; CHUNK];
        let mut bytes = 0;
        loop {
            let count = file.read(&mut buffer)?;
            let Some(read) = buffer.get(..count).filter(|read| !read.is_empty()) else { break };
            hash.update(read);
            bytes += count as u64;
        }
        Ok(Content { bytes, sha256: hex(&hash.finalize()) })
    }

    /// Those of all modules, as they are now.
    pub(crate) fn of_modules(graph: &Graph) -> Result<Vec<Content>, BundleError> {
        let modules = graph.modules.par_iter();
        let contents = modules.map(|module| {
            Content::read(&module.path).map_err(|error| BundleError::io(&module.path, error))
        });
        contents.collect()
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 in hexadecimal.
pub(crate) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// NT_GNU_BUILD_ID: another than the program's, as the file is another one, and another for each
/// set of files and kind of bundle.
pub(crate) fn build_id(graph: &Graph, contents: &[Content], fixed: bool) -> Vec<u8> {
    let mut hash = Sha256::new();
    hash.update(if fixed { "headstart bundle, fixed" } else { "headstart bundle" });
    for (module, content) in graph.modules.iter().zip(contents) {
        hash.update(module.path.as_os_str().as_encoded_bytes());
        hash.update([0]);
        hash.update(&content.sha256);
    }
    let id = hash.finalize();
    let mut note = Vec::new();
    for word in [4_u32, 20, 3] {
        note.extend_from_slice(&word.to_le_bytes());
    }
    note.extend_from_slice(b"GNU\0");
    note.extend_from_slice(id.get(..20).unwrap_or(&[]));
    note
}
