//! Files for other machines than processors, and what is no file at all.

use model::{FileKind, Identity};
use std::fs::FileType;

/// First bytes of files that are often among programs, and what they say.
const MAGIC: [(&[u8], &str); 16] = [
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF8", "GIF image"),
    (b"%PDF-", "PDF document"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\0\x01\0\0\0", "TrueType font"),
    (b"OTTO", "OpenType font"),
    (b"wOFF", "web font"),
    (b"wOF2", "web font"),
    (b"\xde\x12\x04\x95", "gettext translations"),
    (b"\x95\x04\x12\xde", "gettext translations"),
    (b"Microsoft C/C++ MSF 7.00\r\n", "Windows debug information (PDB)"),
    (b"BSJB", ".NET debug information (portable PDB)"),
    (b"RIFF", "audio or video (RIFF)"),
    (b"\0\0\x01\0", "Windows icon"),
    (b"\x1bLua", "Lua byte code"),
];

/// WebAssembly. *WebAssembly Core Specification*, *Modules*.
pub(super) fn wasm(start: &[u8]) -> Option<Identity> {
    let rest = start.strip_prefix(b"\0asm")?;
    let detail = match rest.get(..4) {
        Some([1, 0, 0, 0]) => "module".to_owned(),
        Some([_, 0, 1, 0]) => "component".to_owned(),
        Some(version) => format!("of the unknown version {:02x?}", version),
        None => "cut short within its header".to_owned(),
    };
    Some(Identity { kind: FileKind::Wasm, detail, ..Identity::default() })
}

/// LLVM bitcode, also in the wrapper that Apple's tools put around it.
pub(super) fn bitcode(start: &[u8]) -> Option<Identity> {
    let detail = if start.starts_with(b"BC\xc0\xde") {
        "LLVM bitcode"
    } else if start.starts_with(b"\xde\xc0\x17\x0b") {
        "LLVM bitcode in a wrapper"
    } else {
        return None;
    };
    Some(Identity { kind: FileKind::LlvmBitcode, detail: detail.to_owned(), ..Identity::default() })
}

const PYTHON: (&[u8], &str) = (b"", "Python byte code");

/// Python counts its versions up in the first two bytes, and ends them like a line.
fn is_python(start: &[u8]) -> bool {
    matches!(start, [_, 0x0b..=0x0f, b'\r', b'\n', ..])
}

/// What else the first bytes say, or which they are.
pub(super) fn identify(start: &[u8]) -> Identity {
    let known = MAGIC.iter().find(|(magic, _)| start.starts_with(magic));
    let known = known.or(is_python(start).then_some(&PYTHON));
    let detail = match known {
        Some((_, detail)) => (*detail).to_owned(),
        None => {
            let bytes: Vec<String> =
                start.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            format!("data, begins with {}", bytes.join(" "))
        }
    };
    Identity { detail, ..Identity::default() }
}

/// What is never opened: to open a pipe can wait, and to open a device can act.
pub(super) fn special(found: FileType) -> Identity {
    Identity { detail: files::kind_name(found).to_owned(), ..Identity::default() }
}
