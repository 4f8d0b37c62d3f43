//! Archives and compressed files, by their first bytes.

use super::fields::Fields;
use super::text;
use model::{FileKind, Identity};

/// First bytes, and what they say.
const MAGIC: [(&[u8], &str); 19] = [
    (b"\x1f\x8b", "compressed by gzip"),
    (b"\xfd7zXZ\0", "compressed by xz"),
    (b"\x28\xb5\x2f\xfd", "compressed by Zstandard"),
    (b"BZh", "compressed by bzip2"),
    (b"\x04\x22\x4d\x18", "compressed by lz4"),
    (b"LZIP", "compressed by lzip"),
    (b"\x1f\x9d", "compressed by compress"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"Rar!\x1a\x07", "RAR"),
    (b"MSCF\0\0\0\0", "Windows cabinet"),
    (b"\xed\xab\xee\xdb", "RPM package"),
    (b"070701", "cpio"),
    (b"070702", "cpio"),
    (b"070707", "cpio"),
    (b"JM\x01\0PK\x03\x04", "Java module (jmod)"),
    (b"hsqs", "squashfs file system"),
    (b"xar!", "xar"),
    (b"ITSF\x03\0\0\0", "compiled Windows help"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Windows compound file (msi, doc)"),
];
/// Bytes of the magic number and of a member's header in an ar archive.
const AR_MAGIC: usize = 8;
const AR_HEADER: usize = 60;
/// Where a tar header has its magic number.
const TAR_MAGIC: usize = 257;

/// What is known of an archive; `None` for others.
pub(super) fn identify(start: &[u8]) -> Option<Identity> {
    let detail = ar(start).or_else(|| zip(start)).or_else(|| tar(start)).or_else(|| {
        let (_, detail) = MAGIC.iter().find(|(magic, _)| start.starts_with(magic))?;
        // Some are letters, with which a text may begin as well.
        (!text::is_text(start)).then_some(*detail)
    })?;
    Some(Identity { kind: FileKind::Archive, detail: detail.to_owned(), ..Identity::default() })
}

/// Static libraries, and Debian packages. ar(5).
fn ar(start: &[u8]) -> Option<&'static str> {
    if start.starts_with(b"!<thin>\n") {
        return Some("thin static library");
    }
    if !start.starts_with(b"!<arch>\n") {
        return None;
    }
    let first = start.get(AR_MAGIC..AR_MAGIC + AR_HEADER).unwrap_or_default();
    Some(if first.starts_with(b"debian-binary") {
        "Debian package"
    } else if first.is_empty() {
        "ar archive"
    } else if second_index(start, first) {
        "Windows static or import library"
    } else if [&b"/ "[..], b"/SYM64/", b"__.SYMDEF"].iter().any(|name| first.starts_with(name)) {
        "static library"
    } else {
        "ar archive"
    })
}

/// Libraries for Windows have a second index of symbols. *PE Format*, *Archive File Format*.
fn second_index(start: &[u8], first: &[u8]) -> bool {
    let digits = first.get(48..58).and_then(|digits| std::str::from_utf8(digits).ok());
    let bytes = digits.and_then(|digits| digits.trim_end().parse::<usize>().ok());
    let second = bytes.and_then(|bytes| {
        let at = AR_MAGIC + AR_HEADER + bytes.checked_next_multiple_of(2)?;
        start.get(at..)
    });
    first.starts_with(b"/ ") && second.is_some_and(|second| second.starts_with(b"/ "))
}

/// PKWARE's APPNOTE, 4.3.7. Java's tools put the manifest first, and mark the first entry.
fn zip(start: &[u8]) -> Option<&'static str> {
    if start.starts_with(b"PK\x05\x06") {
        return Some("zip, empty");
    }
    if !start.starts_with(b"PK\x03\x04") {
        return None;
    }
    let fields = Fields::little(start);
    let name_bytes = usize::from(fields.u16(26).unwrap_or(0));
    let extra_bytes = fields.u16(28).unwrap_or(0);
    let name = start.get(30..30 + name_bytes).unwrap_or_default();
    let is_marked = extra_bytes >= 4 && fields.u16(30 + name_bytes) == Some(0xcafe);
    Some(if is_marked || name.starts_with(b"META-INF/") {
        "jar"
    } else if name == b"mimetype" {
        "zip, a document"
    } else {
        "zip"
    })
}

/// tar(5): the magic number, or the check sum where there is none.
fn tar(start: &[u8]) -> Option<&'static str> {
    if start.get(TAR_MAGIC..TAR_MAGIC + 5) == Some(b"ustar") {
        return Some("tar");
    }
    let header = start.get(..512)?;
    let digits = std::str::from_utf8(&header[148..154]).ok()?.trim_matches([' ', '\0']);
    let stored = u32::from_str_radix(digits, 8).ok()?;
    let summed =
        |(at, &byte): (usize, &u8)| u32::from(if (148..156).contains(&at) { b' ' } else { byte });
    let sum: u32 = header.iter().enumerate().map(summed).sum();
    (stored == sum && header[0] != 0).then_some("tar, of the first format")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(start: &[u8]) -> Option<String> {
        identify(start).map(|identity| identity.detail)
    }

    fn member(name: &str, bytes: usize) -> Vec<u8> {
        let header = format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{bytes:<10}`\n", 0, 0, 0, 644);
        assert_eq!(header.len(), AR_HEADER);
        [header.into_bytes(), vec![0; bytes.next_multiple_of(2)]].concat()
    }

    #[test]
    fn kinds_of_ar() {
        let ar = |members: &[Vec<u8>]| [&b"!<arch>\n"[..], &members.concat()].concat();
        let names = [
            (ar(&[]), "ar archive"),
            (ar(&[member("a.txt/", 3)]), "ar archive"),
            (ar(&[member("/", 3), member("a.o/", 2)]), "static library"),
            (ar(&[member("/SYM64/", 8)]), "static library"),
            (ar(&[member("__.SYMDEF", 8)]), "static library"),
            (ar(&[member("/", 3), member("/", 3)]), "Windows static or import library"),
            (ar(&[member("debian-binary", 4)]), "Debian package"),
            (b"!<thin>\n/".to_vec(), "thin static library"),
        ];
        for (bytes, name) in names {
            assert_eq!(detail(&bytes).as_deref(), Some(name));
            for length in 8..bytes.len() {
                assert!(detail(&bytes[..length]).is_some());
            }
        }
    }

    #[test]
    fn kinds_of_zip() {
        let zip = |name: &str, extra: &[u8]| {
            let mut bytes = b"PK\x03\x04".to_vec();
            bytes.resize(26, 0);
            bytes.extend((name.len() as u16).to_le_bytes());
            bytes.extend((extra.len() as u16).to_le_bytes());
            [&bytes, name.as_bytes(), extra].concat()
        };
        assert_eq!(detail(&zip("a", &[])).as_deref(), Some("zip"));
        assert_eq!(detail(&zip("META-INF/MANIFEST.MF", &[])).as_deref(), Some("jar"));
        assert_eq!(detail(&zip("a", &[0xfe, 0xca, 0, 0])).as_deref(), Some("jar"));
        assert_eq!(detail(&zip("mimetype", &[])).as_deref(), Some("zip, a document"));
        assert_eq!(detail(b"PK\x05\x06\0").as_deref(), Some("zip, empty"));
        assert_eq!(detail(b"PK\x03\x04").as_deref(), Some("zip"));
    }

    #[test]
    fn kinds_of_tar() {
        let mut bytes = vec![0; 512];
        bytes[0] = b'a';
        let sum = format!("{:06o}\0 ", u32::from(b'a') + 8 * 32);
        bytes[148..156].copy_from_slice(sum.as_bytes());
        assert_eq!(detail(&bytes).as_deref(), Some("tar, of the first format"));
        bytes[1] = b'b';
        assert_eq!(detail(&bytes), None);
        bytes[TAR_MAGIC..TAR_MAGIC + 5].copy_from_slice(b"ustar");
        assert_eq!(detail(&bytes).as_deref(), Some("tar"));
        assert_eq!(detail(&[0; 512]), None);
    }
}
