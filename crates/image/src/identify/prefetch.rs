//! Windows' prefetch files: by whom they were written, and for which program.

use super::fields::Fields;
use model::{FileKind, Identity};

/// What is said of a file whose content is compressed: only that could tell what it is.
pub const COMPRESSED: &str = "prefetch file or database of SuperFetch, compressed (MAM)";
/// The program's name: 30 characters of UTF-16, with a NUL at the end.
const NAME: usize = 16;
const NAME_CHARACTERS: usize = 30;

/// What is known of a prefetch file; `None` for others.
pub(super) fn identify(start: &[u8]) -> Option<Identity> {
    if start.starts_with(b"MAM\x04") || start.starts_with(b"MAM\x84") {
        let detail = COMPRESSED.to_owned();
        return Some(Identity { kind: FileKind::Archive, detail, ..Identity::default() });
    }
    let fields = Fields::little(start);
    if start.get(4..8)? != b"SCCA" {
        return None;
    }
    let windows = match fields.u32(0)? {
        17 => "Windows XP or Server 2003",
        23 => "Windows Vista or 7",
        26 => "Windows 8",
        30 => "Windows 10",
        31 => "Windows 11",
        _ => "an unknown version of Windows",
    };
    let units = (0..NAME_CHARACTERS).map_while(|at| fields.u16(NAME + 2 * at));
    let units: Vec<u16> = units.take_while(|unit| *unit != 0).collect();
    let name = String::from_utf16_lossy(&units);
    let detail = format!("launches of {name}, recorded by {windows}");
    Some(Identity { kind: FileKind::Prefetch, detail, ..Identity::default() })
}
