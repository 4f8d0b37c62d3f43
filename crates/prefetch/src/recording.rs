//! The file of a recording.
//!
//! 8 bytes `HSRECORD`, the version as a little-endian `u32`, the SHA-256 of what follows, the length of the
//! samples as a `u32`, the samples (the places of `AheadPlan::samples` with their files), and a
//! [`model::Recording`], both in postcard's encoding. The samples stand in front so that a launch
//! whose files are in memory reads no more than them. Nothing in a file is trusted: a recording that
//! breaks the rules of its type is damaged.

mod samples;
mod valid;

pub use samples::{MOST_SAMPLE_BYTES, read as samples};

use model::Recording;
use sha2::{Digest, Sha256};
use thiserror::Error;

pub(crate) const MAGIC: [u8; 8] = *b"HSRECORD";
const VERSION: u32 = 1;
const DIGEST: usize = 32;
/// Bytes of the length of the samples.
const SAMPLES: usize = 4;
const HEADER: usize = MAGIC.len() + 4 + DIGEST;
/// Larger files are none: chromium's has some 40 KiB.
pub const MOST_BYTES: u64 = 64 << 20;

/// Why a file is no recording that can be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum RecordingProblem {
    /// It begins differently.
    #[error("it is no recording of headstart")]
    OtherFile,
    /// Another version of headstart has made it.
    #[error("its version is {0}, and this headstart reads version {VERSION}: record it again")]
    Version(u32),
    /// It does not have the content that it was written with.
    #[error("it is damaged ({0}): record it again")]
    Damaged(String),
}

/// The bytes of its file.
pub fn write(recording: &Recording) -> Vec<u8> {
    // A vector grows, so only a type that postcard cannot encode could fail; a test encodes them all.
    let samples = samples::write(recording);
    let mut body = (samples.len() as u32).to_le_bytes().to_vec();
    body.extend(samples);
    body.extend(postcard::to_stdvec(recording).unwrap_or_default());
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(Sha256::digest(&body));
    bytes.extend(body);
    bytes
}

/// Reads the bytes of a file.
///
/// # Errors
/// Why they are no recording.
pub fn read(bytes: &[u8]) -> Result<Recording, RecordingProblem> {
    let damaged = |what: &str| RecordingProblem::Damaged(what.to_owned());
    let Parts { digest, samples, rest } = parts(bytes)?;
    if Sha256::digest(rest)[..] != *digest {
        return Err(damaged("its checksum is wrong"));
    }
    let body = rest
        .get(SAMPLES..)
        .and_then(|rest| rest.get(samples..))
        .ok_or(damaged("it is cut short"))?;
    let (recording, left) = postcard::take_from_bytes::<Recording>(body)
        .map_err(|error| RecordingProblem::Damaged(error.to_string()))?;
    if !left.is_empty() {
        return Err(damaged("there are bytes behind its end"));
    }
    valid::check(&recording).map_err(RecordingProblem::Damaged)?;
    Ok(recording)
}

struct Parts<'a> {
    digest: &'a [u8],
    /// Length of the samples.
    samples: usize,
    /// That length, the samples, and the recording.
    rest: &'a [u8],
}

fn parts(bytes: &[u8]) -> Result<Parts<'_>, RecordingProblem> {
    let short = || RecordingProblem::Damaged("it is cut short".to_owned());
    let rest = bytes.strip_prefix(&MAGIC).ok_or(RecordingProblem::OtherFile)?;
    let (version, rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(RecordingProblem::Version(version));
    }
    let (digest, rest) = rest.split_at_checked(DIGEST).ok_or_else(short)?;
    let (samples, _) = rest.split_first_chunk::<SAMPLES>().ok_or_else(short)?;
    let samples = u32::from_le_bytes(*samples) as usize;
    Ok(Parts { digest, samples, rest })
}

#[cfg(test)]
mod tests;
