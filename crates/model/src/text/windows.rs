//! Names are UTF-16, in which surrogates may be unpaired.

use super::character_of;
use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt;

/// The name of these bytes, as they stand in a file or in [`std::ffi::OsStr::as_encoded_bytes`]. A byte
/// that is no part of a character becomes the private character by which text stands for it.
pub fn of_bytes(bytes: Vec<u8>) -> OsString {
    let mut wide = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some(chunk) = rest.utf8_chunks().next() {
        wide.extend(chunk.valid().encode_utf16());
        rest = rest.get(chunk.valid().len()..).unwrap_or_default();
        match *rest {
            // WTF-8: the encoding of an unpaired surrogate, as the standard library writes it.
            [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] => {
                let low = u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f);
                wide.push(0xd000 | low);
                rest = rest.get(3..).unwrap_or_default();
            }
            [byte, ..] => {
                wide.extend(character_of(byte).encode_utf16(&mut [0; 2]).iter());
                rest = rest.get(1..).unwrap_or_default();
            }
            [] => {}
        }
    }
    OsString::from_wide(&wide)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_comes_back_as_it_was() {
        let surrogate: Vec<u16> = "a\u{e9}".encode_utf16().chain([0xd800, 0x62, 0xdfff]).collect();
        for name in
            [OsString::from("C:\\caf\u{e9}\\\u{1f600}.dll"), OsString::from_wide(&surrogate)]
        {
            assert_eq!(of_bytes(name.as_encoded_bytes().to_vec()), name);
        }
        assert_eq!(of_bytes(b"x\xff".to_vec()), OsString::from("x\u{efff}"));
    }
}
