//! Packed relative relocations (DT_RELR; gABI, "Relative Relocation Table"): an even word is an
//! address, an odd one a bitmap of the 63 words behind what came before.

use model::Va;

/// Words that a bitmap stands for.
const BITS: u64 = 63;
/// Bytes of a word.
const WORD: u64 = 8;

/// The words of a table for addresses, which are multiples of 8, ascending and distinct.
pub fn encode(addresses: impl Iterator<Item = Va>) -> Vec<u64> {
    let mut words = Vec::new();
    let mut addresses = addresses.peekable();
    while let Some(address) = addresses.next() {
        words.push(address.0);
        let mut base = address.wrapping_add(WORD);
        loop {
            let mut bitmap = 0;
            while let Some(bit) = addresses.peek().and_then(|&next| bit(base, next)) {
                bitmap |= 1_u64 << bit;
                addresses.next();
            }
            if bitmap == 0 {
                break;
            }
            words.push(bitmap << 1 | 1);
            base = base.wrapping_add(BITS * WORD);
        }
    }
    words
}

/// Which bit stands for an address in the bitmap that begins at `base`.
fn bit(base: Va, address: Va) -> Option<u64> {
    let distance = address.since(base)?;
    (distance % WORD == 0 && distance / WORD < BITS).then_some(distance / WORD)
}

/// The addresses that words of a table stand for, in their order.
pub fn decode(words: impl Iterator<Item = u64>) -> impl Iterator<Item = Va> {
    let mut next = Va::ZERO;
    words.flat_map(move |word| {
        let (base, bits) = if word & 1 == 0 {
            next = Va(word).wrapping_add(WORD);
            (Va(word), 1)
        } else {
            let base = next;
            next = next.wrapping_add(BITS * WORD);
            (base, word >> 1)
        };
        let set = (0..BITS).filter(move |bit| bits >> bit & 1 == 1);
        set.map(move |bit| base.wrapping_add(bit * WORD))
    })
}
