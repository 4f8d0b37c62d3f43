//! Why a file is no prefetch file that can be read.

use std::path::PathBuf;
use thiserror::Error;

/// Why bytes are no prefetch file.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PfProblem {
    /// They begin differently.
    #[error("it is no Windows prefetch file: neither SCCA nor MAM is where its signature would be")]
    OtherFile,
    /// Compressed like one, but with other content.
    #[error(
        "its content, which is compressed (MAM), is no prefetch file; SuperFetch's are so, too"
    )]
    OtherContent,
    /// Compressed in another way.
    #[error(
        "its content is compressed in the way {0}, which no version of Windows uses for prefetch files"
    )]
    Compression(u8),
    /// A version that is not known.
    #[error("it has version {0} of the format; versions 17, 23, 26, 30 and 31 are known")]
    Version(u32),
    /// The file or its content ends within the header.
    #[error("it is cut short: it ends within its header")]
    CutShort,
    /// Its compressed content is not what a compressor writes.
    #[error("its compressed content is damaged: {0}")]
    Damaged(&'static str),
    /// Larger than any.
    #[error("it is larger than any prefetch file, with {0} bytes")]
    TooLarge(u64),
}

/// Why a file has no facts.
#[derive(Debug, Error)]
pub enum PfError {
    /// It cannot be read.
    #[error("{}: {}", path.display(), files::reasons::unread(path, source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is none, or not one that can be read.
    #[error("{}: {source}; copy it again from the Prefetch folder of Windows", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: PfProblem,
    },
}
