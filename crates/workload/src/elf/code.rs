//! x86-64 instructions, written one after another.

use super::bytes::Bytes;

/// Where the next instruction goes.
pub(super) struct Code<'a> {
    pub(super) out: &'a mut Bytes,
    pub(super) at: u64,
}

impl Code<'_> {
    /// Whole instructions.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.out.put(self.at, bytes);
        self.at += bytes.len() as u64;
    }

    /// An instruction that ends with a 32-bit value.
    pub(super) fn value(&mut self, operation: &[u8], value: u32) {
        self.raw(operation);
        self.raw(&value.to_le_bytes());
    }

    /// An instruction that ends with the 32-bit distance from its end to `target`; images stay
    /// below 2 GiB.
    pub(super) fn distance(&mut self, operation: &[u8], target: u64) {
        self.raw(operation);
        let distance = target.wrapping_sub(self.at + 4) as u32;
        self.raw(&distance.to_le_bytes());
    }
}
