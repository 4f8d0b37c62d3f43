//! Windows' prefetch files for tests: a writer of every version, and a compressor for those of
//! Windows 10 and 11.

mod sample;
mod xpress;

pub use sample::{PfForm, PfSample, PfSampleFile, PfSampleVolume};
pub use xpress::{Codes, compress};

/// A MAM file of `content`: as Windows 10 and 11 keep prefetch files.
pub fn mam(content: &[u8], codes: Codes) -> Vec<u8> {
    let mut bytes = b"MAM\x04".to_vec();
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(compress(content, codes));
    bytes
}
