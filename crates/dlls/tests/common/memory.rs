//! An image laid out in memory as a loader does it, written from the format alone: headers, and
//! whole sectors of each section, in pages.

fn word(bytes: &[u8], at: usize) -> usize {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

fn half(bytes: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes(bytes[at..at + 2].try_into().unwrap()))
}

/// The memory of an image, without the fields that hold places in the file: `FileAlignment`,
/// `SizeOfHeaders`, `CheckSum`, sums of sizes, pointers of the sections, symbols and debug data.
pub fn memory(file: &[u8]) -> Vec<u8> {
    let nt = word(file, 60);
    let optional = nt + 24;
    let wide = half(file, optional) == 0x20b;
    let mut memory = vec![0; word(file, optional + 56)];
    let headers = word(file, optional + 60);
    memory[..headers].copy_from_slice(&file[..headers]);
    let (sections, table) = (half(file, nt + 6), optional + half(file, nt + 20));
    for header in (0..sections).map(|index| table + index * 40) {
        let (size, rva) = (word(file, header + 8), word(file, header + 12));
        let (raw, pointer) = (word(file, header + 16), word(file, header + 20));
        if raw != 0 && pointer != 0 {
            let start = pointer / 512 * 512;
            let size = if size == 0 { raw } else { size };
            let end = (pointer + raw).next_multiple_of(512).min(file.len());
            let bytes = (end - start).min(size.next_multiple_of(4096));
            memory[rva..rva + bytes].copy_from_slice(&file[start..start + bytes]);
        }
        memory[header + 16..header + 36].fill(0);
    }
    let debug = optional + if wide { 112 } else { 96 } + 6 * 8;
    let (debug, size) = (word(file, debug), word(file, debug + 4));
    for entry in (0..size / 28).map(|index| debug + index * 28) {
        memory[entry + 24..entry + 28].fill(0);
    }
    // PointerToSymbolTable, SizeOfCode, SizeOfInitializedData, FileAlignment, SizeOfHeaders, CheckSum.
    for at in [nt + 12, optional + 4, optional + 8, optional + 36, optional + 60, optional + 64] {
        memory[at..at + 4].fill(0);
    }
    memory
}
