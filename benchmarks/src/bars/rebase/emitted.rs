//! DLLs that are hardly more than addresses: 51 KiB each, with 4,000 relocations.

use image::pe::{DataDirectory, Headers, SectionHeader, spec};
use model::{FileOffset, Rva, Va};
use std::path::Path;

/// Relocations of each.
pub const RELOCATIONS: u32 = 4000;
const PAGES: u32 = 10;
const PER_PAGE: u32 = RELOCATIONS / PAGES;
const HEADERS: u32 = 0x400;
const PAGE: u32 = 0x1000;
const RELOC: u32 = PAGE * (PAGES + 1);
const BASE: u64 = 0x1_8000_0000;

/// Writes so many into a folder.
pub fn write(folder: &Path, count: u32) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    (0..count).try_for_each(|index| std::fs::write(folder.join(format!("{index}.dll")), dll(index)))
}

fn dll(index: u32) -> Vec<u8> {
    let table: Vec<u8> = (1..=PAGES).flat_map(block).collect();
    let table_bytes = table.len() as u32;
    let table_room = table_bytes.next_multiple_of(0x200);
    let mut file = headers(index, table_bytes, table_room);
    for at in 0..PAGES * PAGE / 8 {
        file.extend((BASE + u64::from(at)).to_le_bytes());
    }
    file.extend(table);
    file.resize((HEADERS + PAGES * PAGE + table_room) as usize, 0);
    file
}

/// Addresses in the first 3,200 bytes of a page.
fn block(page: u32) -> Vec<u8> {
    let mut block = (page * PAGE).to_le_bytes().to_vec();
    block.extend((8 + 2 * PER_PAGE).to_le_bytes());
    block.extend((0..PER_PAGE).flat_map(|at| (0xa000_u16 + 8 * at as u16).to_le_bytes()));
    block
}

fn headers(index: u32, table_bytes: u32, table_room: u32) -> Vec<u8> {
    let mut headers = Headers::new(spec::IMAGE_FILE_MACHINE_AMD64, true);
    headers.time_stamp = 0x5000_0000 + index;
    headers.characteristics |= spec::IMAGE_FILE_LARGE_ADDRESS_AWARE | spec::IMAGE_FILE_DLL;
    headers.base = Va(BASE);
    headers.image_bytes = RELOC + table_bytes.next_multiple_of(PAGE);
    headers.header_bytes = HEADERS;
    headers.directories[spec::BASERELOC] = DataDirectory { rva: Rva(RELOC), size: table_bytes };
    let section = |name, rva, memory_bytes, offset: u32, file_bytes| SectionHeader {
        name,
        rva: Rva(rva),
        memory_bytes,
        offset: FileOffset(offset.into()),
        file_bytes,
        flags: 0xc000_0040,
    };
    let data_bytes = PAGES * PAGE;
    headers.sections = vec![
        section(*b".data\0\0\0", PAGE, data_bytes, HEADERS, data_bytes),
        section(*b".reloc\0\0", RELOC, table_bytes, HEADERS + data_bytes, table_room),
    ];
    let mut file = headers.bytes();
    file.resize(HEADERS as usize, 0);
    file
}
