//! A loader: sections put into memory, relocations applied one after the other.

/// Memory of an image that is loaded so far from its preferred base.
pub fn memory(file: &[u8], distance: i64) -> Vec<u8> {
    let nt = read(file, 0x3c, 4) as usize;
    let optional = nt + 24;
    let wide = read(file, optional, 2) == 0x20b;
    let mut memory = vec![0; read(file, optional + 56, 4) as usize];
    let headers = read(file, optional + 60, 4) as usize;
    memory[..headers].copy_from_slice(&file[..headers]);
    let mut at = optional + read(file, nt + 20, 2) as usize;
    for _ in 0..read(file, nt + 6, 2) {
        let [rva, bytes, offset] = [12, 16, 20].map(|field| read(file, at + field, 4) as usize);
        memory[rva..rva + bytes].copy_from_slice(&file[offset..offset + bytes]);
        at += 40;
    }
    let directory = optional + if wide { 112 } else { 96 } + 5 * 8;
    let (mut at, bytes) = (read(file, directory, 4), read(file, directory + 4, 4));
    let end = at + bytes;
    while at < end {
        let (page, size) = (read(&memory, at as usize, 4), read(&memory, at as usize + 4, 4));
        if size == 0 {
            break;
        }
        let mut entry = at + 8;
        while entry < at + size {
            entry += 2 * relocate(&mut memory, page, entry, distance);
        }
        at += size;
    }
    memory
}

/// Applies one relocation. Gives the entries that it takes.
fn relocate(memory: &mut [u8], page: u64, entry: u64, distance: i64) -> u64 {
    let word = read(memory, entry as usize, 2);
    let at = (page + (word & 0xfff)) as usize;
    match word >> 12 {
        0 => {}
        1 => {
            let whole = (read(memory, at, 2) << 16).wrapping_add_signed(distance);
            write(memory, at, whole >> 16, 2);
        }
        2 => write(memory, at, read(memory, at, 2).wrapping_add_signed(distance), 2),
        3 => write(memory, at, read(memory, at, 4).wrapping_add_signed(distance), 4),
        4 => {
            let low = read(memory, entry as usize + 2, 2) as u16 as i16;
            let whole = (read(memory, at, 2) << 16).wrapping_add_signed(low.into());
            write(memory, at, whole.wrapping_add_signed(distance).wrapping_add(0x8000) >> 16, 2);
            return 2;
        }
        5 => {
            let halves = [0, 4].map(|behind| {
                let word = read(memory, at + behind, 4);
                (word >> 16 & 15) << 12 | word & 0xfff
            });
            let address = (halves[1] << 16 | halves[0]).wrapping_add_signed(distance);
            for (behind, half) in [(0, address), (4, address >> 16)] {
                let rest = read(memory, at + behind, 4) & !0x000f_0fff;
                let half = (half >> 12 & 15) << 16 | half & 0xfff;
                write(memory, at + behind, rest | half, 4);
            }
        }
        7 => {
            let halves = [0, 4].map(|behind| {
                let (one, two) = (read(memory, at + behind, 2), read(memory, at + behind + 2, 2));
                (one & 15) << 12 | (one >> 10 & 1) << 11 | (two >> 12 & 7) << 8 | two & 0xff
            });
            let address = (halves[1] << 16 | halves[0]).wrapping_add_signed(distance);
            for (behind, half) in [(0, address), (4, address >> 16)] {
                let one = read(memory, at + behind, 2) & !0x40f;
                let two = read(memory, at + behind + 2, 2) & !0x70ff;
                let one = one | half >> 12 & 15 | (half >> 11 & 1) << 10;
                write(memory, at + behind, one, 2);
                write(memory, at + behind + 2, two | (half >> 8 & 7) << 12 | half & 0xff, 2);
            }
        }
        10 => write(memory, at, read(memory, at, 8).wrapping_add_signed(distance), 8),
        kind => panic!("type {kind}"),
    }
    1
}

pub fn read(bytes: &[u8], at: usize, size: usize) -> u64 {
    bytes[at..at + size].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn write(bytes: &mut [u8], at: usize, value: u64, size: usize) {
    bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
}
