//! Files that begin with MZ: DOS programs and what came after them, of which PE is one.

use super::fields::Fields;
use super::pe;
use super::source::{Missing, Source};
use super::text;
use model::{FileKind, Identity, Role};

/// Where a DOS header says where the newer header is (`e_lfanew`).
const NEWER_HEADER: usize = 0x3c;
/// Target system in an NE header.
const NE_SYSTEM: usize = 0x36;

pub(super) fn is_dos(start: &[u8]) -> bool {
    start.starts_with(b"MZ") && !text::is_text(start)
}

/// What is known of the file: by its newer header, where it has one.
pub(super) fn identify(source: &mut Source) -> Identity {
    let at = Fields::little(source.start()).u32(NEWER_HEADER).unwrap_or(0);
    let found = |kind, detail: &str| Identity {
        kind,
        detail: detail.to_owned(),
        role: Some(Role::Executable),
        ..Identity::default()
    };
    let header = match source.up_to(at.into(), 64) {
        Ok(header) => header,
        Err(Missing::Budget | Missing::End) => &[],
    };
    let system = header.get(NE_SYSTEM).copied();
    match header.get(..4) {
        Some(b"PE\0\0") => pe::identify(source, at.into()),
        Some([b'N', b'E', ..]) => found(FileKind::Ne, segmented(system)),
        Some([b'L', b'E', 0, 0]) => found(FileKind::Le, "linear program or driver (LE)"),
        Some([b'L', b'X', 0, 0]) => found(FileKind::Le, "OS/2 program (LX)"),
        _ => found(FileKind::Dos, "DOS program"),
    }
}

fn segmented(system: Option<u8>) -> &'static str {
    match system {
        Some(1) => "16-bit OS/2 program (NE)",
        Some(2) => "16-bit Windows program (NE)",
        Some(3) => "DOS 4 program (NE)",
        Some(4) => "Windows/386 program (NE)",
        _ => "16-bit program (NE)",
    }
}
