//! The headers of a PE file, and where addresses are in it.

use super::Unread;
use crate::identify::fields::Fields;
use crate::identify::source::Source;
use object::pe;

/// Bytes of the signature and the COFF header.
const FILE_HEADER: usize = 24;
/// Bytes of a section header.
const SECTION: usize = 40;
/// Windows reads sections from multiples of this, whatever the headers say.
const SECTOR: u64 = 512;
/// Images with less alignment are mapped in one piece.
const PAGE: u32 = 4096;

/// What identification needs of the headers.
pub(super) struct Headers {
    pub(super) machine: u16,
    characteristics: u16,
    pub(super) subsystem: u16,
    pub(super) is_64: bool,
    flat: bool,
    header_bytes: u32,
    /// Relative address and size.
    pub(super) directories: Vec<(u32, u32)>,
    sections: Vec<Section>,
}

struct Section {
    address: u32,
    memory_bytes: u32,
    file_bytes: u32,
    file_offset: u32,
}

/// A place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) offset: u64,
    /// From there to the end of what the file holds of the section; zeros follow.
    pub(super) bytes: u64,
}

impl Headers {
    /// The headers from the signature at `at` on.
    pub(super) fn read(source: &mut Source, at: u64) -> Result<Headers, Unread> {
        let file = Fields::little(source.get(at, FILE_HEADER)?);
        let [machine, count, optional, characteristics] =
            [4, 6, 20, 22].map(|field| file.u16(field).unwrap_or(0));
        let length = FILE_HEADER + usize::from(optional) + SECTION * usize::from(count);
        let bytes = source.get(at, length)?;
        let (head, sections) = bytes.split_at(FILE_HEADER + usize::from(optional));
        let head = Fields::little(&head[FILE_HEADER..]);
        let is_64 = head.u16(0) == Some(pe::IMAGE_NT_OPTIONAL_HDR64_MAGIC);
        let [directories, counted] = if is_64 { [112, 108] } else { [96, 92] };
        let counted = head.u32(counted).unwrap_or(0).min(16) as usize;
        let entries = (0..counted).map_while(|index| {
            let at = directories + 8 * index;
            Some((head.u32(at)?, head.u32(at + 4)?))
        });
        Ok(Headers {
            machine,
            characteristics,
            subsystem: head.u16(68).ok_or(Unread::Outside)?,
            is_64,
            flat: head.u32(32).is_some_and(|alignment| alignment < PAGE),
            header_bytes: head.u32(60).unwrap_or(0),
            directories: entries.collect(),
            sections: sections.chunks_exact(SECTION).filter_map(Section::read).collect(),
        })
    }

    pub(super) fn is_library(&self) -> bool {
        self.characteristics & pe::IMAGE_FILE_DLL.0 != 0
    }

    /// Where the file holds what is loaded at a relative address.
    pub(super) fn place(&self, address: u32) -> Option<Place> {
        let within = |section: &&Section| {
            let bytes = section.memory_bytes.max(section.file_bytes);
            (section.address..section.address.saturating_add(bytes)).contains(&address)
        };
        if let Some(section) = self.sections.iter().find(within) {
            let skipped = u64::from(address - section.address);
            let bytes =
                u64::from(section.file_bytes).checked_sub(skipped).filter(|&rest| rest > 0)?;
            let start = u64::from(section.file_offset);
            let start = if self.flat { start } else { start / SECTOR * SECTOR };
            return Some(Place { offset: start + skipped, bytes });
        }
        let bytes = self.header_bytes.checked_sub(address).filter(|&rest| rest > 0)?;
        Some(Place { offset: address.into(), bytes: bytes.into() })
    }
}

impl Section {
    fn read(bytes: &[u8]) -> Option<Section> {
        let fields = Fields::little(bytes);
        Some(Section {
            memory_bytes: fields.u32(8)?,
            address: fields.u32(12)?,
            file_bytes: fields.u32(16)?,
            file_offset: fields.u32(20)?,
        })
    }
}
