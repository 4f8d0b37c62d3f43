//! DLLs that are hardly more than addresses: 51 KiB each, with 4,000 relocations.

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
    let mut file = vec![0; HEADERS as usize];
    let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
    let word = |number: u32| number.to_le_bytes();
    let (nt, optional, sections) = (0x80, 0x98, 0x188);
    put(0, b"MZ");
    put(0x3c, &word(nt as u32));
    put(nt, b"PE\0\0");
    put(nt + 4, &[0x64, 0x86, 2, 0]);
    put(nt + 8, &word(0x5000_0000 + index));
    put(nt + 20, &[240, 0, 0x22, 0x20]);
    put(optional, &[0x0b, 0x02]);
    put(optional + 24, &BASE.to_le_bytes());
    let size = RELOC + table_bytes.next_multiple_of(PAGE);
    let fields = [(32, PAGE), (36, 0x200), (56, size), (60, HEADERS), (68, 3), (108, 16)];
    for (at, value) in fields.into_iter().chain([(112 + 40, RELOC), (112 + 44, table_bytes)]) {
        put(optional + at, &word(value));
    }
    let data = [PAGES * PAGE, PAGE, PAGES * PAGE, HEADERS];
    let table = [table_bytes, RELOC, table_room, HEADERS + PAGES * PAGE];
    for (at, name, values) in [(0, &b".data"[..], data), (40, b".reloc", table)] {
        put(sections + at, name);
        for (index, value) in values.into_iter().enumerate() {
            put(sections + at + 8 + 4 * index, &word(value));
        }
        put(sections + at + 36, &word(0xc000_0040));
    }
    file
}
