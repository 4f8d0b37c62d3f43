//! Files that no result replaces, as they are no text.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// So many bytes tell whether a file is text.
const LOOKED_AT: u64 = 64 * 1024;
/// Archives of objects may begin with nothing but text.
const ARCHIVES: [&[u8]; 2] = [b"!<arch>\n", b"!<thin>\n"];

/// Whether a file is there that no command writes: all results are text.
///
/// # Errors
/// It cannot be read, so nobody knows.
pub fn is_no_text(path: &Path) -> io::Result<bool> {
    if !path.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut start)?;
    let is_archive = ARCHIVES.iter().any(|magic| start.starts_with(magic));
    Ok(is_archive || start.contains(&0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_text_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        for (content, is_other) in [
            (&b"\x7fELF\x02\x01\x01\0"[..], true),
            (b"MZ\x90\0", true),
            (b"!<arch>\nlib/", true),
            (b"MZ_initialize\nmain\n", false),
            (b"caf\xe9.dll, Baseaddress: 0x1000\n", false),
            (b"", false),
        ] {
            fs::write(&file, content).unwrap();
            assert_eq!(is_no_text(&file).unwrap(), is_other, "{}", content.escape_ascii());
        }
        assert!(!is_no_text(&folder.path().join("gone")).unwrap());
    }
}
