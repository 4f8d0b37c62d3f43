//! Packed relative relocations (DT_RELR; gABI, "Relative Relocation Table").
//! [`crate::elf::Loadable::packed_addresses`] reads those of an image.

/// Words that a bitmap stands for.
const BITS: u64 = 63;

/// The words of a table for addresses, which are multiples of 8, ascending and distinct.
///
/// An even word is an address; an odd one a bitmap of the 63 words behind what came before.
pub fn encode(addresses: &[u64]) -> Vec<u64> {
    let mut words = Vec::new();
    let mut addresses = addresses.iter().copied().peekable();
    while let Some(address) = addresses.next() {
        words.push(address);
        let mut base = address.wrapping_add(8);
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
            base = base.wrapping_add(BITS * 8);
        }
    }
    words
}

/// Which bit stands for an address in the bitmap that begins at `base`.
fn bit(base: u64, address: u64) -> Option<u64> {
    let distance = address.checked_sub(base)?;
    (distance % 8 == 0 && distance / 8 < BITS).then_some(distance / 8)
}

/// The addresses that words of a table stand for, in their order.
pub fn decode(words: &[u64]) -> Vec<u64> {
    // A bitmap has a bit of its own besides one for each address.
    let count =
        |word: &u64| if word.is_multiple_of(2) { 1 } else { word.count_ones() as usize - 1 };
    let mut addresses = Vec::with_capacity(words.iter().map(count).sum());
    addresses.extend(crate::elf::loadable::unpack(words.iter().copied()));
    addresses
}
