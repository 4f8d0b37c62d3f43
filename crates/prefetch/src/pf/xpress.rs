//! XPRESS with Huffman codes (LZXPRESS Huffman), decompressed: *[MS-XCA]* 2.2.4.
//!
//! Blocks of 64 KiB of content. Each begins with the lengths of 512 prefix codes, 4 bits each: 256
//! bytes, and 256 matches by their length and the number of bits of their distance. Codes come in
//! 16-bit words, the first two of them ahead; longer lengths are bytes between the words.

const TABLE: usize = 256;
const SYMBOLS: usize = 512;
/// Of a prefix code.
const LONGEST: u32 = 15;
const BLOCK: usize = 65_536;
const NO_SYMBOL: u16 = u16::MAX;
const CUT_SHORT: &str = "it ends too early";

/// The first `size` bytes of the content.
///
/// Memory grows with what is decoded, not by the size that is asked for.
pub(super) fn decompress(compressed: &[u8], size: usize) -> Result<Vec<u8>, &'static str> {
    let mut content = Vec::new();
    let mut rest = compressed;
    while content.len() < size {
        let (table, coded) = rest.split_at_checked(TABLE).ok_or(CUT_SHORT)?;
        let codes = Codes::new(table)?;
        let mut bits = Bits::new(coded);
        let end = size.min(content.len() + BLOCK);
        while content.len() < end {
            symbol(&codes, &mut bits, &mut content)?;
        }
        rest = bits.rest;
    }
    // Only a damaged block has a match that goes on behind the content.
    content.truncate(size);
    Ok(content)
}

/// Decodes a byte or a match.
fn symbol(codes: &Codes, bits: &mut Bits, content: &mut Vec<u8>) -> Result<(), &'static str> {
    let symbol = codes.next(bits)?;
    let Some(symbol) = symbol.checked_sub(256) else {
        content.push(symbol as u8);
        return Ok(());
    };
    let length = match symbol & 15 {
        15 => long_length(bits)?,
        short => usize::from(short),
    };
    let width = u32::from(symbol >> 4);
    let distance = (1_usize << width) + bits.take(width)? as usize;
    let from = content.len().checked_sub(distance).ok_or("a match begins before the content")?;
    // The length is bounded by 32 bits only: what is behind the block is of no use.
    let length = (length + 3).min(BLOCK);
    for at in from..from + length {
        content.push(content[at]);
    }
    Ok(())
}

/// A length of 15 or more, without the 3 that each match has.
fn long_length(bits: &mut Bits) -> Result<usize, &'static str> {
    let byte = bits.bytes::<1>()?[0];
    if byte < u8::MAX {
        return Ok(usize::from(byte) + 15);
    }
    let length = match u16::from_le_bytes(bits.bytes()?) {
        0 => u32::from_le_bytes(bits.bytes()?) as usize,
        length => usize::from(length),
    };
    if length < 15 { Err("the length of a match is wrong") } else { Ok(length) }
}

/// The prefix codes of a block: for any 15 bits the symbol that they begin with.
struct Codes {
    symbols: Vec<u16>,
    lengths: [u8; SYMBOLS],
}

impl Codes {
    fn new(table: &[u8]) -> Result<Codes, &'static str> {
        let mut lengths = [0; SYMBOLS];
        for (pair, byte) in lengths.as_chunks_mut::<2>().0.iter_mut().zip(table) {
            *pair = [byte & 15, byte >> 4];
        }
        let mut symbols = Vec::with_capacity(1 << LONGEST);
        for length in 1..=LONGEST {
            let of_length = (0..).zip(&lengths).filter(|(_, own)| u32::from(**own) == length);
            for (symbol, _) in of_length {
                let end = symbols.len() + (1 << (LONGEST - length));
                if end > 1 << LONGEST {
                    return Err("its prefix codes overlap");
                }
                symbols.resize(end, symbol);
            }
        }
        // A block of one symbol only needs no second code.
        symbols.resize(1 << LONGEST, NO_SYMBOL);
        Ok(Codes { symbols, lengths })
    }

    fn next(&self, bits: &mut Bits) -> Result<u16, &'static str> {
        let symbol = self.symbols[(bits.buffer >> (32 - LONGEST)) as usize];
        let length = self.lengths.get(usize::from(symbol)).ok_or("a prefix code is not defined")?;
        bits.skip(u32::from(*length))?;
        Ok(symbol)
    }
}

/// Bits from the most significant of each word on, and bytes from between the words.
struct Bits<'a> {
    rest: &'a [u8],
    /// The next bits, from the upper end.
    buffer: u32,
    /// How many of them there are beyond 16.
    extra: i32,
    /// Words that the buffer has of zeros, because the input had none.
    missing: i32,
}

impl<'a> Bits<'a> {
    fn new(rest: &'a [u8]) -> Bits<'a> {
        let mut bits = Bits { rest, buffer: 0, extra: 16, missing: 0 };
        bits.buffer = bits.word() << 16;
        bits.buffer |= bits.word();
        bits
    }

    fn word(&mut self) -> u32 {
        match self.rest.split_first_chunk() {
            Some((word, rest)) => {
                self.rest = rest;
                u32::from(u16::from_le_bytes(*word))
            }
            None => {
                self.missing += 1;
                0
            }
        }
    }

    /// The next `count` bits, up to 15.
    fn take(&mut self, count: u32) -> Result<u32, &'static str> {
        let taken = if count == 0 { 0 } else { self.buffer >> (32 - count) };
        self.skip(count)?;
        Ok(taken)
    }

    fn skip(&mut self, count: u32) -> Result<(), &'static str> {
        self.buffer <<= count;
        self.extra -= count as i32;
        if self.extra < 0 {
            self.buffer |= self.word() << -self.extra;
            self.extra += 16;
        }
        // Zeros in the place of what is missing may be looked at, but not used.
        if self.extra + 16 < self.missing * 16 { Err(CUT_SHORT) } else { Ok(()) }
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], &'static str> {
        // They stand behind the words, so what is left is a part of a word.
        if self.missing > 0 {
            return Err(CUT_SHORT);
        }
        let (bytes, rest) = self.rest.split_first_chunk().ok_or(CUT_SHORT)?;
        self.rest = rest;
        Ok(*bytes)
    }
}
