//! What is in a file, in a few characters.

use crate::ProgramError;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;

const PIECE: usize = 1 << 20;

/// SHA-256 of a file in hexadecimal.
pub(crate) fn of(path: &Path) -> Result<String, ProgramError> {
    let mut file = File::open(path).map_err(ProgramError::io(path))?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; PIECE]);
    loop {
        match file.read(&mut buffer).map_err(ProgramError::io(path))? {
            0 => return Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            size => hash.update(buffer.get(..size).unwrap_or_default()),
        }
    }
}
