//! Text, by its first bytes.

use model::{FileKind, Identity};

/// What is known of a text; `None` where the bytes are none. `whole`: nothing follows them.
pub(super) fn identify(start: &[u8], whole: bool) -> Option<Identity> {
    let detail = encoding(start, whole)?.to_owned();
    Some(Identity { kind: FileKind::Text, detail, ..Identity::default() })
}

/// Whether the bytes can be those of a text.
pub(super) fn is_text(start: &[u8]) -> bool {
    encoding(start, false).is_some()
}

fn encoding(start: &[u8], whole: bool) -> Option<&'static str> {
    match start {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => return Some("UTF-32"),
        [0xff, 0xfe, ..] => return Some("UTF-16, little-endian"),
        [0xfe, 0xff, ..] => return Some("UTF-16, big-endian"),
        _ => {}
    }
    if start.iter().any(|&byte| is_binary(byte)) {
        return None;
    }
    if start.is_ascii() {
        return Some("ASCII");
    }
    match std::str::from_utf8(start) {
        Ok(_) => Some("UTF-8"),
        // The last character may be cut by the end of what was read.
        Err(error) if error.error_len().is_none() && !whole => Some("UTF-8"),
        Err(_) => Some("in another character set"),
    }
}

/// Control characters that no text has: all but those for bells, tabs, lines, pages and colors.
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=6 | 14..=26 | 28..=31 | 127)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings() {
        assert_eq!(encoding(b"a\tb\r\n\x1b[1m", true), Some("ASCII"));
        assert_eq!(encoding("grün".as_bytes(), true), Some("UTF-8"));
        assert_eq!(encoding(b"gr\xfcn", true), Some("in another character set"));
        assert_eq!(encoding(b"gr\xc3", false), Some("UTF-8"));
        assert_eq!(encoding(b"gr\xc3", true), Some("in another character set"));
        assert_eq!(encoding(b"gr\x81\x02", true), None);
        assert_eq!(encoding(b"a\0b", true), None);
        assert_eq!(encoding(b"\xff\xfea\0", true), Some("UTF-16, little-endian"));
        assert_eq!(encoding(b"\xfe\xff\0a", true), Some("UTF-16, big-endian"));
    }
}
