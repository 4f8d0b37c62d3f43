//! A set of small numbers.

/// A set of numbers below a limit.
#[derive(Clone)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// None of the numbers below `length`.
    pub(crate) fn new(length: usize) -> Bits {
        Bits(vec![0; length.div_ceil(64)])
    }

    pub(crate) fn get(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }

    pub(crate) fn set(&mut self, index: usize, on: bool) {
        let (word, bit) = (&mut self.0[index / 64], 1 << (index % 64));
        if on { *word |= bit } else { *word &= !bit }
    }
}
