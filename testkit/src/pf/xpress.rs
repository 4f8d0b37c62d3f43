//! XPRESS with Huffman codes, compressed: *[MS-XCA]* 2.1.4, with codes that need no statistics.

use std::collections::HashMap;

const BLOCK: usize = 65_536;
const SYMBOLS: usize = 512;
const END: usize = 256;

/// Lengths of the prefix codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codes {
    /// 9 bits for all symbols.
    Even,
    /// 1 to 6 bits for six symbols that texts in UTF-16 have often, 14 and 15 for the others.
    Skewed,
}

impl Codes {
    fn lengths(self) -> [u8; SYMBOLS] {
        match self {
            Codes::Even => [9; SYMBOLS],
            Codes::Skewed => {
                let mut lengths = [15; SYMBOLS];
                let often =
                    [0, usize::from(b'E'), usize::from(b'S'), usize::from(b'\\'), 0x10c, 0x11d];
                for (length, symbol) in (1..).zip(often) {
                    lengths[symbol] = length;
                }
                // Six more at 14 bits: then all codes together fill the table exactly.
                lengths[SYMBOLS - 6..].fill(14);
                lengths
            }
        }
    }
}

/// `content`, compressed in blocks of 64 KiB.
pub fn compress(content: &[u8], codes: Codes) -> Vec<u8> {
    let lengths = codes.lengths();
    let codes = canonical(&lengths);
    let mut compressed = Vec::new();
    let mut last_seen = HashMap::new();
    for start in (0..content.len().max(1)).step_by(BLOCK) {
        let end = content.len().min(start + BLOCK);
        compressed.extend(lengths.chunks(2).map(|pair| pair[0] | (pair[1] << 4)));
        let mut words = Words::new(&mut compressed);
        let mut at = start;
        while at < end {
            let (length, distance) = longest(content, at, end, &mut last_seen);
            if length < 3 {
                words.code(codes[usize::from(content[at])]);
                at += 1;
            } else {
                words.copy(&codes, length - 3, distance);
                at += length;
            }
        }
        if end == content.len() {
            words.code(codes[END]);
        }
    }
    compressed
}

/// The match of three bytes or more that begins at the last place where these three were seen.
fn longest(
    content: &[u8],
    at: usize,
    end: usize,
    last_seen: &mut HashMap<[u8; 3], usize>,
) -> (usize, usize) {
    let Some(three) = content[at..end].first_chunk::<3>() else { return (0, 0) };
    let Some(from) = last_seen.insert(*three, at) else { return (0, 0) };
    let same = (at..end).take_while(|place| content[*place] == content[from + place - at]).count();
    if at - from < BLOCK { (same, at - from) } else { (0, 0) }
}

/// Code and length of each symbol, by length and then by symbol.
fn canonical(lengths: &[u8; SYMBOLS]) -> Vec<(u32, u32)> {
    let mut codes = vec![(0, 0); SYMBOLS];
    let mut next = 0;
    for length in 1..=15 {
        next <<= 1;
        for symbol in (0..SYMBOLS).filter(|symbol| u32::from(lengths[*symbol]) == length) {
            codes[symbol] = (next, length);
            next += 1;
        }
    }
    codes
}

/// Words where a reader will look for them, which reads two words ahead of the bytes between them.
struct Words<'a> {
    out: &'a mut Vec<u8>,
    places: Vec<usize>,
    bits: usize,
    extra: i32,
}

impl<'a> Words<'a> {
    fn new(out: &'a mut Vec<u8>) -> Words<'a> {
        let mut words = Words { out, places: Vec::new(), bits: 0, extra: 16 };
        words.reserve();
        words.reserve();
        words
    }

    fn reserve(&mut self) {
        self.places.push(self.out.len());
        self.out.extend([0, 0]);
    }

    fn code(&mut self, (value, count): (u32, u32)) {
        for bit in (0..count).rev() {
            let place = self.places[self.bits / 16];
            let within = 15 - self.bits % 16;
            let bit = ((value >> bit) & 1) as u8;
            self.out[place + within / 8] |= bit << (within % 8);
            self.bits += 1;
        }
        self.extra -= count as i32;
        if self.extra < 0 {
            self.reserve();
            self.extra += 16;
        }
    }

    /// A match; the length without the 3 that each has.
    fn copy(&mut self, codes: &[(u32, u32)], length: usize, distance: usize) {
        let width = distance.ilog2();
        self.code(codes[256 + ((width as usize) << 4) + length.min(15)]);
        match length {
            0..15 => {}
            15..270 => self.out.push((length - 15) as u8),
            _ => {
                self.out.push(u8::MAX);
                self.out.extend((length as u16).to_le_bytes());
            }
        }
        self.code((distance as u32 - (1 << width), width));
    }
}
